"""Ownership: who holds a thing, since when, in which generation, by which right.

A thing is a partition, a connector, a task, a shard. A member *holds* it from the event that gave it until one that
takes it: revoked, lost, stopped, or the end of the process. A member is *current* in the generation that it spoke for
last, until it learns that it belongs to none, ends, or the coordinator's events show it removed. A
zombie may hold things without violation. `Holdings` keeps both; a rule is asked when a member comes to hold
things in a generation, by whichever of the two events comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    ConnectorStarted,
    Event,
    MemberJoined,
    PartitionsAssigned,
    TaskStarted,
)
from rebalance_check.properties.engines.form import FormFold
from rebalance_check.properties.engines.rules import Findings, Rule, Views
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.views.holdings import Holdings

GRANTS: tuple[type[Event], ...] = (
    MemberJoined,
    PartitionsAssigned,
    AssignmentCompleted,
    ConnectorStarted,
    TaskStarted,
)
"""The events by which it becomes known that a member holds something in a generation."""


def ownership(
    rule: Rule, *, also: Mapping[type[Event], Rule] | None = None, views: Views = ()
) -> Callable[[Invariant], Fold]:
    """An invariant about owners.

    ``rule`` takes the holder, the things that it came to hold, and the event; ``also`` has rules for
    further events. Rules of both kinds are given `Holdings` and the further ``views``.
    """

    def granted(event: Event, holdings: Holdings, *others: object) -> Findings:
        if holdings.granted is None:
            return None
        holder, things = holdings.granted
        return rule(holder, things, event, holdings, *others)

    def fold(invariant: Invariant) -> Fold:
        return FormFold(invariant, {**dict.fromkeys(GRANTS, granted), **(also or {})}, (Holdings, *views))

    return fold
