"""The sticky assignment when members subscribe to different topics (``GeneralAssignmentBuilder``).

Start from the owned partitions, minus those far from the owner's rack (KIP-881); place the free ones with the least
loaded, first among those that are not far; then move partitions from fuller to emptier members for as long as a single
move helps. Balance comes before racks: that last step does not look at them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalance_check.impl.assignors.racks import Nearness
from rebalance_check.impl.assignors.sticky_balance import Board
from rebalance_check.impl.assignors.sticky_owned import Ownership
from rebalance_check.impl.protocol.topic_partition import TopicPartition

Subscribers = Mapping[str, Sequence[str]]


def assign_general(
    partitions: Sequence[TopicPartition],
    subscribers: Subscribers,
    ownership: Ownership,
    nearness: Nearness | None = None,
) -> dict[str, list[TopicPartition]]:
    """``subscribers`` are the members eligible for each topic; a topic without any must not be in ``partitions``."""
    nearness = nearness or Nearness()
    kept = _kept(subscribers, ownership, nearness)
    board = Board(subscribers, kept)
    ordered = sorted(partitions, key=lambda tp: (len(subscribers[tp.topic]), tp))
    free = [tp for tp in ordered if tp not in board.owner]
    _place(board, free, nearness)
    nothing_given_up = all(len(kept[member]) == len(owned) for member, owned in ownership.owned.items())
    placed = board.snapshot()
    if nothing_given_up:
        board.balance(free, ownership.earlier)
    moved = board.balance(ordered, ownership.earlier)
    if moved and any(kept.values()):
        board.undo_unless_better(placed)
    return board.assigned()


def _kept(subscribers: Subscribers, ownership: Ownership, nearness: Nearness) -> dict[str, list[TopicPartition]]:
    """Every member's owned partitions, without topics that it no longer subscribes to and without those far from it."""

    def keeps(member: str, partition: TopicPartition) -> bool:
        return member in subscribers[partition.topic] and not nearness.far(member, partition)

    return {member: [tp for tp in owned if keeps(member, tp)] for member, owned in ownership.owned.items()}


def _place(board: Board, free: Sequence[TopicPartition], nearness: Nearness) -> None:
    """Each to its least loaded subscriber that is not far; a partition far from all of them last, to any."""
    leftovers: list[TopicPartition] = []
    for partition in free:
        taker = board.least_loaded(partition, nearness)
        if taker is None:
            leftovers.append(partition)
        else:
            board.place(partition, taker)
    for partition in leftovers:
        board.place(partition, board.least_loaded_of_all(partition))
