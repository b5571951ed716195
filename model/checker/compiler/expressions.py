"""Reads the expressions of a function: from syntax to typed trees, with what is known folded away."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import folding
from rebalance_check.model.checker.compiler.subset import (
    CONFIGURATION,
    AbsentRecordError,
    Configuration,
    Place,
    Source,
    SubsetError,
    Value,
    Vocabulary,
    enumeration,
)
from rebalance_check.model.checker.compiler.tree import (
    TRUE,
    Address,
    Comparison,
    Constant,
    Expression,
    Function,
    Index,
    Load,
    Operator,
    Table,
)
from rebalance_check.model.checker.compiler.types import Absent, Array, Cell, Number, Record

OPERATORS: Final[Mapping[type[ast.operator], Operator]] = {
    ast.Add: Operator.ADD,
    ast.Sub: Operator.SUB,
    ast.Mult: Operator.MUL,
    ast.FloorDiv: Operator.DIV,
    ast.Mod: Operator.MOD,
    ast.BitAnd: Operator.AND,
    ast.BitOr: Operator.OR,
    ast.BitXor: Operator.XOR,
    ast.LShift: Operator.LEFT,
    ast.RShift: Operator.RIGHT,
}

COMPARISONS: Final[Mapping[type[ast.cmpop], Comparison]] = {
    ast.Eq: Comparison.EQ,
    ast.NotEq: Comparison.NE,
    ast.Lt: Comparison.LT,
    ast.LtE: Comparison.LE,
    ast.Gt: Comparison.GT,
    ast.GtE: Comparison.GE,
}

CONVERSIONS: Final[Mapping[Any, Number]] = {
    bool: Number.TRUTH,
    int: Number.INT,
    np.int64: Number.INT,
    np.uint64: Number.BITS,
}
"""What may be called to make a number of another type."""

LEAST_AND_MOST: Final[Mapping[Any, Comparison]] = {min: Comparison.LT, max: Comparison.GT}
"""The functions that choose one of several numbers, and what holds between the one that is kept and the next."""


class ExpressionReader:
    """Reads expressions with the names that are known so far.

    ``function_named`` gives another function of the program, compiled.
    """

    def __init__(self, words: Vocabulary, source: Source, function_named: Callable[[str], Function]) -> None:
        self.words = words
        self.source = source
        self.function_named = function_named
        self.names: dict[str, Value] = {}
        self.is_pure = True

    def refuse(self, node: ast.AST, what: str, instead: str) -> SubsetError:
        """The error for something that cannot be compiled."""
        return SubsetError(self.source, node, what, instead)

    # -------------------------------------------------------------------------------------------- by what is wanted

    def number(self, node: ast.expr) -> Expression:
        """The number that an expression computes.

        Raises `SubsetError` when it is a record, a list, or no value at all.
        """
        value = self.value(node)
        if isinstance(value, Absent) and value.record is None and not value.is_list:
            return folding.integer(value.reads)
        if isinstance(value, Place | Absent | Configuration | type) or callable(value):
            raise self.refuse(node, f"{ast.unparse(node)} is no number", "name one of its fields or items")
        return value

    def integer(self, node: ast.expr) -> Expression:
        """A number that can be counted with; a truth value counts as 0 or 1."""
        value = self.number(node)
        return folding.convert(value, Number.INT) if value.type is Number.TRUTH else value

    def truth(self, node: ast.expr) -> Expression:
        """Whether an expression holds: where only that matters, a number holds if it is not 0."""
        match node:
            case ast.BoolOp():
                join = folding.both if isinstance(node.op, ast.And) else folding.either
                return reduce(lambda right, left: join(left, right), reversed([*self.terms(node)]))
            case ast.UnaryOp(op=ast.Not()):
                return folding.opposite(self.truth(node.operand))
            case _:
                return folding.convert(self.number(node), Number.TRUTH)

    def terms(self, node: ast.BoolOp) -> Iterator[Expression]:
        """The terms of an ``and`` or ``or``, up to one that is known to decide: Python does not look at the others."""
        decides = folding.truth(isinstance(node.op, ast.Or))
        for each in node.values:
            term = self.truth(each)
            yield term
            if term == decides:
                return

    # -------------------------------------------------------------------------------------------- by what stands there

    def value(self, node: ast.expr) -> Value:
        """What an expression means.

        Raises `SubsetError` for a kind of expression that cannot be compiled.
        """
        match node:
            case ast.Constant():
                return self.constant(node)
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return self.item(node)
            case ast.BinOp():
                return self.binary(node, node.op, self.integer(node.left), self.integer(node.right))
            case ast.UnaryOp():
                return self.unary(node)
            case ast.BoolOp():
                return self.joined(node)
            case ast.Compare():
                return self.compared(node)
            case ast.IfExp():
                return self.chosen(node)
            case ast.Call():
                return self.called(node)
        kind = type(node).__name__
        raise self.refuse(node, f"{ast.unparse(node)} ({kind}) is not known", "write it with loops and plain numbers")

    def constant(self, node: ast.Constant) -> Expression:
        """A number that is written down."""
        if isinstance(node.value, bool):
            return folding.truth(node.value)
        if isinstance(node.value, int) and node.value < 1 << (folding.WORD - 1):
            return folding.integer(node.value)
        if isinstance(node.value, int):
            raise self.refuse(node, f"{node.value} does not fit 64 bits with a sign", "use smaller numbers")
        raise self.refuse(node, f"{node.value!r} is no whole number", "use whole numbers and enumerations alone")

    def name(self, node: ast.Name) -> Value:
        """A variable, or what its module knows by that name."""
        if node.id in self.names:
            return self.names[node.id]
        known: Any = self.words.globals.get(node.id, BUILTINS.get(node.id))
        if isinstance(known, bool):
            return folding.truth(known)
        if isinstance(known, np.uint64):
            return Constant(Number.BITS, int(known))
        if isinstance(known, int):
            return folding.integer(int(known))
        if known is not None:
            meaning: Value = known
            return meaning
        raise self.refuse(node, f"{node.id} has no value here", "give it one on every way to this line")

    def attribute(self, node: ast.Attribute) -> Value:
        """A field of a record or of the configuration, a member of an enumeration, or the shape of an array."""
        owner = self.value(node.value)
        if isinstance(owner, Configuration):
            return self.configured(node)
        if isinstance(owner, Place) and isinstance(owner.type, Record):
            return self.field(node, owner.address, owner.type)
        if isinstance(owner, Place) and node.attr == "words" and isinstance(owner.type, Array):
            words = Array(Cell.U64, Cell.U64.bytes, owner.type.stride // Cell.U64.bytes)
            return replace(owner, type=Array(words, owner.type.stride, owner.type.length))
        if isinstance(owner, Absent) and owner.record is not None and not owner.is_list:
            return self.absent_field(node, owner.record)
        members = enumeration(owner)
        if members is not None and node.attr in members.__members__:
            return folding.integer(int(members[node.attr]))
        found: Any = getattr(owner, node.attr, None)
        if found in CONVERSIONS:
            made: Value = found
            return made
        raise self.refuse(node, f"{ast.unparse(node)} is not known", "read a field that the layout declares")

    def configured(self, node: ast.Attribute) -> Value:
        """A field of the configuration: a constant, or a table of the program."""
        if node.attr not in self.words.config:
            raise self.refuse(node, f"the configuration has no field {node.attr}", "declare it in Config")
        value = self.words.config[node.attr]
        if not isinstance(value, tuple):
            return folding.truth(value) if isinstance(value, bool) else folding.integer(int(value))
        self.words.tables[node.attr] = value
        return Place(
            Address(Table(node.attr)), Array(Cell.I32, Cell.I32.bytes, len(value)), folding.integer(len(value))
        )

    def field(self, node: ast.Attribute, address: Address, record: Record) -> Value:
        """A field of a record in memory."""
        if node.attr in record.absent:
            return record.absent[node.attr]
        if node.attr not in record.places:
            raise self.refuse(node, f"{record.name} has no field {node.attr}", "declare it in the layout")
        offset, kind = record.places[node.attr]
        return self.placed(further(address, offset), kind)

    def absent_field(self, node: ast.Attribute, layout: Any) -> Value:
        """A field of a record that is not there."""
        declared = layout.FIELDS.get(layout.ALIASES.get(node.attr, node.attr))
        if declared is None:
            raise self.refuse(node, f"{layout.__name__} has no field {node.attr}", "declare it in the layout")
        return Absent.of(declared)

    def placed(self, address: Address, kind: Cell | Record | Array) -> Value:
        """What stands at an address: a number is read, a record or an array is referred to."""
        if isinstance(kind, Cell):
            return Load(kind, address)
        return Place(address, kind, folding.integer(kind.length or 0) if isinstance(kind, Array) else None)

    def item(self, node: ast.Subscript) -> Value:
        """An item of an array, or of an array of arrays where there are two indices; or a length."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self.length(node, node.value)
        value = self.value(node.value)
        for each in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            value = self.item_of(node, value, each)
        return value

    def item_of(self, node: ast.Subscript, value: Value, at: ast.expr) -> Value:
        """One item."""
        if isinstance(value, Absent) and value.is_list:
            return Absent(value.reads, value.record, is_list=False)
        if not isinstance(value, Place) or not isinstance(value.type, Array) or value.length is None:
            raise self.refuse(node, f"{ast.unparse(node.value)} has no items", "declare its dimension in the layout")
        index = Index(self.integer(at), value.type.stride, value.length)
        base = value.address
        return self.placed(further(base, 0, index), value.type.item)

    def length(self, node: ast.Subscript, shape: ast.Attribute) -> Expression:
        """``array.shape[0]``: how many items an array has; ``array.shape[1]``: how many each of them has."""
        value, at = self.value(shape.value), node.slice
        if isinstance(value, Place) and isinstance(value.type, Array) and isinstance(at, ast.Constant):
            inner = value.type.item
            if at.value == 0 and value.length is not None:
                return value.length
            if at.value == 1 and isinstance(inner, Array) and inner.length is not None:
                return folding.integer(inner.length)
        raise self.refuse(node, f"{ast.unparse(node)} is not known", "ask an array for shape[0] or shape[1]")

    # -------------------------------------------------------------------------------------------- operations

    def binary(self, node: ast.AST, operation: ast.operator, left: Expression, right: Expression) -> Expression:
        """An operation on two numbers of one type; a constant takes the type of the other."""
        if type(operation) not in OPERATORS:
            raise self.refuse(node, f"{type(operation).__name__} is not known", "use + - * // % & | ^ << >>")
        left, right = self.alike(node, left, right)
        return folding.binary(OPERATORS[type(operation)], left, right)

    def alike(self, node: ast.AST, left: Expression, right: Expression) -> tuple[Expression, Expression]:
        """Both of one type: a truth value is counted with as a number.

        Raises `SubsetError` where bits meet a number that is not known.
        """
        if left.type is right.type:
            return left, right
        if Number.BITS not in {left.type, right.type}:
            return folding.convert(left, Number.INT), folding.convert(right, Number.INT)
        raise self.refuse(node, f"a number of type {left.type} meets one of {right.type}", "convert one of them first")

    def unary(self, node: ast.UnaryOp) -> Expression:
        """``not``, ``-``, ``+`` and ``~``."""
        match node.op:
            case ast.Not():
                return self.truth(node)
            case ast.UAdd():
                return self.integer(node.operand)
            case ast.USub():
                return self.binary(node, ast.Sub(), folding.integer(0), self.integer(node.operand))
            case ast.Invert():
                return self.binary(node, ast.BitXor(), self.integer(node.operand), folding.integer(-1))
        raise self.refuse(node, f"{ast.unparse(node)} is not known", "use not, -, + or ~")

    def joined(self, node: ast.BoolOp) -> Expression:
        """``and`` and ``or`` as a value: of truth values alone, because Python gives one of the operands."""
        for each, _ in zip(node.values, self.terms(node), strict=False):
            if self.number(each).type is not Number.TRUTH:
                instead = f"write bool({ast.unparse(each)}), or use it in a condition"
                raise self.refuse(each, f"{ast.unparse(each)} in {ast.unparse(node)} is no truth value", instead)
        return self.truth(node)

    def compared(self, node: ast.Compare) -> Expression:
        """Comparisons, also in a row; what stands between two is computed twice, so it must write nothing."""
        terms = [self.number(each) for each in (node.left, *node.comparators)]
        if not all(folding.is_pure(each) for each in terms[1:-1]):
            raise self.refuse(node, f"{ast.unparse(node)} calls a function that writes", "compare two at a time")
        found: Expression = TRUE
        for operation, left, right in zip(node.ops, terms, terms[1:], strict=False):
            if type(operation) not in COMPARISONS:
                raise self.refuse(node, f"{ast.unparse(node)} is no comparison of numbers", "use == != < <= > >=")
            found = folding.both(found, folding.compare(COMPARISONS[type(operation)], *self.alike(node, left, right)))
        return found

    def chosen(self, node: ast.IfExp) -> Expression:
        """``then if test else other``; where the test is known the other value is not looked at."""
        test = self.truth(node.test)
        if isinstance(test, Constant):
            return self.number(node.body if test.value else node.orelse)
        return folding.choose(test, *self.alike(node, self.number(node.body), self.number(node.orelse)))

    # -------------------------------------------------------------------------------------------- calls

    def called(self, node: ast.Call) -> Expression:
        """A call that gives a number: of a function of the program, of ``min`` or ``max``, or a conversion."""
        if node.keywords:
            raise self.refuse(node, f"{ast.unparse(node)} names its arguments", "give them in their order")
        if isinstance(node.func, ast.Name) and self.words.has_function(node.func.id):
            function, arguments = self.call_of(node, node.func.id)
            if len(function.results) != 1:
                raise self.refuse(node, f"{function.name} returns no number", "call it on a line of its own")
            return folding.call(function, arguments)
        meaning = self.value(node.func)
        if meaning in LEAST_AND_MOST:
            return self.least_or_most(node, LEAST_AND_MOST[meaning])
        if meaning in CONVERSIONS and len(node.args) == 1:
            return folding.convert(self.number(node.args[0]), CONVERSIONS[meaning])
        raise self.refuse(node, f"{ast.unparse(node.func)} cannot be called", "call a function of the model")

    def least_or_most(self, node: ast.Call, kept: Comparison) -> Expression:
        """The least or the greatest of several numbers, each of which is computed twice."""
        numbers = [self.integer(each) for each in node.args]
        if len(numbers) < 2 or not all(folding.is_pure(each) for each in numbers):
            raise self.refuse(node, f"{ast.unparse(node)} is not known", "give it two numbers or more")
        return reduce(lambda one, other: folding.choose(folding.compare(kept, other, one), other, one), numbers)

    def call_of(self, node: ast.Call, name: str) -> tuple[Function, tuple[Expression | Address, ...]]:
        """The function of this name, and what a call gives it: the configuration is not handed on."""
        function = self.function_named(name)
        self.is_pure = self.is_pure and function.is_pure
        values = [(each, self.value(each)) for each in node.args]
        given = [(each, value) for each, value in values if value is not CONFIGURATION]
        if len(given) != len(function.parameters):
            names = ", ".join(parameter.name for parameter in function.parameters)
            raise self.refuse(node, f"{ast.unparse(node)} does not fit", f"{function.name} takes {names}")
        arguments = list[Expression | Address]()
        for parameter, (each, value) in zip(function.parameters, given, strict=True):
            arguments += self.argument(each, value, parameter.type)
        return function, tuple(arguments)

    def argument(self, node: ast.expr, value: Value, wanted: Number | Record | Array) -> list[Expression | Address]:
        """An argument for a parameter of this type; an array whose length its type does not say brings that along.

        Raises `AbsentRecordError` for a record that is absent.
        """
        if isinstance(wanted, Number):
            return [folding.convert(self.number(node), wanted)]
        if isinstance(value, Absent):
            raise AbsentRecordError
        if not isinstance(value, Place) or not fits(value.type, wanted):
            raise self.refuse(node, f"{ast.unparse(node)} is no {wanted}", "hand on what the annotation says")
        if isinstance(wanted, Array) and wanted.length is None and value.length is not None:
            return [value.address, value.length]
        return [value.address]


BUILTINS: Final[Mapping[str, Any]] = {"int": int, "bool": bool, "min": min, "max": max}


def further(address: Address, offset: int, *items: Index) -> Address:
    """An address so many bytes on, and at these items; an item that is known is checked now, and adds to the offset."""
    kept = list(address.items)
    for item in items:
        if (
            isinstance(item.at, Constant)
            and isinstance(item.length, Constant)
            and 0 <= item.at.value < item.length.value
        ):
            offset += item.at.value * item.stride
        else:
            kept.append(item)
    return Address(address.base, address.offset + offset, tuple(kept))


def fits(given: Record | Array, wanted: Record | Array) -> bool:
    """Whether memory of one type may be handed on as another."""
    if isinstance(given, Array) and isinstance(wanted, Array):
        known = wanted.length is None or wanted.length == given.length
        return known and given.stride == wanted.stride and given.item == wanted.item
    return given == wanted
