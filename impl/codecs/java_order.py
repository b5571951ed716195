"""Two orders that Kafka's writers inherit from Java and that bytes on the wire therefore depend on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

_TABLE_MIN: Final = 16
_LOAD_FACTOR: Final = 0.75
_INT_MASK: Final = 0xFFFFFFFF


def utf16_key(text: str) -> bytes:
    """A sort key that orders like ``String.compareTo``: by UTF-16 code unit, not by code point."""
    return text.encode("utf-16-be", "surrogatepass")


def string_hash(text: str) -> int:
    """``String.hashCode`` as an unsigned 32-bit number."""
    units = utf16_key(text)
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & _INT_MASK
    return value


def hash_set_order(values: Collection[str]) -> list[str]:
    """The distinct values in the order in which ``new HashSet<>(values)`` is iterated."""
    capacity = max(int(len(values) / _LOAD_FACTOR) + 1, _TABLE_MIN)
    return _bucket_order(values, _power_of_two(capacity))


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """The distinct keys in the order in which a ``HashMap`` that grew by single puts is iterated."""
    distinct = dict.fromkeys(keys)
    table = _TABLE_MIN
    while len(distinct) > table * _LOAD_FACTOR:
        table *= 2
    return _bucket_order(distinct, table)


def _bucket_order(values: Iterable[str], table: int) -> list[str]:
    """By bucket, then by insertion: the sort is stable, and Java's resize keeps the order within a bucket."""
    return sorted(dict.fromkeys(values), key=lambda value: _spread(string_hash(value)) & (table - 1))


def _spread(value: int) -> int:
    return value ^ (value >> 16)


def _power_of_two(at_least: int) -> int:
    return 1 << (at_least - 1).bit_length()
