"""A compiled program as it stands in the cache: machine code, and what Python must know to call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Self

import msgspec

from rebalance_check.model.checker.compiler.tree import Parameter
from rebalance_check.model.checker.compiler.types import Array, Number

ENTRY_POINTS: Final = ("begin", "level", "expand", "absorb", "rehash", "fingerprints", "survey")
"""What Python calls."""

ARRAY: Final = "array"
COUNTED: Final = "counted"

LENGTH_BYTES: Final = 4


class Parts(msgspec.Struct, frozen=True):
    """What stands before the machine code.

    ``functions`` are the names by the numbers that ``@fault`` has. ``entries`` has the parameters of each function that
    can be called: the kind of a number (`types.Number`), ``array``, or ``counted`` for an array with its length.
    """

    functions: Sequence[str]
    entries: Mapping[str, Sequence[str]]


class Built(msgspec.Struct, frozen=True):
    """A compiled program."""

    parts: Parts
    code: bytes

    def to_bytes(self) -> bytes:
        """As an entry of the cache."""
        parts = msgspec.json.encode(self.parts)
        return len(parts).to_bytes(LENGTH_BYTES, "little") + parts + self.code

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """An entry of the cache."""
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        return cls(msgspec.json.decode(data[LENGTH_BYTES:end], type=Parts), data[end:])


def kind_of(parameter: Parameter) -> str:
    """How `Parts` describes a parameter."""
    if isinstance(parameter.type, Number):
        return parameter.type
    return COUNTED if isinstance(parameter.type, Array) and parameter.type.length is None else ARRAY
