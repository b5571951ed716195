"""Partitions without an owner, as a cooperative group leaves them where a member claims lost partitions.

The leader takes a claim for ownership, and withholds the partition from the others until the member revokes it. A
member that has lost the partition already revokes nothing, so no rebalance follows that would hand it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    TopicsDescribed,
)

COOPERATIVE: Final = "cooperative"


def are_withheld(events: Sequence[Event], at: int, members: frozenset[str]) -> bool:
    """Whether, when ``events[at]`` happened, each partition that none of a group's cooperative members owned was one
    that one of these ``members`` had lost, and that no member was assigned since; and there was such a partition."""
    everything, lost, owned = set[str](), set[str](), dict[str, set[str]]()
    for event in events[:at]:
        match event:
            case TopicsDescribed():
                everything = set(event.partitions)
            case MemberStarted(protocol=protocol) if protocol != COOPERATIVE:
                return False
            case MemberStarted():
                owned[event.member] = set()
            case PartitionsLost():
                owned[event.member] = set()
                lost |= set(event.partitions) if event.member in members else set()
            case PartitionsAssigned():
                lost -= set(event.partitions)
            case AssignmentCompleted():
                owned[event.member] = set(event.owned)
            case _:
                pass
    free = everything.difference(*owned.values())
    return bool(free) and free <= lost
