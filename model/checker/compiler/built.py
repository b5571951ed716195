"""A compiled program as it stands in the cache: machine code, and the facts by which Python calls it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

from rebalance_check.model.checker.compiler.subset import Parameter
from rebalance_check.model.checker.compiler.types import Array, Number

ENTRY_POINTS: Final = ("begin", "expand", "absorb", "rehash", "survey")
"""The functions that Python calls."""

ARRAY: Final = "array"
COUNTED: Final = "counted"

LENGTH_BYTES: Final = 4


class Built(NamedTuple):
    """A compiled program.

    ``functions`` are the names by the numbers that ``@fault`` has. ``entries`` has the parameters of each function that
    can be called: the kind of a number (`types.Number`), ``array``, or ``counted`` for an array with its length.
    """

    functions: Sequence[str]
    entries: Mapping[str, Sequence[str]]
    code: bytes

    def to_bytes(self) -> bytes:
        """As an entry of the cache."""
        parts = json.dumps([self.functions, self.entries]).encode()
        return len(parts).to_bytes(LENGTH_BYTES, "little") + parts + self.code

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """An entry of the cache."""
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        functions, entries = json.loads(data[LENGTH_BYTES:end])
        return cls(functions, entries, data[end:])


def kind_of(parameter: Parameter) -> str:
    """How `Built.entries` describes a parameter."""
    if isinstance(parameter.type, Number):
        return parameter.type
    return COUNTED if isinstance(parameter.type, Array) and parameter.type.length is None else ARRAY
