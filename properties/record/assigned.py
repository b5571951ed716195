"""What a member is assigned is what the leader of its generation recorded that it computed."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    ConnectAssignmentComputed,
    Event,
    MemberJoined,
    RequestAnswered,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

Computed = AssignmentComputed | ConnectAssignmentComputed


class AssignmentsAreRecordedViolated(Violation):
    """A member was assigned something that no leader of its generation recorded."""


class _Assigned(SimulatedFold):
    """By generation what its leaders computed, of which there are several where the log lost its end."""

    bookkeeping = frozenset({AssignmentComputed, ConnectAssignmentComputed, MemberJoined})
    needs = ((MemberJoined,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            AssignmentComputed: self.on_computed,
            ConnectAssignmentComputed: self.on_computed,
            MemberJoined: self.on_joined,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._computed: Recent[int, list[Computed]] = Recent(GENERATIONS)
        self._joined: Recent[str, MemberJoined] = Recent(DEPARTED)

    def on_computed(self, event: Computed) -> None:
        """A leader has dealt out what there is."""
        self._computed.setdefault(event.generation, []).append(event)

    def on_joined(self, event: MemberJoined) -> None:
        """Its SyncGroup is of this generation."""
        self._joined[event.member] = event

    def on_answered(self, event: RequestAnswered) -> None:
        """A member that comes back under another id is assigned what it had before."""
        joined = self._joined.get(event.member)
        if (
            event.api != Api.SYNC_GROUP
            or event.error != ACCEPTED
            or joined is None
            or not event.assignment
            or not self.run.is_recorded
        ):
            return
        self.compared = (self.compared or 0) + 1
        shares = [_share(each, joined.member_id) for each in self._computed.get(joined.generation, ())]
        if not shares or not any(share is None or share == set(event.assignment) for share in shares):
            what = ", ".join(event.assignment)
            self.contradiction(
                f"{event.member} is assigned {what} in generation {joined.generation}, and no leader recorded that",
                (f"{event.member} joined generation {joined.generation} as {joined.member_id} at {STEP};", joined),
                (f"it is assigned {what} at {STEP}, which no recorded assignment of that generation gives it: "
                 "contradiction.", event),
            )  # fmt: skip


def _share(event: Computed, member_id: str) -> set[str] | None:
    """What the leader gave to a member; None where its record does not name the member, or not what it gets."""
    given = event.assignments if isinstance(event, AssignmentComputed) else event.assigned
    return next((set(share) for member, share in given if member == member_id), None)


AssignmentsAreRecorded: Final = Invariant(
    name="assignments_are_recorded",
    family=FAMILY,
    claim="what a member is assigned in a generation is what a leader of that generation recorded that it gave it",
    source="ConsumerCoordinator.onLeaderElected, onJoinComplete",
    premises=(RECORDED, "who comes back under another member id has what the old id was given"),
    exempted_by=(AssignmentComputed, ConnectAssignmentComputed, MemberJoined),
    violation=AssignmentsAreRecordedViolated,
    fold=_Assigned,
)
"""An assignment that no leader recorded is one that no claim about assignments sees.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberJoined(member="m0", generation=1, member_id="a", leader=True)
    RequestAnswered(member="m0", api="SyncGroup", request=2, error="NONE", assignment=("t-0",))
"""

CLAIMS: Final = (AssignmentsAreRecorded,)
"""In the order in which reports name them."""
