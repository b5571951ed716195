"""The moves of a balancing run, kept so that no two members merely swap partitions of a topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance_check.impl.protocol.java_order import PartitionSet
from rebalance_check.impl.protocol.topic_partition import TopicPartition


class Way(NamedTuple):
    """From the owner before the first move to the owner now."""

    origin: str
    now: str


@dataclass(slots=True)
class Moves:
    """The way of each partition that is not where it was (``PartitionMovements``)."""

    _ways: dict[TopicPartition, Way] = field(default_factory=dict)
    _on_the: dict[tuple[str, Way], PartitionSet] = field(default_factory=dict)

    def instead_of(self, partition: TopicPartition, now: str, target: str) -> TopicPartition:
        """The one to move to ``target``: the partition, unless one of its topic came the opposite way and can go home.

        Of several Kafka takes the one that its hash set lists first.
        """
        origin = self._ways[partition].origin if partition in self._ways else now
        opposite = self._on_the.get((partition.topic, Way(target, origin)))
        return opposite.first() if opposite else partition

    def record(self, partition: TopicPartition, now: str, target: str) -> None:
        """Remember the move from ``now``, or forget the partition when it came home."""
        before = self._forget(partition)
        origin = now if before is None else before.origin
        if origin != target:
            way = self._ways[partition] = Way(origin, target)
            self._on_the.setdefault((partition.topic, way), PartitionSet()).add(partition)

    def _forget(self, partition: TopicPartition) -> Way | None:
        way = self._ways.pop(partition, None)
        if way is not None:
            others = self._on_the[partition.topic, way]
            others.remove(partition)
            if not others:
                del self._on_the[partition.topic, way]
        return way
