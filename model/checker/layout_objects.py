"""The interpreter's operations on whole states, generated from their layout: copy, clone, pack, unpack.

A conformance run or a walk makes a state for each action that it tries, so these few functions decide how fast it is:
each record inside a state is looked up once, and a clone is made without being zeroed first. The generated functions
that the compiled explorer uses, too, stand in `rebalance_check.model.checker.layout_source`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from rebalance_check.model.checker.layout import Field, Layout, Sizes, leaves, present, sized
from rebalance_check.model.checker.layout_source import helper_source


class Record(NamedTuple):
    """A record of a state, the state itself or one inside: its number, who holds it where, its class and fields."""

    number: int
    holder: int
    access: str
    cls: type[Layout]
    fields: list[Field]

    @property
    def numbers(self) -> list[tuple[str, bool]]:
        """The fields that hold numbers, and whether as a list."""
        return [(field.name, field.dimension is not None) for field in self.fields if field.item is None]


class Inner(NamedTuple):
    """A field of a record that holds records, and the numbers of these."""

    holder: int
    field: str
    is_list: bool
    records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """All records of a state, holders first, and the fields that hold them."""

    records: tuple[Record, ...]
    inner: tuple[Inner, ...]


def tree(cls: type[Layout], sizes: Sizes) -> Tree:
    """The records of a layout at given sizes."""
    records, inner = [Record(0, 0, "", sized(cls, sizes), present(cls, sizes))], list[Inner]()
    for record in records:  # grows meanwhile
        for name, item, _, dimension, _ in record.fields:
            if item is None:
                continue
            places = [f".{name}"] if dimension is None else [f".{name}[{at}]" for at in range(sizes[dimension])]
            numbers = range(len(records), len(records) + len(places))
            here, fields = sized(item, sizes), present(item, sizes)
            records += [Record(n, record.number, place, here, fields) for n, place in zip(numbers, places, strict=True)]
            inner.append(Inner(record.number, name, dimension is not None, tuple(numbers)))
    return Tree(tuple(records), tuple(inner))


def copy_source(shape: Tree) -> str:
    """Source of ``copy(d0, s0)``, which overwrites a state with another."""
    lines = ["def copy(d0, s0):"]
    for n, holder, access, _, _ in shape.records[1:]:
        lines.append(f"    d{n}, s{n} = d{holder}{access}, s{holder}{access}")
    for record in shape.records:
        n = record.number
        for name, is_list in record.numbers:
            lines.append(f"    d{n}.{name}[:] = s{n}.{name}" if is_list else f"    d{n}.{name} = s{n}.{name}")
    return "\n".join([*lines, ""])


def clone_source(shape: Tree) -> str:
    """Source of ``clone(s0)``, an independent copy. ``new`` makes an object without fields, ``C3`` is the class of
    record 3."""
    lines = ["def clone(s0):", "    d0 = new(C0)"]
    for n, holder, access, _, _ in shape.records[1:]:
        lines.append(f"    s{n}, d{n} = s{holder}{access}, new(C{n})")
    for record in shape.records:
        n = record.number
        for name, is_list in record.numbers:
            lines.append(f"    d{n}.{name} = s{n}.{name}{'[:]' if is_list else ''}")
    for holder, name, is_list, records in shape.inner:
        made = ", ".join(f"d{n}" for n in records)
        lines.append(f"    d{holder}.{name} = {f'[{made}]' if is_list else made}")
    return "\n".join([*lines, "    return d0", ""])


def pack_source(shape: Tree) -> str:
    """Source of ``pack(s0) -> bytes``, unpadded."""
    lines = ["def pack(s0):"]
    for n, holder, access, _, _ in shape.records[1:]:
        lines.append(f"    s{n} = s{holder}{access}")
    return "\n".join([*lines, f"    return bytes(({', '.join(_terms(shape, shape.records[0]))},))", ""])


def _terms(shape: Tree, record: Record) -> Iterator[str]:
    """The numbers of a record in the order of the packed bytes: that of the declaration, inner records in place."""
    inner = {each.field: each for each in shape.inner if each.holder == record.number}
    for name, _, _, dimension, _ in record.fields:
        if name in inner:
            for number in inner[name].records:
                yield from _terms(shape, shape.records[number])
        else:
            yield f"{'' if dimension is None else '*'}s{record.number}.{name}"


def unpack_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``unpack(s, data)``, which overwrites a state with the bytes of `pack`."""
    writes = [f"    s{leaf.path} = data[{i}]" for i, leaf in enumerate(leaves(cls, sizes))]
    return "\n".join(["def unpack(s, data):", *writes, ""])


@dataclass(frozen=True, slots=True)
class Helpers:
    """The generated functions of a layout at given sizes, interpreted."""

    copy: Callable[[Any, Any], None]
    clone: Callable[[Any], Any]
    pack: Callable[[Any], bytes]
    unpack: Callable[[Any, bytes], None]
    relabel: Callable[[Any, Any, Sequence[int], Sequence[int]], None]
    signature: Callable[[Any, int], int]


def helpers(cls: type[Layout], sizes: Sizes) -> Helpers:
    """The helpers of a layout, generated and compiled once for the same sizes."""
    held: Any = cls  # type checkers do not take a class for hashable
    return _helpers(held, tuple(sizes.items()))


@lru_cache(maxsize=256)
def _helpers(cls: Any, sizes: tuple[tuple[str, int], ...]) -> Helpers:
    shape, known = tree(cls, dict(sizes)), dict(sizes)
    space: dict[str, Any] = {f"C{each.number}": each.cls for each in shape.records}
    space["new"] = object.__new__
    source = copy_source(shape) + clone_source(shape) + pack_source(shape) + unpack_source(cls, known)
    exec(compile(source + helper_source(cls, known), f"<layout of {cls.__name__} {known}>", "exec"), space)
    return Helpers(**{name: space[name] for name in Helpers.__slots__})
