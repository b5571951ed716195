"""Compiles a function: its parameters by their annotations, and of its statements those that can happen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.model.checker.compiler.expressions import ExpressionCompiler
from rebalance_check.model.checker.compiler.instructions import REGISTER, constant, integer
from rebalance_check.model.checker.compiler.subset import (
    CONFIGURATION,
    AbsentRecordError,
    Function,
    Operand,
    Parameter,
    Place,
    Slot,
    Source,
    Value,
    Vocabulary,
    assigned_names,
    length_of,
    parameter_text,
)
from rebalance_check.model.checker.compiler.types import Absent, Array, Cell, Number, Record

CONFIG: Final = "Config"
"""The annotation of the configuration, which is no parameter of compiled functions."""

NUMBERS: Final = {"bool": Number.TRUTH, "int": Number.INT, "Hash": Number.BITS}
"""The numbers among the annotations of parameters and results."""

RECORD_CALLS: Final = ("reset", "assign")
"""The functions of `layout` on whole records."""


@dataclass(slots=True)
class LoopLabels:
    """Where a turn of a loop ends, where the loop does, and whether anything leaves it."""

    further: str
    behind: str
    is_left: bool = False


class FunctionCompiler(ExpressionCompiler):
    """Compiles one function into ``function``, which is not whole before `compile` returns."""

    def __init__(self, words: Vocabulary, source: Source, function_named: Callable[[str], Function]) -> None:
        super().__init__(words, source, function_named)
        self.assigned = assigned_names(source.tree)
        self.function = Function(source.tree.name, tuple(self.parameters()), self.result())
        self.variables: dict[str, Slot] = {}
        self.loops: list[LoopLabels] = []
        self.returned: int | None = None

    # -------------------------------------------------------------------------------------------- the function

    def compile(self) -> Function:
        """The function, whole.

        Raises `SubsetError` for code that cannot be compiled.
        """
        for parameter in self.function.parameters:
            if isinstance(parameter.type, Number) and self.assigned[parameter.name]:
                self.names[parameter.name] = self.variables[parameter.name] = self.slot(
                    parameter.name, parameter.type, parameter_text(parameter.name)
                )
        self.body_of(self.source.tree.body)
        if self.is_open and self.function.result is not None:
            raise self.refuse(self.source.tree, "it may end without a result", "return one at its end")
        if self.is_open:
            self.line("ret void")
        function = self.function
        function.is_pure = self.writes == 0
        function.constant = self.returned if len(self.lines) == 1 else None
        function.lines = [f"@{function.name}({self.head()}) nounwind {{", "entry:", *self.slots, *self.lines, "}", ""]
        return function

    def parameters(self) -> list[Parameter]:
        """The parameters, by their annotations; their names get a meaning."""
        made = []
        for argument in self.source.tree.args.args:
            note = annotation(argument.annotation)
            if note == CONFIG:
                self.names[argument.arg] = CONFIGURATION
                continue
            kind = NUMBERS.get(note) or self.words.types.get(note)
            if kind is None:
                raise self.refuse(argument, f"the parameter {argument.arg} has the type {note!r}", "annotate a layout")
            made.append(Parameter(argument.arg, kind))
            self.names[argument.arg] = meaning(argument.arg, kind)
        return made

    def result(self) -> Number | None:
        """The type of its result, None for nothing."""
        note = annotation(self.source.tree.returns)
        if note != "None" and note not in NUMBERS:
            raise self.refuse(self.source.tree, f"it returns {note!r}", "return None, bool or int")
        return NUMBERS.get(note)

    def head(self) -> str:
        """The parameters; an array comes with its length where its type does not say it."""
        made = []
        for parameter in self.function.parameters:
            if isinstance(parameter.type, Number):
                made.append(f"{REGISTER[parameter.type]} {parameter_text(parameter.name)}")
                continue
            made.append(f"ptr noundef nonnull {parameter_text(parameter.name)}")
            if isinstance(parameter.type, Array) and parameter.type.length is None:
                made.append(f"i64 {parameter_text(length_of(parameter.name))}")
        return ", ".join(made)

    # -------------------------------------------------------------------------------------------- blocks

    def body_of(self, nodes: Sequence[ast.stmt]) -> None:
        """The statements of a block until one ends it; names of records that it binds are forgotten behind it."""
        before = {name: value for name, value in self.names.items() if not isinstance(value, Operand | Slot)}
        for node in nodes:
            begin = self.mark()
            try:
                self.statement(node)
            except AbsentRecordError:
                self.undo(begin)
                self.fail()
            if not self.is_open:
                break
        self.names = {name: value for name, value in self.names.items() if isinstance(value, Operand | Slot)} | before

    def statement(self, node: ast.stmt) -> None:
        """One statement.

        Raises `SubsetError` for a kind of statement that cannot be compiled.
        """
        match node:
            case ast.Expr():
                self.expression(node)
            case ast.Return():
                self.end(node)
            case ast.Assign(targets=[target]):
                self.assign(target, node.value)
            case ast.AnnAssign(value=ast.expr() as value):
                self.assign(node.target, value)
            case ast.AugAssign():
                self.augment(node)
            case ast.If():
                self.decide(node)
            case ast.For(orelse=[]):
                self.count_up(node)
            case ast.While(orelse=[]):
                self.repeat(node)
            case ast.Break() | ast.Continue():
                loop, is_break = self.loops[-1], isinstance(node, ast.Break)
                loop.is_left |= is_break
                self.go(loop.behind if is_break else loop.further)
            case ast.Pass():
                pass
            case _:
                raise self.refuse(node, f"{type(node).__name__} is not known", "use if, for, while and assignments")

    def end(self, node: ast.Return) -> None:
        """The end of the function."""
        wanted = self.function.result
        if (node.value is None) != (wanted is None) or isinstance(node.value, ast.Tuple):
            raise self.refuse(node, f"{ast.unparse(node)} has other results than announced", "return what is annotated")
        if node.value is None or wanted is None:
            self.line("ret void")
        else:
            made = self.truth(node.value) if wanted is Number.TRUTH else self.convert(self.number(node.value), wanted)
            self.returned = made.known
            self.line(f"ret {REGISTER[wanted]} {made.text}")
        self.is_open = False

    def fail(self) -> None:
        """This must not happen: it is noticed, and the function ends."""
        self.writes += 1
        self.line("store i32 FAULT, ptr @fault")
        kind = self.function.result
        self.line(f"ret {REGISTER[kind]} {constant(kind, 0).text}" if kind else "ret void")
        self.is_open = False

    def decide(self, node: ast.If) -> None:
        """``if``: where the test is known, only the block that happens."""
        then, other, behind = self.label(), self.label(), self.label()
        known = self.jump(node.test, then, other)
        if known is not None:
            self.body_of(node.body if known else node.orelse)
            return
        before = dict(self.names)
        self.begin(then)
        self.body_of(node.body)
        is_then_open, after_then, self.names = self.is_open, self.names, before
        self.go(behind)
        self.begin(other)
        self.body_of(node.orelse)
        if not self.is_open:
            self.names = after_then
        elif is_then_open:
            self.names = {name: value for name, value in self.names.items() if name in after_then}
        is_reached = is_then_open or self.is_open
        self.go(behind)
        if is_reached:
            self.begin(behind)

    def turn_of(self, nodes: Sequence[ast.stmt], loop: LoopLabels) -> None:
        """The block of a loop; it may have no turn, so a variable first set in it has no value behind it."""
        before = dict(self.names)
        self.loops.append(loop)
        self.body_of(nodes)
        self.loops.pop()
        self.names = {name: value for name, value in self.names.items() if name in before}

    def repeat(self, node: ast.While) -> None:
        """``while``: the test, the block, and back."""
        head, body, behind = self.label(), self.label(), self.label()
        self.begin(head)
        known = self.jump(node.test, body, behind)
        if known is False:
            return
        self.begin(body)
        loop = LoopLabels(head, behind)
        self.turn_of(node.body, loop)
        self.go(head)
        if known is None or loop.is_left:
            self.begin(behind)

    def count_up(self, node: ast.For) -> None:
        """``for name in range(...)``; a loop without turns is left out."""
        match node.iter, node.target:
            case ast.Call(func=ast.Name(id="range"), args=[*args], keywords=[]), ast.Name(id=name) if 0 < len(args) < 4:
                bounds = [self.integer(each) for each in args]
            case _:
                raise self.refuse(node, f"for ... in {ast.unparse(node.iter)}", "loop over range(...)")
        first, last = (integer(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2].known if len(bounds) > 2 else 1
        if step is None or step < 1:
            raise self.refuse(node, "the step of the range is not known, or not positive", "count up by a constant")
        if first.known is not None and last.known is not None and first.known >= last.known:
            return
        if name in assigned_names(*node.body):
            raise self.refuse(node, f"{name} is assigned in its own loop", "use another variable")
        if name in self.names:
            raise self.refuse(node, f"{name} has a meaning before the loop", "give the loop a variable of its own")
        head, body, further, behind = self.label(), self.label(), self.label(), self.label()
        variable = self.names[name] = self.slot(name, Number.INT)
        self.line(f"store i64 {first.text}, ptr {variable.pointer}")
        self.begin(head)
        at = self.named(f"load i64, ptr {variable.pointer}")
        self.branch(self.let(Number.TRUTH, f"icmp slt i64 {at}, {last.text}"), body, behind)
        self.begin(body)
        self.turn_of(node.body, LoopLabels(further, behind))
        self.begin(further)
        now = self.named(f"load i64, ptr {variable.pointer}")
        self.line(f"store i64 {self.named(f'add nsw i64 {now}, {step}')}, ptr {variable.pointer}")
        self.go(head)
        self.begin(behind)
        del self.names[name]

    # -------------------------------------------------------------------------------------------- assignments

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """One value for one target, or several for as many: all are computed before the first is assigned."""
        if not isinstance(target, ast.Tuple):
            self.give(target, self.value(value))
            return
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
            raise self.refuse(value, f"{ast.unparse(value)} is no list of as many values", "write one for each target")
        values = [self.value(each) for each in value.elts]
        for one, given in zip(target.elts, values, strict=True):
            self.give(one, given)

    def give(self, target: ast.expr, value: Value) -> None:
        """A variable or a place takes a value."""
        if isinstance(target, ast.Name):
            self.bind(target, value)
        else:
            self.put(target, self.located(target), self.given(target, value))

    def given(self, target: ast.expr, value: Value) -> Operand:
        """A value that is assigned, and must be a number."""
        if isinstance(value, Absent) and value.is_number:
            return integer(value.reads)
        if not isinstance(value, Operand):
            raise self.refuse(
                target, f"{ast.unparse(target)} would become a record", "use layout.assign to copy records"
            )
        return value

    def bind(self, target: ast.Name, value: Value) -> None:
        """A variable takes a number, or becomes another name of a record, once and for all."""
        name = target.id
        is_parameter = any(parameter.name == name for parameter in self.function.parameters)
        is_once = self.assigned[name] == 1 and not is_parameter
        if isinstance(value, Place) or (isinstance(value, Absent) and not value.is_number):
            if not is_once:
                what = f"{name} names a record and is assigned again"
                raise self.refuse(target, what, "use one name for each record")
            self.names[name] = value
            return
        number = self.given(target, value)
        if number.known is not None and is_once:
            self.names[name] = number
            return
        if name not in self.variables:
            if is_parameter:
                raise self.refuse(target, f"{name} names a record and is assigned again", "use another variable")
            self.variables[name] = self.slot(name, number.type)
        variable = self.names[name] = self.variables[name]
        if variable.type is not number.type and (variable.type, number.type) != (Number.INT, Number.TRUTH):
            what = f"{name} is a {variable.type} and would become a {number.type}"
            raise self.refuse(target, what, "use another variable")
        made = self.convert(number, variable.type)
        self.line(f"store {REGISTER[made.type]} {made.text}, ptr {variable.pointer}")

    def put(self, target: ast.expr, place: Value, value: Operand) -> None:
        """A place in memory takes a value; a field that is absent takes the value it reads as, and nothing else."""
        if isinstance(place, Absent) and place.is_number:
            other = self.compare(ast.NotEq, *self.alike(target, value, integer(place.reads)))
            if other.known != 0:
                wrong, right = self.label(), self.label()
                self.branch(other, wrong, right)
                self.begin(wrong)
                self.fail()
                self.begin(right)
            return
        if not isinstance(place, Place) or not isinstance(place.type, Cell):
            raise self.refuse(target, f"{ast.unparse(target)} cannot be assigned", "assign a number of a layout")
        self.store(place, place.type, value)

    def augment(self, node: ast.AugAssign) -> None:
        """``target += value``."""
        place = self.located(node.target)
        now: Value = place
        if isinstance(place, Place) and isinstance(place.type, Cell):
            now = self.load(place, place.type)
        elif isinstance(place, Slot):
            now = self.value(node.target)
        left = self.given(node.target, now)
        left = self.convert(left, Number.INT) if left.type is Number.TRUTH else left
        value = self.binary(node, node.op, left, self.integer(node.value))
        if isinstance(node.target, ast.Name):
            self.bind(node.target, value)
        else:
            self.put(node.target, place, value)

    # -------------------------------------------------------------------------------------------- calls

    def expression(self, node: ast.Expr) -> None:
        """A call for its effect, or a docstring."""
        if isinstance(node.value, ast.Constant):
            return
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
            raise self.refuse(node, f"{ast.unparse(node)} does nothing", "call a function, or assign its result")
        if call.func.id in RECORD_CALLS:
            self.whole_record(call, [self.value(each) for each in call.args])
            return
        if not self.words.has_function(call.func.id):
            raise self.refuse(node, f"{call.func.id} cannot be called", "call a function of the model")
        function, arguments = self.call_of(call, call.func.id)
        text = self.call_text(function, arguments)
        self.line(text) if function.result is None else self.named(text)

    def whole_record(self, node: ast.Call, records: Sequence[Value]) -> None:
        """``reset(record)`` empties a record, ``assign(record, other)`` copies one; absent fields are empty."""
        match records:
            case [Absent()] | [Absent(), Absent()]:
                return
            case [Place(type=Record() as kind) as place] | [Place(type=Record() as kind) as place, Absent()]:
                self.empty(place, kind)
            case [Place(type=Record() as kind) as place, Place(type=Record()) as other] if other.type == kind:
                to, of = self.address(place), self.address(other)
                self.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {kind.bytes}, i1 false)")
                self.writes += 1
            case _:
                raise self.refuse(node, f"{ast.unparse(node)} is not known", "give it records of one layout")


def annotation(node: ast.expr | None) -> str:
    """An annotation as it is written, also where it is quoted."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node) if node is not None else ""


def meaning(name: str, kind: Number | Record | Array) -> Value:
    """The meaning of a parameter's name."""
    if isinstance(kind, Number):
        return Operand(kind, parameter_text(name))
    length: Operand | None = None
    if isinstance(kind, Array):
        known = kind.length
        length = Operand(Number.INT, parameter_text(length_of(name))) if known is None else integer(known)
    return Place(parameter_text(name), kind, 0, length)
