"""Writes functions down as LLVM's intermediate representation, in its text form.

Variables are memory on the stack, which LLVM turns into registers. What a program begins with is `runtime.RUNTIME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rebalance_check.model.checker.compiler.llvm_expressions import MEMORY, REGISTER, ExpressionWriter, quoted
from rebalance_check.model.checker.compiler.runtime import RUNTIME
from rebalance_check.model.checker.compiler.tree import (
    Assign,
    Break,
    Constant,
    Continue,
    CopyRecord,
    Do,
    Fault,
    Function,
    If,
    Loop,
    Return,
    Statement,
    Store,
    While,
    length_of,
)
from rebalance_check.model.checker.compiler.types import Array, Number


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


class FunctionWriter(ExpressionWriter):
    """Writes one function, which has the number ``at``."""

    def __init__(self, function: Function, at: int, is_public: bool) -> None:
        super().__init__(at)
        self.function, self.is_public = function, is_public
        self.loops: list[tuple[str, str]] = []

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
