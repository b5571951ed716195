"""An assignment problem as its leader sees it, and the answer of an assignor: plain data, equal for every language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import msgspec

Partition = tuple[str, int]
"""A topic and a number from 0."""

RANGE: Final = "range"
ROUNDROBIN: Final = "roundrobin"
STICKY: Final = "sticky"
COOPERATIVE_STICKY: Final = "cooperative-sticky"
ASSIGNORS: Final = (RANGE, ROUNDROBIN, STICKY, COOPERATIVE_STICKY)
STICKY_FAMILY: Final = frozenset({STICKY, COOPERATIVE_STICKY})


@dataclass(frozen=True, slots=True)
class Member:
    """The subscription of one member.

    ``generation`` is that of its claims, None when it does not say; ``owned`` may be anything that bytes can say.
    """

    topics: tuple[str, ...] = ()
    owned: tuple[Partition, ...] = ()
    generation: int | None = None
    instance: str | None = None
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """The topics that have metadata, the members in the order of the leader's map, and racks where they are known.

    ``racks`` holds for a topic the racks of each partition's replicas, as many entries as it has partitions.
    """

    topics: Mapping[str, int]
    members: Mapping[str, Member]
    racks: Mapping[str, tuple[tuple[str, ...], ...]] | None = None

    def generation(self, member: str) -> int:
        """The generation of a member's claims; -1, older than any, when it does not say."""
        said = self.members[member].generation
        return -1 if said is None else said

    def exists(self, partition: Partition) -> bool:
        """Whether the cluster has the partition."""
        return 0 <= partition[1] < self.topics.get(partition[0], 0)

    def wanted(self) -> frozenset[Partition]:
        """The existing partitions of topics that a member subscribes to."""
        topics = {topic for member in self.members.values() for topic in member.topics}
        return frozenset((topic, n) for topic in topics for n in range(self.topics.get(topic, 0)))

    def subscribed_alike(self) -> bool:
        """Whether all members subscribe to the same topics, and to one at least."""
        different = {frozenset(member.topics) for member in self.members.values()}
        return len(different) == 1 and different != {frozenset()}

    def sensible(self) -> Problem:
        """The same without claims that mean nothing, and with members that subscribe to nothing at the end.

        A partition that does not exist cannot be owned, and any other is owned once, however often it is named.
        """
        members = {
            name: replace(member, owned=tuple(tp for tp in dict.fromkeys(member.owned) if self.exists(tp)))
            for name, member in sorted(self.members.items(), key=lambda one: not one[1].topics)
        }
        return replace(self, members=members)

    def claimants(self) -> dict[Partition, list[str]]:
        """The members that claim each existing partition."""
        found: dict[Partition, list[str]] = {}
        for name, member in self.members.items():
            for partition in sorted(set(member.owned)):
                if self.exists(partition):
                    found.setdefault(partition, []).append(name)
        return found

    def owners(self) -> dict[Partition, str]:
        """The owner to believe: the only claimant, or the only one of the highest generation (KIP-792)."""
        owners: dict[Partition, str] = {}
        for partition, names in self.claimants().items():
            highest = max(self.generation(name) for name in names)
            newest = [name for name in names if self.generation(name) == highest]
            if len(newest) == 1:
                owners[partition] = newest[0]
        return owners


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of an assignor: everybody's partitions in its order, or how it failed.

    ``failure`` is empty when it answered, else the error that it threw, or for how long it was silent.
    """

    assigned: Mapping[str, tuple[Partition, ...]]
    failure: str = ""

    def counts(self) -> Counter[Partition]:
        """How often each partition was given."""
        return Counter(chain.from_iterable(self.assigned.values()))

    def receivers(self) -> dict[Partition, str]:
        """A member that was given the partition."""
        return {partition: name for name, partitions in self.assigned.items() for partition in partitions}


def partition_name(partition: Partition) -> str:
    """As Kafka prints it: ``topic-0``."""
    return f"{partition[0]}-{partition[1]}"


def problem_json(problem: Problem) -> str:
    """The problem as ``rebalance-check assignors --input`` takes it: one line of JSON, without what is empty."""
    data = msgspec.to_builtins(problem)
    data["members"] = {
        name: {key: value for key, value in member.items() if value not in (None, [], ())}
        for name, member in data["members"].items()
    }
    if data["racks"] is None:
        del data["racks"]
    return msgspec.json.encode(data).decode()
