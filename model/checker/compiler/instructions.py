"""Writes LLVM's instructions for numbers and places in memory, and folds known values.

Numbers are computed as Python computes them, wrapped to 64 bits. A refusal of Python's (an index beyond its list, to
divide by 0, to shift by less than nothing) is noticed when it happens (`runtime`).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from rebalance_check.model.checker.compiler.subset import Operand, Place, Slot
from rebalance_check.model.checker.compiler.types import Array, Cell, Number, Record
from rebalance_check.model.checker.layout import empty_number

WORD: Final = 64
"""The bits of a number."""

REGISTER: Final[Mapping[Number, str]] = {Number.TRUTH: "i1", Number.INT: "i64", Number.BITS: "i64"}
MEMORY: Final[Mapping[Cell, str]] = {
    Cell.U8: "i8", Cell.U32: "i32", Cell.I32: "i32", Cell.I64: "i64", Cell.U64: "i64",
}  # fmt: skip


class Operation(NamedTuple):
    """An operation on two numbers of one type: how it is computed, and its instruction where there is one; with the
    right operand ``neutral`` it changes nothing."""

    computed: Callable[[int, int], int]
    instruction: str = ""
    neutral: int | None = None


OPERATIONS: Final[Mapping[type[ast.operator], Operation]] = {
    ast.Add: Operation(operator.add, "add", 0),
    ast.Sub: Operation(operator.sub, "sub", 0),
    ast.Mult: Operation(operator.mul, "mul", 1),
    ast.BitAnd: Operation(operator.and_, "and"),
    ast.BitOr: Operation(operator.or_, "or", 0),
    ast.BitXor: Operation(operator.xor, "xor", 0),
    ast.FloorDiv: Operation(operator.floordiv, neutral=1),
    ast.Mod: Operation(operator.mod),
    ast.LShift: Operation(operator.lshift, neutral=0),
    ast.RShift: Operation(operator.rshift, neutral=0),
}

COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[Callable[[Any, Any], bool], str]]] = {
    ast.Eq: (operator.eq, "eq"), ast.NotEq: (operator.ne, "ne"), ast.Lt: (operator.lt, "slt"),
    ast.LtE: (operator.le, "sle"), ast.Gt: (operator.gt, "sgt"), ast.GtE: (operator.ge, "sge"),
}  # fmt: skip
"""How numbers are compared, and the condition of the instruction for those with a sign."""


def constant(kind: Number, value: int) -> Operand:
    """A number that is known, cut to 64 bits as registers cut it."""
    if kind is Number.TRUTH:
        return Operand(kind, "true" if value else "false", int(bool(value)))
    cut = value & ((1 << WORD) - 1)
    if kind is Number.INT and cut >> (WORD - 1):
        cut -= 1 << WORD
    return Operand(kind, str(cut), cut)


def integer(value: int) -> Operand:
    """A number that is known."""
    return constant(Number.INT, value)


def truth_of(value: bool) -> Operand:
    """A truth value that is known."""
    return constant(Number.TRUTH, value)


class Mark(NamedTuple):
    """A point between two instructions, and the writes to memory until there."""

    lines: int
    here: str
    writes: int


class InstructionWriter:
    """Writes the instructions of one function: ``slots`` go to its beginning, and ``lines`` follow.

    ``here`` is the label of the present block, which ``is_open`` until it jumps. ``writes`` counts memory changes.
    """

    def __init__(self) -> None:
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = self.writes = 0
        self.here, self.is_open = "entry", True

    # -------------------------------------------------------------------------------------------- lines

    def line(self, text: str) -> None:
        """An instruction."""
        self.lines.append(f"  {text}")

    def let(self, kind: Number, text: str) -> Operand:
        """An instruction whose result is a number."""
        return Operand(kind, self.named(text))

    def named(self, text: str) -> str:
        """An instruction with a result; its name."""
        self.count += 1
        self.line(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def label(self) -> str:
        """The name of a new label."""
        self.count += 1
        return f"b{self.count}"

    def go(self, label: str) -> None:
        """Jump, unless the block has ended."""
        if self.is_open:
            self.line(f"br label %{label}")
        self.is_open = False

    def branch(self, test: Operand, then: str, other: str) -> None:
        """Jump to one of two labels."""
        self.line(f"br i1 {test.text}, label %{then}, label %{other}")
        self.is_open = False

    def begin(self, label: str) -> None:
        """A block begins here; the code before falls into it."""
        self.go(label)
        self.lines.append(f"{label}:")
        self.here, self.is_open = label, True

    def mark(self) -> Mark:
        """This point, which can be gone back to with `undo`."""
        return Mark(len(self.lines), self.here, self.writes)

    def undo(self, mark: Mark) -> None:
        """Take back the instructions behind a point."""
        del self.lines[mark.lines :]
        self.here, self.writes, self.is_open = mark.here, mark.writes, True

    def slot(self, name: str, kind: Number, first: str = "") -> Slot:
        """A variable with its first value, 0 unless another is given."""
        self.count += 1
        pointer, first = f"%{name}.{self.count}", first or constant(kind, 0).text
        self.slots += [f"  {pointer} = alloca {REGISTER[kind]}", f"  store {REGISTER[kind]} {first}, ptr {pointer}"]
        return Slot(kind, pointer)

    # -------------------------------------------------------------------------------------------- memory

    def address(self, place: Place, further: int = 0) -> str:
        """A pointer to a place, or so many bytes behind it."""
        offset = place.offset + further
        return self.named(f"getelementptr inbounds i8, ptr {place.pointer}, i64 {offset}") if offset else place.pointer

    def load(self, place: Place, cell: Cell) -> Operand:
        """A cell as a number of 64 bits."""
        kind = MEMORY[cell]
        value = self.let(cell.number, f"load {kind}, ptr {self.address(place)}")
        if kind == "i64":
            return value
        return self.let(cell.number, f"{'sext' if cell is Cell.I32 else 'zext'} {kind} {value.text} to i64")

    def store(self, place: Place, cell: Cell, value: Operand, further: int = 0) -> None:
        """A value is cut to the size of its cell."""
        kind, text = MEMORY[cell], self.convert(value, cell.number).text
        if kind != "i64":
            text = self.named(f"trunc i64 {text} to {kind}")
        self.line(f"store {kind} {text}, ptr {self.address(place, further)}")
        self.writes += 1

    def empty(self, place: Place, kind: Record | Array | Cell, at: int = 0, reads: int = 0) -> None:
        """Empty the record, array or cell so many bytes behind a place."""
        if isinstance(kind, Cell):
            self.store(place, kind, integer(reads), at)
        elif isinstance(kind, Array):
            for number in range(kind.length or 0):
                self.empty(place, kind.item, at + number * kind.stride, reads)
        else:
            for name, field in kind.layout.FIELDS.items():
                if name in kind.places:
                    offset, inner = kind.places[name]
                    self.empty(place, inner, at + offset, empty_number(field.kind))

    def item(self, array: Place, kind: Array, at: Operand) -> Place:
        """One item of an array; an index that is not known is checked where it is computed."""
        assert array.length is not None, "an array has a length"
        length = array.length
        if at.known is not None and length.known is not None and 0 <= at.known < length.known:
            return placed(array.pointer, kind.item, array.offset + at.known * kind.stride)
        sure = self.named(f"call i64 @checked(i64 {at.text}, i64 {length.text}, i32 FAULT)")
        beyond = self.named(f"mul nsw i64 {sure}, {kind.stride}") if kind.stride != 1 else sure
        pointer = self.named(f"getelementptr inbounds i8, ptr {array.pointer}, i64 {beyond}")
        return placed(pointer, kind.item, array.offset)

    # -------------------------------------------------------------------------------------------- numbers

    def convert(self, value: Operand, kind: Number) -> Operand:
        """A value as one of another type: a truth value is 0 or 1, and bits are a number with a sign."""
        if value.type is kind:
            return value
        if kind is Number.TRUTH:
            return self.compare(ast.NotEq, value, constant(value.type, 0))
        if value.known is not None:
            return constant(kind, value.known)
        return (
            self.let(kind, f"zext i1 {value.text} to i64") if value.type is Number.TRUTH else value._replace(type=kind)
        )

    def compare(self, comparison: type[ast.cmpop], left: Operand, right: Operand) -> Operand:
        """A comparison of two numbers of one type, with the sign or without."""
        holds, condition = COMPARISONS[comparison]
        if left.known is not None and right.known is not None:
            return truth_of(holds(left.known, right.known))
        if left.type is not Number.INT:
            condition = condition.replace("s", "u")
        return self.let(Number.TRUTH, f"icmp {condition} {REGISTER[left.type]} {left.text}, {right.text}")

    def compute(self, kind: type[ast.operator], left: Operand, right: Operand) -> Operand:
        """An operation on two numbers of one type, as Python does it."""
        operation = OPERATIONS[kind]
        if right.known is not None:
            if left.known is not None and is_allowed(kind, right.known):
                return constant(left.type, operation.computed(left.known, right.known))
            if operation.neutral == right.known:
                return left
        if operation.instruction:
            return self.let(left.type, f"{operation.instruction} i64 {left.text}, {right.text}")
        return self.shift(kind, left, right) if kind in {ast.LShift, ast.RShift} else self.divide(kind, left, right)

    def shift(self, kind: type[ast.operator], left: Operand, right: Operand) -> Operand:
        """A shift by more than the bits that there are leaves none, or the sign."""
        is_left, number, by = kind is ast.LShift, left.type, right.text
        is_known = right.known is not None and 0 <= right.known < WORD
        if not is_known and number is Number.INT:
            by = self.named(f"call i64 @amount(i64 {by}, i32 FAULT)")
        if number is Number.INT and not is_left:
            by = by if is_known else self.named(f"call i64 @llvm.umin.i64(i64 {by}, i64 {WORD - 1})")
            return self.let(number, f"ashr i64 {left.text}, {by}")
        name = "shl" if is_left else "lshr"
        if is_known:
            return self.let(number, f"{name} i64 {left.text}, {by}")
        shifted = self.named(f"{name} i64 {left.text}, {self.named(f'and i64 {by}, {WORD - 1}')}")
        return self.let(number, f"select i1 {self.named(f'icmp ult i64 {by}, {WORD}')}, i64 {shifted}, i64 0")

    def divide(self, kind: type[ast.operator], left: Operand, right: Operand) -> Operand:
        """Division and remainder round down; bits have no sign."""
        by, is_division = right.text, kind is ast.FloorDiv
        if not right.known:
            by = self.named(f"call i64 @divisor(i64 {by}, i32 FAULT)")
        if left.type is Number.BITS:
            return self.let(left.type, f"{'udiv' if is_division else 'urem'} i64 {left.text}, {by}")
        return self.let(left.type, f"call i64 @floor_{'div' if is_division else 'mod'}(i64 {left.text}, i64 {by})")


def placed(pointer: str, kind: Cell | Record | Array, offset: int) -> Place:
    """Something in memory; an array has the length that its type says."""
    return Place(pointer, kind, offset, integer(kind.length or 0) if isinstance(kind, Array) else None)


def is_allowed(kind: type[ast.operator], right: int) -> bool:
    """Whether Python computes an operation with this right operand."""
    if kind in {ast.FloorDiv, ast.Mod}:
        return right != 0
    return kind not in {ast.LShift, ast.RShift} or 0 <= right <= WORD
