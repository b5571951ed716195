"""Reads a function: its parameters by their annotations, and of its statements those that can happen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.model.checker.compiler import folding
from rebalance_check.model.checker.compiler.expressions import ExpressionReader, further
from rebalance_check.model.checker.compiler.subset import (
    CONFIGURATION,
    AbsentRecordError,
    Place,
    Source,
    Value,
    Vocabulary,
    assigned_names,
)
from rebalance_check.model.checker.compiler.tree import (
    FALSE,
    Address,
    Assign,
    Break,
    Checked,
    Comparison,
    Constant,
    Continue,
    CopyRecord,
    Do,
    Expression,
    Fault,
    Function,
    If,
    Index,
    Load,
    Local,
    Loop,
    Parameter,
    Pointer,
    Return,
    Statement,
    Store,
    While,
    length_of,
)
from rebalance_check.model.checker.compiler.types import Absent, Array, Cell, Number, Record
from rebalance_check.model.checker.layout import empty_number

CONFIG: Final = "Config"
"""The annotation of the configuration, which is no parameter of compiled functions."""

RESULTS: Final = {"None": (), "bool": (Number.TRUTH,), "int": (Number.INT,), "Hash": (Number.BITS,)}
"""What a function returns, by its annotation; a tuple has one of these for each of its items."""

NUMBERS: Final = {"bool": Number.TRUTH, "int": Number.INT, "Hash": Number.BITS}
"""The numbers among the annotations of parameters."""


class FunctionReader(ExpressionReader):
    """Reads one function into ``function``, which is not whole before `read` returns."""

    def __init__(self, words: Vocabulary, source: Source, function_named: Callable[[str], Function]) -> None:
        super().__init__(words, source, function_named)
        self.assigned = assigned_names(source.tree)
        self.function = Function(source.tree.name, tuple(self.parameters()), self.results())
        self.block: list[Statement] = []
        self.temporaries = 0

    # -------------------------------------------------------------------------------------------- the function

    def read(self) -> Function:
        """The function as a tree.

        Raises `SubsetError` for what cannot be compiled.
        """
        body = self.body_of(self.source.tree.body)
        self.function.body, self.function.is_pure = body, self.is_pure
        if body and self.is_pure and isinstance(body[0], Return) and len(body[0].values) == 1:
            only = body[0].values[0]
            self.function.constant = only.value if isinstance(only, Constant) else None
        if self.function.results and not ends(body):
            raise self.refuse(self.source.tree, "it may end without a result", "return one at its end")
        return self.function

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

    def results(self) -> tuple[Number, ...]:
        """The types of what it returns."""
        node = self.source.tree.returns
        inner = node.slice if isinstance(node, ast.Subscript) else node
        items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        try:
            return tuple(number for each in items for number in RESULTS[annotation(each)])
        except KeyError as error:
            raise self.refuse(self.source.tree, f"it returns {error}", "return None, bool, int, or a tuple") from None

    # -------------------------------------------------------------------------------------------- blocks

    def body_of(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        """The statements of a block until one ends it; names of records that it binds are forgotten behind it."""
        outer, self.block = self.block, []
        before = {name: value for name, value in self.names.items() if not isinstance(value, Expression)}
        for node in nodes:
            try:
                self.statement(node)
            except AbsentRecordError:
                self.is_pure = False
                self.block.append(Fault())
            if ends(self.block):
                break
        made, self.block = tuple(self.block), outer
        self.names = {name: value for name, value in self.names.items() if isinstance(value, Expression)} | before
        return made

    def statement(self, node: ast.stmt) -> None:
        """One statement, whose trees are added to the block.

        Raises `SubsetError` for a kind of statement that cannot be compiled.
        """
        match node:
            case ast.Expr():
                self.expression(node)
            case ast.Return():
                self.returned(node)
            case ast.Assign(targets=[target]):
                self.assign(target, node.value)
            case ast.AnnAssign(value=ast.expr() as value):
                self.assign(node.target, value)
            case ast.AugAssign():
                self.augment(node)
            case ast.If():
                self.decide(node)
            case ast.For(orelse=[]):
                self.repeat(node)
            case ast.While(orelse=[]):
                self.block.append(While(self.truth(node.test), self.turn_of(node.body)))
            case ast.Break():
                self.block.append(Break())
            case ast.Continue():
                self.block.append(Continue())
            case ast.Pass():
                pass
            case _:
                raise self.refuse(node, f"{type(node).__name__} is not known", "use if, for, while and assignments")

    def returned(self, node: ast.Return) -> None:
        """The end of the function."""
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value else []
        wanted = self.function.results
        if len(values) != len(wanted):
            raise self.refuse(node, f"{ast.unparse(node)} has other results than announced", "return what is annotated")
        made = (self.wanted(each, kind) for each, kind in zip(values, wanted, strict=True))
        self.block.append(Return(tuple(made)))

    def wanted(self, node: ast.expr, kind: Number) -> Expression:
        """An expression as a number of this type."""
        return self.truth(node) if kind is Number.TRUTH else folding.convert(self.number(node), kind)

    def decide(self, node: ast.If) -> None:
        """``if``: where the test is known, only the block that happens."""
        test = self.truth(node.test)
        if isinstance(test, Constant):
            self.block += self.body_of(node.body if test.value else node.orelse)
            return
        before = dict(self.names)
        then = self.body_of(node.body)
        after_then, self.names = self.names, before
        other = self.body_of(node.orelse)
        if ends(other):
            self.names = after_then
        elif not ends(then):
            self.names = {name: value for name, value in self.names.items() if name in after_then}
        self.block.append(If(test, then, other))

    def turn_of(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        """The block of a loop; it may have no turn, so what has its first value in it has none behind it."""
        before = dict(self.names)
        made = self.body_of(nodes)
        self.names = {name: value for name, value in self.names.items() if name in before}
        return made

    def repeat(self, node: ast.For) -> None:
        """``for name in range(...)``; a loop without turns is left out."""
        match node.iter, node.target:
            case ast.Call(func=ast.Name(id="range"), args=[*args], keywords=[]), ast.Name(id=name) if 0 < len(args) < 4:
                bounds = [self.integer(each) for each in args]
            case _:
                raise self.refuse(node, f"for ... in {ast.unparse(node.iter)}", "loop over range(...)")
        first, last = (folding.integer(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2] if len(bounds) > 2 else folding.integer(1)
        if not isinstance(step, Constant) or step.value < 1:
            raise self.refuse(node, "the step of the range is not known, or not positive", "count up by a constant")
        if isinstance(first, Constant) and isinstance(last, Constant) and first.value >= last.value:
            return
        if name in assigned_names(*node.body):
            raise self.refuse(node, f"{name} is assigned in its own loop", "use another variable")
        if name in self.names:
            raise self.refuse(node, f"{name} has a meaning before the loop", "give the loop a variable of its own")
        variable = self.new_name(name)
        self.function.locals[variable] = Number.INT
        self.names[name] = Local(Number.INT, variable)
        self.block.append(Loop(variable, first, last, step.value, self.turn_of(node.body)))
        del self.names[name]

    # -------------------------------------------------------------------------------------------- assignments

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """One value for one target, or several for as many: all are computed before the first is assigned."""
        if not isinstance(target, ast.Tuple):
            self.give(target, self.value(value))
            return
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
            raise self.refuse(value, f"{ast.unparse(value)} is no list of as many values", "write one for each target")
        values = [self.kept(self.value(each)) for each in value.elts]
        for one, given in zip(target.elts, values, strict=True):
            self.give(one, given)

    def kept(self, value: Value) -> Value:
        """A value that does not change when a variable does that it was computed from."""
        if not isinstance(value, Expression) or isinstance(value, Constant):
            return value
        name = self.new_name("kept")
        self.set_local(name, value)
        return Local(value.type, name)

    def give(self, target: ast.expr, value: Value) -> None:
        """A variable or a place takes a value."""
        if isinstance(target, ast.Name):
            self.bind(target, value)
        else:
            self.store(target, self.as_number(target, value))

    def as_number(self, node: ast.expr, value: Value) -> Expression:
        """A value that must be a number."""
        if isinstance(value, Absent) and value.record is None and not value.is_list:
            return folding.integer(value.reads)
        if not isinstance(value, Expression):
            raise self.refuse(node, f"{ast.unparse(node)} would become a record", "use layout.assign to copy records")
        return value

    def bind(self, target: ast.Name, value: Value) -> None:
        """A variable takes a number, or becomes another name of a record, once and for all."""
        name = target.id
        if isinstance(value, Place) or is_absent_record(value):
            if self.assigned[name] > 1 or self.is_parameter(name):
                raise self.refuse(
                    target, f"{name} names a record and is assigned again", "use one name for each record"
                )
            self.names[name] = replace(value, address=self.pinned(value.address)) if isinstance(value, Place) else value
            return
        number = self.as_number(target, value)
        if isinstance(number, Constant) and self.assigned[name] == 1 and not self.is_parameter(name):
            self.names[name] = number
            return
        self.set_local(name, number, target)
        self.names[name] = Local(self.type_of(name), name)

    def is_parameter(self, name: str) -> bool:
        """Whether a parameter has this name."""
        return any(parameter.name == name for parameter in self.function.parameters)

    def type_of(self, name: str) -> Number:
        """The type of a variable: of its first value, or of the parameter."""
        for parameter in self.function.parameters:
            if parameter.name == name and isinstance(parameter.type, Number):
                return parameter.type
        return self.function.locals[name]

    def set_local(self, name: str, value: Expression, node: ast.expr | None = None) -> None:
        """Give a variable a value, and a type with its first one."""
        if not self.is_parameter(name):
            self.function.locals.setdefault(name, value.type)
        kind = self.type_of(name)
        is_number = kind is Number.INT and value.type is Number.TRUTH
        if node is not None and kind is not value.type and not is_number:
            raise self.refuse(node, f"{name} is a {kind} and would become a {value.type}", "use another variable")
        self.block.append(Assign(name, folding.convert(value, kind)))

    def pinned(self, address: Address) -> Address:
        """An address whose indices are computed and checked here, so that it stays where it is."""
        return replace(address, items=tuple(self.pinned_index(item) for item in address.items))

    def pinned_index(self, item: Index) -> Index:
        """An index that is computed and checked here."""
        if item.length is None:
            return item
        name = self.new_name("at")
        self.set_local(name, Checked(item.at, item.length))
        return Index(Local(Number.INT, name), item.stride, None)

    def store(self, target: ast.expr, value: Expression) -> None:
        """A place in memory takes a value; a field that is absent takes none."""
        place = self.value(target)
        if isinstance(place, Absent):
            self.drop(target, place, value)
            return
        if not isinstance(place, Load):
            raise self.refuse(target, f"{ast.unparse(target)} cannot be assigned", "assign a number of a layout")
        self.is_pure = False
        self.block.append(Store(place.cell, place.address, folding.convert(value, place.cell.number)))

    def drop(self, target: ast.expr, place: Absent, value: Expression) -> None:
        """A field that is absent takes what it reads as; anything else must not be written to it.

        Raises `SubsetError` where it is no number, or where to compute the value writes something.
        """
        if place.record is not None or place.is_list:
            raise self.refuse(target, f"{ast.unparse(target)} cannot be assigned", "assign a number of a layout")
        if not folding.is_pure(value):
            what = f"{ast.unparse(target)} is absent, and its value calls a function that writes"
            raise self.refuse(target, what, "call it on a line of its own")
        other = folding.compare(Comparison.NE, *self.alike(target, value, folding.integer(place.reads)))
        if other != FALSE:
            self.is_pure = False
            self.block.append(If(other, (Fault(),), ()))

    def augment(self, node: ast.AugAssign) -> None:
        """``target += value``."""
        now = self.value(node.target)
        if isinstance(now, Load) and not folding.is_pure(now):
            what = f"{ast.unparse(node.target)} calls a function that writes, and is computed twice"
            raise self.refuse(node, what, "call it on a line of its own")
        left = self.as_number(node.target, now)
        left = folding.convert(left, Number.INT) if left.type is Number.TRUTH else left
        self.give(node.target, self.binary(node, node.op, left, self.integer(node.value)))

    # -------------------------------------------------------------------------------------------- calls

    def expression(self, node: ast.Expr) -> None:
        """A call for what it does, or a docstring."""
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
        if not function.is_pure:
            self.block.append(Do(function, arguments))

    def whole_record(self, node: ast.Call, records: Sequence[Value]) -> None:
        """``reset(record)`` empties a record, ``assign(record, other)`` copies one; what is absent is empty."""
        match records:
            case [Absent()] | [Absent(), Absent()]:
                return
            case [Place(type=Record() as kind) as place] | [Place(type=Record() as kind) as place, Absent()]:
                self.is_pure = False
                self.empty(place.address, kind)
            case [Place(type=Record() as kind) as place, Place(type=Record()) as other] if other.type == kind:
                self.is_pure = False
                self.block.append(CopyRecord(place.address, other.address, kind.bytes))
            case _:
                raise self.refuse(node, f"{ast.unparse(node)} is not known", "give it records of one layout")

    def empty(self, address: Address, kind: Record | Array | Cell, reads: int = 0) -> None:
        """Empty whatever stands at an address."""
        if isinstance(kind, Cell):
            self.block.append(Store(kind, address, folding.integer(reads)))
        elif isinstance(kind, Array):
            for at in range(kind.length or 0):
                self.empty(further(address, at * kind.stride), kind.item, reads)
        else:
            for name in kind.layout.FIELDS:
                if name in kind.places:
                    offset, inner = kind.places[name]
                    self.empty(further(address, offset), inner, empty_number(kind.layout.FIELDS[name].kind))

    def new_name(self, name: str) -> str:
        """A name that no variable of the function has."""
        self.temporaries += 1
        return f"{name}.{self.temporaries}"


RECORD_CALLS: Final = ("reset", "assign")
"""The functions of `layout` on whole records."""


def annotation(node: ast.expr | None) -> str:
    """An annotation as it is written, also where it is quoted."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node) if node is not None else ""


def meaning(name: str, kind: Number | Record | Array) -> Value:
    """What the name of a parameter means."""
    if isinstance(kind, Number):
        return Local(kind, name)
    length: Expression | None = None
    if isinstance(kind, Array):
        length = Local(Number.INT, length_of(name)) if kind.length is None else folding.integer(kind.length)
    return Place(Address(Pointer(name)), kind, length)


def is_absent_record(value: Value) -> bool:
    """Whether a value stands for a record or a list that is not there."""
    return isinstance(value, Absent) and (value.record is not None or value.is_list)


def ends(block: Sequence[Statement]) -> bool:
    """Whether nothing behind a block happens: its last statement returns, or leaves the loop, on every way."""
    if not block:
        return False
    last = block[-1]
    match last:
        case Return() | Break() | Continue() | Fault():
            return True
        case If():
            return ends(last.then) and ends(last.other)
        case While(test=Constant(value=1)):
            return not any(leaves_loop(each) for each in last.body)
    return False


def leaves_loop(statement: Statement) -> bool:
    """Whether a statement may end the loop around it."""
    match statement:
        case Break():
            return True
        case If():
            return any(leaves_loop(each) for each in (*statement.then, *statement.other))
    return False
