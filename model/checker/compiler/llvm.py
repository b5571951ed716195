"""Writes functions down as LLVM's intermediate representation, in its text form.

Variables are memory on the stack, which LLVM turns into registers; ``and``, ``or`` and ``if`` are branches. Two things
that Python would refuse are noticed instead of done: an index beyond its array becomes 0, and a divisor of 0 becomes 1,
and the number of the function stands in ``@fault`` then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rebalance_check.model.checker.compiler.tree import (
    Address,
    Assign,
    Binary,
    Both,
    Break,
    Call,
    Checked,
    Choose,
    Compare,
    Comparison,
    Constant,
    Continue,
    Convert,
    CopyRecord,
    Do,
    Either,
    Expression,
    Fault,
    Function,
    If,
    Load,
    Local,
    Loop,
    Not,
    Operator,
    Parameter,
    Pointer,
    Return,
    Statement,
    Store,
    While,
    length_of,
)
from rebalance_check.model.checker.compiler.types import Array, Cell, Number

HASHES: Final = Array(Cell.U64, Cell.U64.bytes, None)
NUMBERS: Final = Array(Cell.I64, Cell.I64.bytes, None)

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

RUNTIME: Final = """\
@fault = global i32 0
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
define internal i64 @checked(i64 %at, i64 %length, i32 %where) alwaysinline nounwind {
  %is_inside = icmp ult i64 %at, %length
  br i1 %is_inside, label %inside, label %beyond, !prof !0
beyond:
  store i32 %where, ptr @fault
  br label %inside
inside:
  %sure = phi i64 [%at, %0], [0, %beyond]
  ret i64 %sure
}
define internal i64 @divisor(i64 %by, i32 %where) alwaysinline nounwind {
  %is_none = icmp eq i64 %by, 0
  br i1 %is_none, label %none, label %some, !prof !1
none:
  store i32 %where, ptr @fault
  br label %some
some:
  %sure = phi i64 [%by, %0], [1, %none]
  ret i64 %sure
}
define internal i64 @floor_div(i64 %a, i64 %b) alwaysinline nounwind {
  %q = sdiv i64 %a, %b
  %r = srem i64 %a, %b
  %is_rest = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %is_other = icmp slt i64 %signs, 0
  %is_less = and i1 %is_rest, %is_other
  %less = sext i1 %is_less to i64
  %floor = add i64 %q, %less
  ret i64 %floor
}
define internal i64 @floor_mod(i64 %a, i64 %b) alwaysinline nounwind {
  %r = srem i64 %a, %b
  %is_rest = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %is_other = icmp slt i64 %signs, 0
  %is_less = and i1 %is_rest, %is_other
  %more = select i1 %is_less, i64 %b, i64 0
  %modulo = add i64 %r, %more
  ret i64 %modulo
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i32 @sched_yield()
define internal void @prefetch(ptr %table, i64 %length, i64 %at) alwaysinline nounwind {
  %slot = getelementptr inbounds i64, ptr %table, i64 %at
  call void @llvm.prefetch.p0(ptr %slot, i32 1, i32 3, i32 1)
  ret void
}
define internal void @meet(ptr %shared, i64 %length, i64 %workers) noinline nounwind {
  %is_alone = icmp eq i64 %workers, 1
  br i1 %is_alone, label %done, label %arrive
arrive:
  %turn = getelementptr inbounds i64, ptr %shared, i64 8
  %mine = load atomic i64, ptr %turn acquire, align 8
  %before = atomicrmw add ptr %shared, i64 1 acq_rel
  %here = add i64 %before, 1
  %is_last = icmp eq i64 %here, %workers
  br i1 %is_last, label %open, label %wait
open:
  store atomic i64 0, ptr %shared monotonic, align 8
  %next = add i64 %mine, 1
  store atomic i64 %next, ptr %turn release, align 8
  ret void
wait:
  %tried = phi i64 [0, %arrive], [%again, %spin], [0, %rest]
  %now = load atomic i64, ptr %turn acquire, align 8
  %is_open = icmp ne i64 %now, %mine
  br i1 %is_open, label %done, label %spin
spin:
  %again = add i64 %tried, 1
  %is_long = icmp eq i64 %again, 2000
  br i1 %is_long, label %rest, label %wait
rest:
  %ignored = call i32 @sched_yield()
  br label %wait
done:
  ret void
}
!0 = !{!"branch_weights", i32 1000000, i32 1}
!1 = !{!"branch_weights", i32 1, i32 1000000}
"""
"""What every program has: the place of a fault, checked indices and divisors, and Python's division."""


PROVIDED: Final = (
    Function("prefetch", (Parameter("table", HASHES), Parameter("at", Number.INT)), (), body=(), is_pure=False),
    Function("meet", (Parameter("shared", NUMBERS), Parameter("workers", Number.INT)), (), body=(), is_pure=False),
)
"""The functions of `RUNTIME` that a program may call."""


def module(functions: Iterable[Function], tables: Mapping[str, Sequence[int]], exports: Iterable[str]) -> str:
    """The text of a program: its tables, and its functions, of which ``exports`` can be called from outside.

    Functions must be whole; each stands in ``@fault`` with its place in ``functions``, from 1.
    """
    public = set(exports)
    return "\n".join(
        [
            RUNTIME,
            *(_table(name, values) for name, values in tables.items()),
            *(FunctionWriter(one, at, one.name in public).text() for at, one in enumerate(functions, 1)),
        ]
    )


def _table(name: str, values: Sequence[int]) -> str:
    written = ", ".join(f"i32 {value}" for value in values or (0,))
    return f"@t.{name} = internal unnamed_addr constant [{max(len(values), 1)} x i32] [{written}]"


class FunctionWriter:
    """Writes one function, which has the number ``at``."""

    def __init__(self, function: Function, at: int, is_public: bool) -> None:
        self.function, self.at, self.is_public = function, at, is_public
        self.lines: list[str] = []
        self.slots: dict[str, str] = {}
        self.count = 0
        self.loops: list[tuple[str, str]] = []
        self.is_open = True

    # -------------------------------------------------------------------------------------------- the function

    def text(self) -> str:
        """The definition."""
        result = REGISTER[self.function.results[0]] if len(self.function.results) == 1 else "void"
        head = f"define {'' if self.is_public else 'internal '}{result} @{self.function.name}({self.parameters()})"
        self.variables()
        self.block(self.function.body or ())
        if self.is_open:
            self.line("ret void" if result == "void" else "unreachable")
        return "\n".join([f"{head} nounwind {{", *self.lines, "}", ""])

    def parameters(self) -> str:
        """The parameters; what they point to comes with its length where its type does not say it."""
        made = []
        for parameter in self.function.parameters:
            if isinstance(parameter.type, Number):
                made.append(f"{REGISTER[parameter.type]} {quoted(parameter.name)}")
                continue
            made.append(f"ptr noundef nonnull {quoted(parameter.name)}")
            if isinstance(parameter.type, Array) and parameter.type.length is None:
                made.append(f"i64 {quoted(length_of(parameter.name))}")
        if len(self.function.results) > 1:
            made.append("ptr noundef nonnull %results")
        return ", ".join(made)

    def variables(self) -> None:
        """A slot for each variable, 0 at first, and for each parameter that is assigned."""
        changed = set(assigned_in(self.function.body or ()))
        for name, kind in self.function.locals.items():
            self.slot(name, kind, "false" if kind is Number.TRUTH else "0")
        for parameter in self.function.parameters:
            if parameter.name in changed and isinstance(parameter.type, Number):
                self.slot(parameter.name, parameter.type, quoted(parameter.name))

    def slot(self, name: str, kind: Number, first: str) -> None:
        """A place on the stack with its first value."""
        self.slots[name] = self.let(f"alloca {REGISTER[kind]}")
        self.line(f"store {REGISTER[kind]} {first}, ptr {self.slots[name]}")

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

    # -------------------------------------------------------------------------------------------- statements

    def block(self, statements: Sequence[Statement]) -> None:
        """Statements, until one ends the block."""
        for each in statements:
            if self.is_open:
                self.statement(each)

    def statement(self, node: Statement) -> None:
        """One statement."""
        match node:
            case Assign():
                value = self.number(node.value)
                self.line(f"store {REGISTER[node.value.type]} {value}, ptr {self.slots[node.name]}")
            case Store():
                self.store(node)
            case CopyRecord():
                to, of = self.address(node.to), self.address(node.of)
                self.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {node.bytes}, i1 false)")
            case Do():
                self.do(node)
            case If():
                self.decide(node)
            case Loop():
                self.loop(node)
            case While():
                self.repeat(node)
            case Break():
                self.go(self.loops[-1][1])
            case Continue():
                self.go(self.loops[-1][0])
            case Return():
                self.end(node)
            case Fault():
                self.line(f"store i32 {self.at}, ptr @fault")
                self.end(Return(tuple(Constant(kind, 0) for kind in self.function.results)))

    def store(self, node: Store) -> None:
        """A value is cut to the size of its cell."""
        value, kind = self.number(node.value), MEMORY[node.cell]
        if kind != "i64":
            value = self.let(f"trunc i64 {value} to {kind}")
        self.line(f"store {kind} {value}, ptr {self.address(node.address)}")

    def do(self, node: Do) -> None:
        """A call whose result, if there is one, is not used."""
        results = node.function.results
        call = self.call(node.function, node.arguments)
        if len(results) == 1:
            self.let(call)
        else:
            self.line(call)

    def decide(self, node: If) -> None:
        """Two blocks, and what comes behind them where one of them gets there."""
        then, other, behind = self.label(), self.label(), self.label()
        self.condition(node.test, then, other)
        self.begin(then)
        self.block(node.then)
        is_reached = self.is_open
        self.go(behind)
        self.begin_at(other)
        self.block(node.other)
        is_reached |= self.is_open
        self.go(behind)
        if is_reached:
            self.begin_at(behind)

    def begin_at(self, label: str) -> None:
        """A block that only jumps lead to."""
        self.lines.append(f"{label}:")
        self.is_open = True

    def loop(self, node: Loop) -> None:
        """A counter, its test, the block, and the next number."""
        head, body, further, behind = self.label(), self.label(), self.label(), self.label()
        slot, last = self.slots[node.name], self.number(node.last)
        self.line(f"store i64 {self.number(node.first)}, ptr {slot}")
        self.begin(head)
        at = self.let(f"load i64, ptr {slot}")
        self.line(f"br i1 {self.let(f'icmp slt i64 {at}, {last}')}, label %{body}, label %{behind}")
        self.begin_at(body)
        self.inside(node.body, further, behind)
        self.begin(further)
        now = self.let(f"load i64, ptr {slot}")
        self.line(f"store i64 {self.let(f'add nsw i64 {now}, {node.step}')}, ptr {slot}")
        self.go(head)
        self.begin_at(behind)

    def repeat(self, node: While) -> None:
        """The test, the block, and back."""
        head, body, behind = self.label(), self.label(), self.label()
        self.begin(head)
        self.condition(node.test, body, behind)
        self.begin_at(body)
        self.inside(node.body, head, behind)
        self.go(head)
        self.begin_at(behind)

    def inside(self, body: Sequence[Statement], further: str, behind: str) -> None:
        """The block of a loop."""
        self.loops.append((further, behind))
        self.block(body)
        self.loops.pop()

    def end(self, node: Return) -> None:
        """The function ends; several results are written where the caller wants them."""
        values = [self.number(value) for value in node.values]
        if len(values) == 1:
            self.line(f"ret {REGISTER[node.values[0].type]} {values[0]}")
        else:
            for at, value in enumerate(values):
                self.line(f"store i64 {value}, ptr {self.let(f'getelementptr i64, ptr %results, i64 {at}')}")
            self.line("ret void")
        self.is_open = False

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
        is_left, is_known = node.operator is Operator.LEFT, isinstance(node.right, Constant)
        if node.type is Number.INT and not is_left:
            by = right if is_known else self.let(f"call i64 @llvm.umin.i64(i64 {right}, i64 63)")
            return self.let(f"ashr i64 {left}, {by}")
        kind = "shl" if is_left else "lshr"
        if is_known:
            return self.let(f"{kind} i64 {left}, {right}")
        shifted = self.let(f"{kind} i64 {left}, {self.let(f'and i64 {right}, 63')}")
        return self.let(f"select i1 {self.let(f'icmp ult i64 {right}, 64')}, i64 {shifted}, i64 0")

    def divide(self, node: Binary, left: str, right: str) -> str:
        """Division and remainder round down; bits have no sign."""
        if not isinstance(node.right, Constant):
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


def assigned_in(statements: Iterable[Statement]) -> Iterable[str]:
    """The names that statements assign."""
    for each in statements:
        match each:
            case Assign():
                yield each.name
            case If():
                yield from assigned_in((*each.then, *each.other))
            case Loop() | While():
                yield from assigned_in(each.body)
