"""The owners while a general sticky assignment comes about: loads, the search for the least loaded, single moves."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from rebalance_check.impl.assignors.racks import Nearness
from rebalance_check.impl.assignors.sticky_moves import Moves
from rebalance_check.impl.protocol.topic_partition import TopicPartition


class Snapshot(NamedTuple):
    """The owners at one point of the computation, and the balance score then."""

    owner: dict[TopicPartition, str]
    score: int


class Board:
    """The partitions on their way to their owners. ``kept`` are those that have one, for every member of the group."""

    def __init__(self, subscribers: Mapping[str, Sequence[str]], kept: Mapping[str, Sequence[TopicPartition]]) -> None:
        self.owner = {tp: member for member, owned in kept.items() for tp in owned}
        self._eligible = {topic: frozenset(members) for topic, members in subscribers.items()}
        self._sharing = sorted({one for members in subscribers.values() if len(members) > 1 for one in members})
        self._load = dict.fromkeys(sorted(kept), 0)
        self._moves = Moves()
        for member in self.owner.values():
            self._load[member] += 1
        self._by_load = sorted((load, member) for member, load in self._load.items())

    def assigned(self) -> dict[str, list[TopicPartition]]:
        """The partitions of every member."""
        lists: dict[str, list[TopicPartition]] = {member: [] for member in self._load}
        for partition, member in sorted(self.owner.items()):
            lists[member].append(partition)
        return lists

    def snapshot(self) -> Snapshot:
        """The present owners, and how uneven they are."""
        return Snapshot(dict(self.owner), self._score())

    def undo_unless_better(self, before: Snapshot) -> None:
        """Kafka's last step: all stands as it stood ``before`` where moving made nothing more even."""
        if self._score() >= before.score:
            self.owner = before.owner

    def _score(self) -> int:
        """The sum of the differences between every two members (``getBalanceScore``): 0 is perfect.

        A member that shares no topic with another has no part in it.
        """
        gaps = [abs(one - other) for one, other in combinations((self._load[each] for each in self._sharing), 2)]
        return sum(gaps)

    def least_loaded(self, partition: TopicPartition, nearness: Nearness) -> str | None:
        """The subscriber with the fewest partitions of those that are not far, the smallest id among equals."""
        return next((one for one in self._takers(partition) if not nearness.far(one, partition)), None)

    def least_loaded_of_all(self, partition: TopicPartition) -> str:
        """The subscriber with the fewest partitions, wherever it is; there is one."""
        return next(self._takers(partition))

    def _takers(self, partition: TopicPartition) -> Iterator[str]:
        eligible = self._eligible[partition.topic]
        return (member for _, member in self._by_load if member in eligible)

    def place(self, partition: TopicPartition, member: str) -> None:
        """Give a partition to a member, taking it from its owner."""
        if partition in self.owner:
            self._change(self.owner[partition], -1)
        self.owner[partition] = member
        self._change(member, 1)

    def _change(self, member: str, by: int) -> None:
        self._by_load.remove((self._load[member], member))
        self._load[member] += by
        insort(self._by_load, (self._load[member], member))

    def balance(self, movable: Sequence[TopicPartition], earlier: Mapping[TopicPartition, str]) -> bool:
        """Move single partitions until no move of one of them narrows a gap any more; whether one was moved."""
        moved = False
        while self._once_through(movable, earlier):
            moved = True
        return moved

    def _once_through(self, movable: Iterable[TopicPartition], earlier: Mapping[TopicPartition, str]) -> bool:
        moved = False
        for partition in movable:
            target = self._better(partition, earlier)
            if target is not None:
                self._move(partition, target)
                moved = True
        return moved

    def _better(self, partition: TopicPartition, earlier: Mapping[TopicPartition, str]) -> str | None:
        """A member at least two partitions emptier than the owner: its earlier owner if that is one.

        An earlier owner must still subscribe to the topic, which Kafka forgets to check.
        """
        load = self._load[self.owner[partition]]
        before = earlier.get(partition)
        if before is not None and before in self._eligible[partition.topic] and load > self._load[before] + 1:
            return before
        target = self.least_loaded_of_all(partition)
        return target if load > self._load[target] + 1 else None

    def _move(self, partition: TopicPartition, target: str) -> None:
        """Move the partition, or send one of its topic home that came the opposite way."""
        moving = self._moves.instead_of(partition, self.owner[partition], target)
        self._moves.record(moving, self.owner[moving], target)
        self.place(moving, target)
