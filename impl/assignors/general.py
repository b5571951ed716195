"""The sticky assignment when members subscribe to different topics (``GeneralAssignmentBuilder``, no racks).

Start from what everybody owned, place what is free with the least loaded, then move partitions from fuller to emptier
members for as long as a single move helps. Every move narrows the gap between two members, so it ends, and Kafka's
last step (take everything back if the balance score did not drop) never has anything to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from rebalance_check.impl.assignors.claims import Ownership
from rebalance_check.impl.topic_partition import TopicPartition


def assign_general(
    partitions: Sequence[TopicPartition],
    subscribers: Mapping[str, Sequence[str]],
    ownership: Ownership,
    defects: frozenset[str] = frozenset(),
) -> dict[str, list[TopicPartition]]:
    """``subscribers`` are the members eligible for each topic; a topic without any must not be in ``partitions``."""
    kept = _kept(subscribers, ownership, defects)
    owner = {tp: member for member, owned in kept.items() for tp in owned}
    board = _Board(subscribers, owner, sorted(kept), defects)
    ordered = sorted(partitions, key=lambda tp: (len(subscribers[tp.topic]), tp))
    free = [tp for tp in ordered if tp not in board.owner]
    for partition in free:
        board.place(partition, board.least_loaded(partition))
    placed = board.standing()
    if all(len(kept[member]) == len(owned) for member, owned in ownership.owned.items()):
        board.balance(free, ownership.earlier)
    board.balance(ordered, ownership.earlier)
    board.undo_unless_better(placed)
    if "cooperative-sacrifices-stickiness-third-rebalance" in defects:
        board.move_for_nothing(ordered)
    return board.assigned()


def _kept(
    subscribers: Mapping[str, Sequence[str]], ownership: Ownership, defects: frozenset[str]
) -> dict[str, list[TopicPartition]]:
    """What everybody owned, without the topics that it no longer subscribes to."""
    if "sticky-keeps-unsubscribed-topic" in defects:
        return {member: [tp for tp in owned if subscribers[tp.topic]] for member, owned in ownership.owned.items()}
    return {
        member: [tp for tp in owned if member in subscribers[tp.topic]] for member, owned in ownership.owned.items()
    }


@dataclass(slots=True)
class _Moves:
    """Where each partition that was moved came from and where it is, as (origin, now)."""

    ways: dict[TopicPartition, tuple[str, str]] = field(default_factory=dict)

    def origin(self, partition: TopicPartition, now: str) -> str:
        """Where the partition was before its first move."""
        return self.ways[partition][0] if partition in self.ways else now

    def counterpart(self, topic: str, origin: str, target: str) -> TopicPartition | None:
        """A partition of ``topic`` that went the opposite way, from ``target`` to ``origin``."""
        opposite = (tp for tp, way in self.ways.items() if way == (target, origin) and tp.topic == topic)
        return min(opposite, default=None)

    def record(self, partition: TopicPartition, origin: str, target: str) -> None:
        """Remember the move, or forget the partition when it came home."""
        self.ways.pop(partition, None)
        if origin != target:
            self.ways[partition] = (origin, target)


class Standing(NamedTuple):
    """Who owns what at a moment, and the balance score then."""

    owner: dict[TopicPartition, str]
    score: int


class _Board:
    """Who owns what while it changes."""

    def __init__(
        self,
        subscribers: Mapping[str, Sequence[str]],
        owner: dict[TopicPartition, str],
        members: Iterable[str],
        defects: frozenset[str],
    ) -> None:
        self.owner = dict(owner)
        self._defects = defects
        self._subscribers = subscribers
        self._load = dict.fromkeys(members, 0)
        self._moves = _Moves()
        for member in owner.values():
            self._load[member] += 1

    def assigned(self) -> dict[str, list[TopicPartition]]:
        """Everybody's partitions."""
        lists: dict[str, list[TopicPartition]] = {member: [] for member in self._load}
        for partition, member in sorted(self.owner.items()):
            lists[member].append(partition)
        return lists

    def standing(self) -> Standing:
        """Who owns what now, and how uneven that is."""
        return Standing(dict(self.owner), self._score())

    def _score(self) -> int:
        """The sum of the differences between every two members (``getBalanceScore``): 0 is perfect."""
        gaps = [abs(one - other) for one, other in combinations(self._load.values(), 2)]
        if "librdkafka-balance-score-overwritten" in self._defects:
            return gaps[-1] if gaps else 0
        return sum(gaps)

    def undo_unless_better(self, before: Standing) -> None:
        """Kafka's last step: all stands as it stood ``before`` where moving made nothing more even."""
        if self.owner != before.owner and self._score() >= before.score:
            self.owner = before.owner

    def move_for_nothing(self, movable: Sequence[TopicPartition]) -> None:
        """Once through all: what leaves a member with one more goes, though the numbers stay what they are."""
        for partition in movable:
            target = self.least_loaded(partition)
            if self._load[self.owner[partition]] > self._load[target]:
                self.place(partition, target)

    def least_loaded(self, partition: TopicPartition) -> str:
        """The eligible member with the fewest partitions, the smallest id among equals."""
        return min(self._subscribers[partition.topic], key=lambda member: (self._load[member], member))

    def place(self, partition: TopicPartition, member: str) -> None:
        """Give a partition to a member, taking it from its owner."""
        if partition in self.owner:
            self._load[self.owner[partition]] -= 1
        self.owner[partition] = member
        self._load[member] += 1

    def balance(self, movable: Sequence[TopicPartition], earlier: Mapping[TopicPartition, str]) -> None:
        """Move single partitions until no move of one of them narrows a gap any more."""
        moved = True
        while moved:
            moved = False
            for partition in movable:
                target = self._better(partition, earlier)
                if target is not None:
                    self._move(partition, target)
                    moved = True
                elif "librdkafka-sticky-index-shadowing-loop" in self._defects:
                    moved = moved or len(self._subscribers[partition.topic]) < len(self._load)

    def _better(self, partition: TopicPartition, earlier: Mapping[TopicPartition, str]) -> str | None:
        """A member at least two partitions emptier than the owner: its earlier owner if that is one."""
        load = self._load[self.owner[partition]]
        eligible = self._subscribers[partition.topic]
        before = earlier.get(partition)
        if before in eligible and before is not None and load > self._load[before] + 1:
            return before
        target = self.least_loaded(partition)
        return target if load > self._load[target] + 1 else None

    def _move(self, partition: TopicPartition, target: str) -> None:
        """Move the partition, unless another one of its topic came the opposite way: then both go home.

        The loads come out the same, and no two members have merely swapped partitions of a topic.
        """
        origin = self._moves.origin(partition, self.owner[partition])
        counterpart = self._moves.counterpart(partition.topic, origin, target)
        if counterpart is None:
            self._carry(partition, origin, target)
        else:
            self._carry(counterpart, target, target)
            self._carry(partition, origin, origin)

    def _carry(self, partition: TopicPartition, origin: str, target: str) -> None:
        self._moves.record(partition, origin, target)
        self.place(partition, target)
