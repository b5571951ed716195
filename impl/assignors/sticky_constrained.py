"""The sticky assignment when all members subscribe to the same topics (``ConstrainedAssignmentBuilder``).

Every member gets the minimum or one more, and exactly as many members as needed get one more. Where racks do not
matter, no balanced assignment keeps more partitions where they were. Where they do (KIP-881), a member keeps only
near partitions, and a free one goes to a near member as long as one has capacity left; balance comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rebalance_check.impl.assignors.racks import Nearness
from rebalance_check.impl.assignors.sticky_owned import Ownership
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

Shares = dict[str, list[TopicPartition]]


@dataclass(slots=True)
class Constrained:
    """The result: what every member gets, and who receives each partition that another member may still hold."""

    assigned: Shares
    transferring: dict[TopicPartition, str] = field(default_factory=dict)


def assign_constrained(
    partitions: Sequence[TopicPartition],
    ownership: Ownership,
    nearness: Nearness | None = None,
) -> Constrained:
    """Keep as balance and racks allow, then deal the rest: to near members, then to those with capacity left."""
    nearness = nearness or Nearness()
    low, extra = divmod(len(partitions), len(ownership.owned))
    assigned, given_up = _keep(ownership, nearness, low, extra)
    kept = {tp for owned in assigned.values() for tp in owned}
    deal = _Deal(assigned, low, extra, nearness)
    deal.out(nearness.fewest_near_first(tp for tp in partitions if tp not in kept))
    transferring = {tp: taker for tp, taker in deal.takers.items() if given_up.get(tp, taker) != taker}
    transferring |= {tp: taker for tp, taker in deal.takers.items() if tp in ownership.disputed}
    _check_filled(assigned, low)
    return Constrained(assigned, transferring)


def _check_filled(assigned: Shares, low: int) -> None:
    """Kafka's last check: a member with fewer than ``low`` partitions is a mistake of the algorithm itself."""
    unfilled = [member for member, given in assigned.items() if len(given) < low]
    if unfilled:
        raise RebalanceCheckError(f"{', '.join(sorted(unfilled))} got fewer than {low} partitions: the deal is wrong")


def _keep(ownership: Ownership, nearness: Nearness, low: int, extra: int) -> tuple[Shares, dict[TopicPartition, str]]:
    """The partitions that every member keeps, by (number, topic), none far, and who gave up each other one."""
    kept: Shares = {}
    given_up: dict[TopicPartition, str] = {}
    for member, owned in sorted(ownership.owned.items()):
        ordered = sorted((tp for tp in owned if not nearness.far(member, tp)), key=lambda tp: (tp.partition, tp.topic))
        quota = low
        if extra > 0 and len(ordered) > low:
            quota, extra = low + 1, extra - 1
        kept[member] = ordered[:quota]
        given_up.update(dict.fromkeys(set(owned) - set(kept[member]), member))
    return kept, given_up


class _Deal:
    """Gives free partitions to members with capacity left: in turn to those below the minimum, then one more to some.

    The extra ones go to the members that have had the minimum for longest: first those that came with it, then in order
    of filling.
    """

    def __init__(self, assigned: Shares, low: int, extra: int, nearness: Nearness) -> None:
        self.takers: dict[TopicPartition, str] = {}
        self._assigned = assigned
        self._nearness = nearness
        self._low = low
        self._slots = extra - sum(len(given) > low for given in assigned.values())
        self._below = [member for member in sorted(assigned) if len(assigned[member]) < low]
        self._at_minimum = [member for member in sorted(assigned) if len(assigned[member]) == low]
        self._turn = 0

    def out(self, partitions: Sequence[TopicPartition]) -> None:
        """Deal all: to a near member where there is one, then in a second circle from the first member on."""
        far = [tp for tp in partitions if not self._to_near_member(tp)] if self._nearness.matters else partitions
        self._turn = 0
        for partition in far:
            if self._below:
                self._fill(partition, self._turn)
            else:
                self._one_more(partition, 0)

    def _to_near_member(self, partition: TopicPartition) -> bool:
        """Give it to a near member, the next in turn or else the first that may have one more; False if none."""
        for step in range(len(self._below)):
            place = (self._turn + step) % len(self._below)
            if self._nearness.near(self._below[place], partition):
                self._fill(partition, place)
                return True
        if self._slots > 0:
            for place, member in enumerate(self._at_minimum):
                if self._nearness.near(member, partition):
                    self._one_more(partition, place)
                    return True
        return False

    def _fill(self, partition: TopicPartition, place: int) -> None:
        """Towards the minimum of the member at a place in the circle, which leaves it when it is there."""
        member = self._below[place]
        self._give(partition, member)
        if len(self._assigned[member]) == self._low:
            self._at_minimum.append(self._below.pop(place))
        else:
            place += 1
        self._turn = place % len(self._below) if self._below else 0

    def _one_more(self, partition: TopicPartition, place: int) -> None:
        """Beyond the minimum, for which there is one slot less then."""
        self._slots -= 1
        self._give(partition, self._at_minimum.pop(place))

    def _give(self, partition: TopicPartition, member: str) -> None:
        self._assigned[member].append(partition)
        self.takers[partition] = member
