"""Compiles accesses: the meaning of names, fields, items and numbers in a function."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler.instructions import (
    REGISTER,
    WORD,
    InstructionWriter,
    constant,
    integer,
    placed,
    truth_of,
)
from rebalance_check.model.checker.compiler.subset import (
    Configuration,
    Function,
    Operand,
    Place,
    Slot,
    Source,
    SubsetError,
    Value,
    Vocabulary,
    enumeration,
)
from rebalance_check.model.checker.compiler.types import Absent, Array, Cell, Number, Record

CONVERSIONS: Final[Mapping[Any, Number]] = {
    bool: Number.TRUTH, int: Number.INT, np.int64: Number.INT, np.uint64: Number.BITS,
}  # fmt: skip
"""The functions that make a number of another type."""

BUILTINS: Final[Mapping[str, Any]] = {"int": int, "bool": bool, "min": min, "max": max}


class AccessCompiler(InstructionWriter):
    """Compiles accesses with the names that are known so far.

    ``function_named`` gives another function of the program, compiled.
    """

    def __init__(self, words: Vocabulary, source: Source, function_named: Callable[[str], Function]) -> None:
        super().__init__()
        self.words = words
        self.source = source
        self.function_named = function_named
        self.names: dict[str, Value] = {}

    def refuse(self, node: ast.AST, what: str, instead: str) -> SubsetError:
        """The error for something that cannot be compiled."""
        return SubsetError(self.source, node, what, instead)

    def number(self, node: ast.expr) -> Operand:
        """The number that an expression computes.

        Raises `SubsetError` when it is a record, a list, or no value at all.
        """
        return self.as_number(node, self.value(node))

    def as_number(self, node: ast.expr, value: Value) -> Operand:
        """A value that must be a number."""
        if isinstance(value, Absent) and value.is_number:
            return integer(value.reads)
        if not isinstance(value, Operand):
            raise self.refuse(node, f"{ast.unparse(node)} is no number", "name one of its fields or items")
        return value

    def integer(self, node: ast.expr) -> Operand:
        """A number that can be counted with; a truth value counts as 0 or 1."""
        value = self.number(node)
        return self.convert(value, Number.INT) if value.type is Number.TRUTH else value

    def value(self, node: ast.expr) -> Value:
        """The meaning of an expression; a number in memory is read.

        Raises `SubsetError` for a kind of expression that cannot be compiled.
        """
        found = self.located(node)
        if isinstance(found, Slot):
            return self.let(found.type, f"load {REGISTER[found.type]}, ptr {found.pointer}")
        return self.load(found, found.type) if isinstance(found, Place) and isinstance(found.type, Cell) else found

    @abstractmethod
    def located(self, node: ast.expr) -> Value:
        """The meaning of an expression; a number in memory is a `Place`, and a variable a `Slot`.

        Raises `SubsetError` for a kind of expression that cannot be compiled.
        """

    def constant(self, node: ast.Constant) -> Operand:
        """A number that is written down."""
        if isinstance(node.value, bool):
            return truth_of(node.value)
        if isinstance(node.value, int) and node.value < 1 << (WORD - 1):
            return integer(node.value)
        if isinstance(node.value, int):
            raise self.refuse(node, f"{node.value} does not fit 64 bits with a sign", "use smaller numbers")
        raise self.refuse(node, f"{node.value!r} is no whole number", "use whole numbers and enumerations alone")

    def name(self, node: ast.Name) -> Value:
        """A variable, or the value of that name in its module."""
        if node.id in self.names:
            return self.names[node.id]
        known: Any = self.words.globals.get(node.id, BUILTINS.get(node.id))
        if isinstance(known, bool):
            return truth_of(known)
        if isinstance(known, np.uint64):
            return constant(Number.BITS, int(known))
        if isinstance(known, int):
            return integer(int(known))
        if known is not None:
            meaning: Value = known
            return meaning
        raise self.refuse(node, f"{node.id} has no value here", "give it one on every way to this line")

    def attribute(self, node: ast.Attribute) -> Value:
        """A field of a record or of the configuration, a member of an enumeration, or the words of an array."""
        owner = self.value(node.value)
        if isinstance(owner, Configuration):
            return self.configured(node)
        if isinstance(owner, Place) and isinstance(owner.type, Record):
            return self.field(node, owner, owner.type)
        if isinstance(owner, Place) and node.attr == "words" and isinstance(owner.type, Array):
            words = Array(Cell.U64, Cell.U64.bytes, owner.type.stride // Cell.U64.bytes)
            return owner._replace(type=Array(words, owner.type.stride, owner.type.length))
        if isinstance(owner, Absent) and owner.record is not None and not owner.is_list:
            return self.absent_field(node, owner.record)
        members = enumeration(owner)
        if members is not None and node.attr in members.__members__:
            return integer(int(members[node.attr]))
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
            return truth_of(value) if isinstance(value, bool) else integer(int(value))
        self.words.tables[node.attr] = value
        return placed(f"@t.{node.attr}", Array(Cell.I32, Cell.I32.bytes, len(value)), 0)

    def field(self, node: ast.Attribute, owner: Place, record: Record) -> Value:
        """A field of a record in memory."""
        if node.attr in record.absent:
            return record.absent[node.attr]
        if node.attr not in record.places:
            raise self.refuse(node, f"{record.name} has no field {node.attr}", "declare it in the layout")
        offset, kind = record.places[node.attr]
        return placed(owner.pointer, kind, owner.offset + offset)

    def absent_field(self, node: ast.Attribute, layout: Any) -> Value:
        """A field of a record that is not there."""
        declared = layout.FIELDS.get(layout.ALIASES.get(node.attr, node.attr))
        if declared is None:
            raise self.refuse(node, f"{layout.__name__} has no field {node.attr}", "declare it in the layout")
        return Absent.of(declared)

    def subscript(self, node: ast.Subscript) -> Value:
        """An item of an array, or of an array of arrays where there are two indices; or a length."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self.length(node, node.value)
        value = self.value(node.value)
        for each in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if isinstance(value, Absent) and value.is_list:
                value = Absent(value.reads, value.record, is_list=False)
            elif isinstance(value, Place) and isinstance(value.type, Array):
                value = self.item(value, value.type, self.integer(each))
            else:
                raise self.refuse(
                    node, f"{ast.unparse(node.value)} has no items", "declare its dimension in the layout"
                )
        return value

    def length(self, node: ast.Subscript, shape: ast.Attribute) -> Operand:
        """``array.shape[0]``: how many items an array has; ``array.shape[1]``: how many each of them has."""
        value, at = self.value(shape.value), node.slice
        if isinstance(value, Place) and isinstance(value.type, Array) and isinstance(at, ast.Constant):
            inner = value.type.item
            if at.value == 0 and value.length is not None:
                return value.length
            if at.value == 1 and isinstance(inner, Array) and inner.length is not None:
                return integer(inner.length)
        raise self.refuse(node, f"{ast.unparse(node)} is not known", "ask an array for shape[0] or shape[1]")
