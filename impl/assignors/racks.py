"""A member is near to the partitions that have a replica in its rack (KIP-881)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from rebalance_check.impl.assignors.assignor import Racks
from rebalance_check.impl.protocol.consumer_protocol import Subscription
from rebalance_check.impl.protocol.topic_partition import TopicPartition


def racks_matter(known: Collection[str], replicas: Collection[frozenset[str]]) -> bool:
    """Whether some member's rack, of those ``known``, holds replicas, and not every partition has them in all racks."""
    everywhere = frozenset[str]().union(*replicas)
    return not everywhere.isdisjoint(known) and any(racks != everywhere for racks in replicas)


@dataclass(frozen=True, slots=True)
class Nearness:
    """The racks of members and replicas; both are empty where racks do not matter, and then no member is near or far.

    A member without a rack is never near and never far.
    """

    rack_of: Mapping[str, str] = field(default_factory=dict)
    replicas: Mapping[TopicPartition, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, partitions: Sequence[TopicPartition], subscriptions: Mapping[str, Subscription], racks: Racks | None
    ) -> Self:
        """Nearness by the racks of members and of replicas of ``partitions``, if it matters to any of them."""
        rack_of = {member: one.rack for member, one in subscriptions.items() if one.rack}
        replicas = {tp: _replicas(tp, racks or {}) for tp in partitions}
        return cls(rack_of, replicas) if racks_matter(set(rack_of.values()), set(replicas.values())) else cls()

    @property
    def matters(self) -> bool:
        """Whether anything depends on racks."""
        return bool(self.rack_of)

    def near(self, member: str, partition: TopicPartition) -> bool:
        """Whether the member has a rack with a replica."""
        return self.rack_of.get(member) in self.replicas.get(partition, ())

    def far(self, member: str, partition: TopicPartition) -> bool:
        """Whether the member has a rack without a replica."""
        return member in self.rack_of and not self.near(member, partition)

    def fewest_near_first(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Partitions with few members near to a replica first, as they have the least choice; else as they come."""
        residents = Counter(self.rack_of.values())

        def choice(partition: TopicPartition) -> int:
            return sum(residents[rack] for rack in self.replicas.get(partition, ()))

        return sorted(partitions, key=choice)


def _replicas(partition: TopicPartition, racks: Racks) -> frozenset[str]:
    known = racks.get(partition.topic, ())
    return frozenset(known[partition.partition]) if partition.partition < len(known) else frozenset()
