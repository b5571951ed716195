"""The types of compiled code: numbers in registers, and how records and arrays lie in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rebalance_check.model.checker.layout import Field, Layout, Sizes, empty_number, present, width


class Number(StrEnum):
    """The kinds of values that expressions compute: a truth value, a signed number, or 64 bits of a hash."""

    TRUTH = "truth value"
    INT = "int"
    BITS = "64 bits"


class Cell(StrEnum):
    """A number in memory, by its bytes and its sign."""

    U8 = "u8"
    U32 = "u32"
    I32 = "i32"
    I64 = "i64"
    U64 = "u64"

    @property
    def number(self) -> Number:
        """The kind of value that a read of it gives."""
        return Number.BITS if self is Cell.U64 else Number.INT

    @property
    def bytes(self) -> int:
        """Its size."""
        return {Cell.U8: 1, Cell.U32: 4, Cell.I32: 4, Cell.I64: 8, Cell.U64: 8}[self]


@dataclass(frozen=True, slots=True)
class Absent:
    """The place of a field that records of these sizes do not have: it reads as ``reads`` (`layout.empty_number`).

    ``record`` is the layout of a field that holds records, whose fields are absent, too; ``is_list`` that it has items.
    """

    reads: int
    record: type[Layout] | None
    is_list: bool

    @property
    def is_number(self) -> bool:
        """Whether it reads as a number, and not as a record or a list."""
        return self.record is None and not self.is_list

    @classmethod
    def of(cls, field: Field) -> Absent:
        """The absent place of a field as it is declared."""
        return cls(empty_number(field.kind), field.item, field.dimension is not None)


@dataclass(frozen=True, slots=True)
class Record:
    """A record: where its fields lie, by name, those that are absent, and its bytes, padding not counted.

    An alias is in ``places`` like the field that it names.
    """

    layout: type[Layout]
    places: Mapping[str, tuple[int, Type]]
    absent: Mapping[str, Absent]
    bytes: int

    @property
    def name(self) -> str:
        """The name of its layout."""
        return self.layout.__name__


@dataclass(frozen=True, slots=True)
class Array:
    """Items that lie ``stride`` bytes apart; ``length`` is None where a parameter says how many there are."""

    item: Type
    stride: int
    length: int | None


Type = Cell | Record | Array


def bytes_of(kind: Type) -> int:
    """The bytes that something takes.

    Raises `ValueError` for an array of unknown length.
    """
    if isinstance(kind, Array):
        if kind.length is None:
            raise ValueError(f"{kind} has no length")
        return kind.stride * kind.length
    return kind.bytes


def record_of(layout: type[Layout], sizes: Sizes) -> Record:
    """The record of a layout at given sizes: its fields one after the other, each number a byte."""
    places, at = dict[str, tuple[int, Type]](), 0
    for field in present(layout, sizes):
        kind = _type_of(field, sizes)
        places[field.name] = at, kind
        at += bytes_of(kind)
    absent = {field.name: Absent.of(field) for field in layout.FIELDS.values() if field.name not in places}
    for alias, name in layout.ALIASES.items():
        if name in places:
            places[alias] = places[name]
        else:
            absent[alias] = absent[name]
    return Record(layout, places, absent, at)


def _type_of(field: Field, sizes: Sizes) -> Type:
    one = record_of(field.item, sizes) if field.item else Cell.U8
    return one if field.dimension is None else Array(one, bytes_of(one), sizes[field.dimension])


def rows_of(item: Type, layout: type[Layout], sizes: Sizes) -> Array:
    """An array of packed states of unknown number, seen as ``item`` each."""
    return Array(item, width(layout, sizes), None)
