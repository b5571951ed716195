"""The sticky assignment when all members subscribe to the same topics (``ConstrainedAssignmentBuilder``, no racks).

Everybody gets the minimum or one more, exactly as many members as needed get one more, and no balanced assignment
keeps more partitions where they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rebalance_check.impl.assignors.claims import Ownership
from rebalance_check.impl.topic_partition import TopicPartition
from rebalance_check.model.errors import RebalanceCheckError


@dataclass(slots=True)
class Constrained:
    """The result: what everybody gets, and who receives each partition that another member may still hold."""

    assigned: dict[str, list[TopicPartition]]
    transferring: dict[TopicPartition, str] = field(default_factory=dict)


def assign_constrained(
    partitions: Sequence[TopicPartition], ownership: Ownership, defects: frozenset[str] = frozenset()
) -> Constrained:
    """Keep what balance allows, then deal the rest: first to those below the minimum, then the extra ones."""
    low, extra = divmod(len(partitions), len(ownership.owned))
    assigned, given_up = _keep(ownership, low, extra)
    kept = {tp for owned in assigned.values() for tp in owned}
    result = Constrained(assigned)
    free = (tp for tp in partitions if tp not in kept)
    for partition, taker in zip(free, _takers(assigned, low, extra), strict=False):
        assigned[taker].append(partition)
        if given_up.get(partition, taker) != taker or partition in ownership.disputed:
            result.transferring[partition] = taker
    _check_filled(assigned, low, extra, defects)
    return result


def _check_filled(assigned: dict[str, list[TopicPartition]], low: int, extra: int, defects: frozenset[str]) -> None:
    """Kafka's last look: whoever could have had more and did not get it is a mistake of the algorithm's own."""
    full = low + 1 if extra and "sticky-quota-unfilled-after-max-reached" in defects else low
    unfilled = [member for member, given in assigned.items() if len(given) < full]
    if unfilled:
        raise RebalanceCheckError(f"{', '.join(sorted(unfilled))} got fewer than {full} partitions: the deal is wrong")


def _keep(
    ownership: Ownership, low: int, extra: int
) -> tuple[dict[str, list[TopicPartition]], dict[TopicPartition, str]]:
    """What everybody keeps, by (number, topic), and who gave up each of the other owned partitions."""
    kept: dict[str, list[TopicPartition]] = {}
    given_up: dict[TopicPartition, str] = {}
    for member, owned in sorted(ownership.owned.items()):
        ordered = sorted(owned, key=lambda tp: (tp.partition, tp.topic))
        quota = low
        if extra > 0 and len(ordered) > low:
            quota, extra = low + 1, extra - 1
        kept[member] = ordered[:quota]
        given_up.update(dict.fromkeys(ordered[quota:], member))
    return kept, given_up


def _takers(assigned: dict[str, list[TopicPartition]], low: int, extra: int) -> Iterable[str]:
    """Who takes the next free partition, for as long as there are any: counts as they are when it is asked.

    The extra ones go to who has had the minimum for longest: first those that came with it, then in order of filling.
    """
    members = sorted(assigned)
    missing = {member: low - len(assigned[member]) for member in members}
    candidates = [member for member in members if missing[member] == 0]
    slots = extra - sum(count < 0 for count in missing.values())
    for _ in range(max(missing.values(), default=0)):
        for member in members:
            if missing[member] > 0:
                missing[member] -= 1
                candidates += [member] if missing[member] == 0 else []
                yield member
    yield from candidates[: max(slots, 0)]
