"""A leader moves partitions only for a cause."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    Event,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SimulatedFold

FUNCTIONS: Final = frozenset({"range", "roundrobin"})
"""The assignors whose answer depends on members, topics and partitions alone."""
ROUNDS: Final = 2
"""So many rounds may pass until a leader knows what a member wants that has sent its JoinGroup."""
COOPERATIVE_STICKY: Final = "cooperative-sticky"
"""The assignor whose members say what they have."""
STICKY: Final = "sticky"
"""The assignor whose members say what they were assigned last, as they have nothing when they join."""


class ReassignmentHasACauseViolated(Violation):
    """A leader moved partitions in a group in which nothing had changed."""


class _Moves(SimulatedFold):
    bookkeeping = frozenset({SubscriptionChanged, RequestSent})
    needs = ((RunStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            SubscriptionChanged: self.on_change,
            RequestSent: self.on_sent,
            AssignmentComputed: self.on_computed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._before: AssignmentComputed | None = None
        self._changed: set[str] = set()
        self._unsettled = 0

    def on_change(self, event: SubscriptionChanged) -> None:
        """It wants other topics, and says so when it joins."""
        self._changed.add(event.member)

    def on_sent(self, event: RequestSent) -> None:
        """The leader may learn of it in this round or, if that is under way already, in the next."""
        if event.api == Api.JOIN_GROUP and event.member in self._changed:
            self._changed.discard(event.member)
            self._unsettled = ROUNDS

    def on_computed(self, event: AssignmentComputed) -> None:
        """The same members with the same topics, which have what they were assigned: they are assigned it again."""
        before, self._before = self._before, event
        if self._changed or self._unsettled:
            self._unsettled = max(0, self._unsettled - 1)
            self._before = None
        if before is None or self._before is None or not self.run.is_simulated or before.protocol != event.protocol:
            return
        had, has = _sorted(before), _sorted(event)
        if had.keys() != has.keys() or _all(had) != _all(has) or not _may_compare(before, event):
            return
        self.compared = (self.compared or 0) + 1
        if moved := [member for member in sorted(had) if had[member] != has[member]]:
            self.contradiction(
                f"{event.protocol} moves partitions of {moved[0]}, and nothing asked for it",
                (
                    f"{moved[0]} was assigned {_names(had[moved[0]])} in generation {before.generation}, at {STEP};",
                    before,
                ),
                (
                    f"members and topics are the same: yet it was assigned {_names(has[moved[0]])} in generation "
                    f"{event.generation}, at {STEP}: contradiction.",
                    event,
                ),
            )


def _names(partitions: tuple[str, ...]) -> str:
    return ", ".join(partitions) or "nothing"


def _sorted(event: AssignmentComputed) -> dict[str, tuple[str, ...]]:
    return {member: tuple(sorted(some)) for member, some in event.assignments}


def _all(assignments: dict[str, tuple[str, ...]]) -> list[str]:
    return sorted(partition for some in assignments.values() for partition in some)


def _may_compare(before: AssignmentComputed, event: AssignmentComputed) -> bool:
    """A sticky assignor keeps what each member says that it has, if that is what it was assigned last."""
    if event.protocol in FUNCTIONS:
        return True
    said, generations = {
        COOPERATIVE_STICKY: (event.owned_partitions, event.owned_generations),
        STICKY: (event.remembered_partitions, event.remembered_generations),
    }.get(event.protocol, ((), ()))
    had = {member: tuple(sorted(some)) for member, some in said}
    return had == _sorted(before) and len({generation for _, generation in generations}) == 1


ReassignmentHasACause: Final = Invariant(
    name="reassignment_has_a_cause",
    family=FAMILY,
    claim="a leader that uses range, roundrobin, cooperative-sticky or sticky moves partitions only for a cause: other "
    "members, other topics or partitions, or, under the last two, members that do not say that they have, or had, what "
    "they were assigned last",
    source="RangeAssignor, RoundRobinAssignor, CooperativeStickyAssignor, StickyAssignor; KIP-54, KIP-429",
    premises=(
        "the run is simulated: all that changes subscriptions is recorded",
        "what the members are assigned altogether is the same: otherwise partitions came, went or were withheld",
    ),
    exempted_by=(AssignmentComputed, RequestSent, SubscriptionChanged),
    violation=ReassignmentHasACauseViolated,
    fold=_Moves,
)
"""A leader moves partitions only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    AssignmentComputed(member="m0", generation=1, protocol="range", assignments=(("a", ("t-0",)), ("b", ("t-1",))))
    AssignmentComputed(member="m0", generation=2, protocol="range", assignments=(("a", ("t-1",)), ("b", ("t-0",))))
"""

CLAIMS: Final = (ReassignmentHasACause,)
"""In the order in which reports name them."""
