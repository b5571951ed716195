"""Ownership: who holds a thing, since when, in which generation, by which right.

A thing is a partition, or a shard. A member *holds* it from the event that gave it until one that
takes it: revoked, lost, or the end of the process. A member is *current* in the generation that it spoke for
last, until it learns that it belongs to none, ends, or the coordinator's events show it removed. A
zombie may hold things without violation. `Holdings` keeps both; a rule is asked when a member comes to hold
things in a generation, by whichever of the two events comes last.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberJoined,
    PartitionsAssigned,
)
from rebalance_check.properties.engines.form import form
from rebalance_check.properties.engines.rules import Findings, Rule
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.views.holdings import Holdings

GRANTS: tuple[type[Event], ...] = (MemberJoined, PartitionsAssigned, AssignmentCompleted)
"""The events by which it becomes known that a member holds something in a generation."""


def ownership(rule: Rule) -> Callable[[Invariant], Fold]:
    """An invariant about owners: ``rule`` takes the holder, the things that it came to hold, the event, `Holdings`."""

    def granted(event: Event, holdings: Holdings) -> Findings:
        return rule(*holdings.granted, event, holdings) if holdings.granted is not None else None

    return form(dict.fromkeys(GRANTS, granted), views=(Holdings,))
