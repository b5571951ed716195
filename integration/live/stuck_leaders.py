"""Leaders that stay in their join for ever, as kafka-python's may: the events that show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    CoordinatorFound,
    Event,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    PartitionsLost,
    PartitionsRevoked,
)

IDLE: Final = (OffsetCommitted, CoordinatorFound)
"""The events that such a member still has: it is polled, and tries to commit for its former partitions."""

CLOSING: Final = (PartitionsRevoked, PartitionsLost, MemberLeft)
"""The effects of closing it, in this order."""


def stuck_leaders(events: Sequence[Event], at: int) -> frozenset[str]:
    """The members that, when ``events[at]`` happened, had computed an assignment as leaders and were to do nothing
    more until they ended: neither complete that rebalance nor begin another."""
    names = {event.member for event in events[:at] if isinstance(event, MemberStarted)}
    return frozenset(name for name in names if _computed_last(_process_at(events, name, at)))


def _process_at(events: Sequence[Event], name: str, at: int) -> tuple[list[Event], list[Event]]:
    """The events of the process that a member had at ``at``: before, and afterwards."""
    before = [event for event in events[:at] if event.source == name]
    starts = [index for index, event in enumerate(before) if isinstance(event, MemberStarted)]
    later = takewhile(lambda event: not isinstance(event, MemberStarted), _of(events[at:], name))
    return before[starts[-1] :], list(later)


def _of(events: Sequence[Event], name: str) -> Iterator[Event]:
    return (event for event in events if event.source == name)


def _computed_last(process: tuple[list[Event], list[Event]]) -> bool:
    before, later = ([event for event in part if not isinstance(event, IDLE)] for part in process)
    ending = [type(event) for event in later]
    in_order = ending == [kind for kind in CLOSING if kind in ending]
    return isinstance(before[-1], AssignmentComputed) and in_order and ending[-1:] in ([], [MemberLeft])
