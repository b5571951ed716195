"""Orders that Kafka inherits from Java, and that bytes on the wire and choices among equals therefore depend on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from rebalance_check.impl.protocol.topic_partition import TopicPartition

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
    return _bucket_order(distinct, _grown_table(len(distinct)))


def partition_hash(partition: TopicPartition) -> int:
    """``TopicPartition.hashCode`` as an unsigned 32-bit number."""
    return (31 * (31 + partition.partition) + string_hash(partition.topic)) & _INT_MASK


class PartitionSet:
    """A ``HashSet`` of partitions, for the order in which it is iterated; its table grows and never shrinks."""

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, None] = {}
        self._table = _TABLE_MIN

    def __len__(self) -> int:
        return len(self._partitions)

    def add(self, partition: TopicPartition) -> None:
        """Put one that is not in the set."""
        self._partitions[partition] = None
        self._table = max(self._table, _grown_table(len(self._partitions)))

    def remove(self, partition: TopicPartition) -> None:
        """Take one out that is in the set."""
        del self._partitions[partition]

    def first(self) -> TopicPartition:
        """The first element in the iteration of a set that is not empty."""
        return min(self._partitions, key=lambda one: _bucket(partition_hash(one), self._table))


def _grown_table(entries: int) -> int:
    """The table of a hash map that got so many entries one by one."""
    table = _TABLE_MIN
    while entries > table * _LOAD_FACTOR:
        table *= 2
    return table


def _bucket_order(values: Iterable[str], table: int) -> list[str]:
    """By bucket, then by insertion: the sort is stable, and Java's resize keeps the order within a bucket."""
    return sorted(dict.fromkeys(values), key=lambda value: _bucket(string_hash(value), table))


def _bucket(hash_code: int, table: int) -> int:
    return _spread(hash_code) & (table - 1)


def _spread(value: int) -> int:
    return value ^ (value >> 16)


def _power_of_two(at_least: int) -> int:
    return 1 << (at_least - 1).bit_length()
