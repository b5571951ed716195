"""Writes expressions down as LLVM's intermediate representation, in its text form.

``and``, ``or`` and ``if`` are branches, so that what Python would not compute is not computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rebalance_check.model.checker.compiler.folding import WORD
from rebalance_check.model.checker.compiler.tree import (
    Address,
    Binary,
    Both,
    Call,
    Checked,
    Choose,
    Compare,
    Comparison,
    Constant,
    Convert,
    Either,
    Expression,
    Function,
    Load,
    Local,
    Not,
    Operator,
    Pointer,
)
from rebalance_check.model.checker.compiler.types import Cell, Number

REGISTER: Final[Mapping[Number, str]] = {Number.TRUTH: "i1", Number.INT: "i64", Number.BITS: "i64"}
MEMORY: Final[Mapping[Cell, str]] = {
    Cell.U8: "i8", Cell.U32: "i32", Cell.I32: "i32", Cell.I64: "i64", Cell.U64: "i64",
}  # fmt: skip

SIMPLE: Final[Mapping[Operator, str]] = {
    Operator.ADD: "add",
    Operator.SUB: "sub",
    Operator.MUL: "mul",
    Operator.AND: "and",
    Operator.OR: "or",
    Operator.XOR: "xor",
}
"""The operations that are one instruction for both types of numbers."""

SIGNED: Final[Mapping[Comparison, str]] = {
    Comparison.EQ: "eq",
    Comparison.NE: "ne",
    Comparison.LT: "slt",
    Comparison.LE: "sle",
    Comparison.GT: "sgt",
    Comparison.GE: "sge",
}


class ExpressionWriter:
    """Writes the expressions of the function that has the number ``at``, as lines of instructions."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.lines: list[str] = []
        self.slots: dict[str, str] = {}
        self.count = 0
        self.is_open = True

    # -------------------------------------------------------------------------------------------- lines

    def line(self, text: str) -> None:
        """An instruction."""
        self.lines.append(f"  {text}")

    def let(self, text: str) -> str:
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

    def begin(self, label: str) -> None:
        """A block begins here; what came before falls into it."""
        self.go(label)
        self.lines.append(f"{label}:")
        self.is_open = True

    def begin_at(self, label: str) -> None:
        """A block that only jumps lead to."""
        self.lines.append(f"{label}:")
        self.is_open = True

    def condition(self, node: Expression, then: str, other: str) -> None:
        """Jump to one of two labels."""
        match node:
            case Not():
                self.condition(node.value, other, then)
            case Both():
                middle = self.label()
                self.condition(node.left, middle, other)
                self.begin_at(middle)
                self.condition(node.right, then, other)
            case Either():
                middle = self.label()
                self.condition(node.left, then, middle)
                self.begin_at(middle)
                self.condition(node.right, then, other)
            case _:
                self.line(f"br i1 {self.number(node)}, label %{then}, label %{other}")
                self.is_open = False

    # -------------------------------------------------------------------------------------------- expressions

    def number(self, node: Expression) -> str:
        """The operand that has the value of an expression."""
        match node:
            case Constant():
                return written(node)
            case Local():
                return self.local(node)
            case Load():
                return self.load(node)
            case Binary():
                return self.binary(node)
            case Compare():
                return self.compare(node)
            case Both() | Either() | Not():
                return self.truth(node)
            case Choose():
                return self.choose(node)
            case Convert():
                return self.convert(node)
            case Checked():
                return self.checked(node.at, node.length)
            case Call():
                return self.let(self.call(node.function, node.arguments))

    def local(self, node: Local) -> str:
        """A variable is loaded, a parameter that never changes is itself."""
        if node.name in self.slots:
            return self.let(f"load {REGISTER[node.type]}, ptr {self.slots[node.name]}")
        return quoted(node.name)

    def load(self, node: Load) -> str:
        """A cell as a number of 64 bits."""
        kind = MEMORY[node.cell]
        value = self.let(f"load {kind}, ptr {self.address(node.address)}")
        if kind == "i64":
            return value
        return self.let(f"{'sext' if node.cell is Cell.I32 else 'zext'} {kind} {value} to i64")

    def address(self, node: Address) -> str:
        """A pointer, each index checked."""
        base = quoted(node.base.name) if isinstance(node.base, Pointer) else f"@t.{node.base.name}"
        for item in node.items:
            at = self.number(item.at) if item.length is None else self.checked(item.at, item.length)
            beyond = self.let(f"mul nsw i64 {at}, {item.stride}") if item.stride != 1 else at
            base = self.let(f"getelementptr inbounds i8, ptr {base}, i64 {beyond}")
        return self.let(f"getelementptr inbounds i8, ptr {base}, i64 {node.offset}") if node.offset else base

    def checked(self, at: Expression, length: Expression) -> str:
        """An index, 0 where there is no such item."""
        return self.let(f"call i64 @checked(i64 {self.number(at)}, i64 {self.number(length)}, i32 {self.at})")

    def binary(self, node: Binary) -> str:
        """An operation, as Python does it."""
        left, right = self.number(node.left), self.number(node.right)
        if node.operator in SIMPLE:
            return self.let(f"{SIMPLE[node.operator]} i64 {left}, {right}")
        if node.operator in {Operator.LEFT, Operator.RIGHT}:
            return self.shift(node, left, right)
        return self.divide(node, left, right)

    def shift(self, node: Binary, left: str, right: str) -> str:
        """A shift by more than the bits that there are leaves none, or the sign."""
        is_left = node.operator is Operator.LEFT
        is_known = isinstance(node.right, Constant) and 0 <= node.right.value < WORD
        if not is_known and node.type is Number.INT:
            right = self.let(f"call i64 @amount(i64 {right}, i32 {self.at})")
        if node.type is Number.INT and not is_left:
            by = right if is_known else self.let(f"call i64 @llvm.umin.i64(i64 {right}, i64 {WORD - 1})")
            return self.let(f"ashr i64 {left}, {by}")
        kind = "shl" if is_left else "lshr"
        if is_known:
            return self.let(f"{kind} i64 {left}, {right}")
        shifted = self.let(f"{kind} i64 {left}, {self.let(f'and i64 {right}, {WORD - 1}')}")
        return self.let(f"select i1 {self.let(f'icmp ult i64 {right}, {WORD}')}, i64 {shifted}, i64 0")

    def divide(self, node: Binary, left: str, right: str) -> str:
        """Division and remainder round down; bits have no sign."""
        if not (isinstance(node.right, Constant) and node.right.value):
            right = self.let(f"call i64 @divisor(i64 {right}, i32 {self.at})")
        is_division = node.operator is Operator.DIV
        if node.type is Number.BITS:
            return self.let(f"{'udiv' if is_division else 'urem'} i64 {left}, {right}")
        return self.let(f"call i64 @floor_{'div' if is_division else 'mod'}(i64 {left}, i64 {right})")

    def compare(self, node: Compare) -> str:
        """A comparison, with the sign or without."""
        left, right, kind = self.number(node.left), self.number(node.right), SIGNED[node.comparison]
        if node.left.type is not Number.INT:
            kind = kind.replace("s", "u")
        return self.let(f"icmp {kind} {REGISTER[node.left.type]} {left}, {right}")

    def truth(self, node: Both | Either | Not) -> str:
        """A condition as a value."""
        if isinstance(node, Not):
            return self.let(f"xor i1 {self.number(node.value)}, true")
        return self.choose_between(node, "true", "false")

    def choose_between(self, test: Expression, then: str, other: str) -> str:
        """One of two operands that are known."""
        yes, no, behind = self.label(), self.label(), self.label()
        self.condition(test, yes, no)
        self.begin_at(yes)
        self.go(behind)
        self.begin_at(no)
        self.go(behind)
        self.begin_at(behind)
        return self.let(f"phi i1 [{then}, %{yes}], [{other}, %{no}]")

    def choose(self, node: Choose) -> str:
        """Only the value that counts is computed."""
        kind = REGISTER[node.type]
        slot = f"%s{self.count}.{len(self.lines)}"
        self.lines.insert(0, f"  {slot} = alloca {kind}")
        yes, no, behind = self.label(), self.label(), self.label()
        self.condition(node.test, yes, no)
        for label, value in ((yes, node.then), (no, node.other)):
            self.begin_at(label)
            self.line(f"store {kind} {self.number(value)}, ptr {slot}")
            self.go(behind)
        self.begin_at(behind)
        return self.let(f"load {kind}, ptr {slot}")

    def convert(self, node: Convert) -> str:
        """A truth value is widened; a number and its bits are the same in a register."""
        value = self.number(node.value)
        return self.let(f"zext i1 {value} to i64") if node.value.type is Number.TRUTH else value

    def call(self, function: Function, arguments: Sequence[Expression | Address]) -> str:
        """The text of a call."""
        given = [
            f"ptr {self.address(each)}" if isinstance(each, Address) else f"{REGISTER[each.type]} {self.number(each)}"
            for each in arguments
        ]
        result = REGISTER[function.results[0]] if len(function.results) == 1 else "void"
        return f"call {result} @{function.name}({', '.join(given)})"


def quoted(name: str) -> str:
    """A parameter as an operand."""
    return f"%p.{name}"


def written(node: Constant) -> str:
    """A constant as an operand."""
    if node.type is Number.TRUTH:
        return "true" if node.value else "false"
    return str(node.value)
