"""A member looks its coordinator up only for a cause."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectionBroken,
    LookUpAnswered,
    LookUpSent,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.need.coordinating import OF_A_COORDINATOR, OfCoordinators
from rebalance_check.properties.verdict import Violation


class LookUpHasACauseViolated(Violation):
    """A member looked for a coordinator that it knew and that was there."""


class _LookUps(OfCoordinators):
    """The answer to a look-up says who coordinates, whatever the member makes of it."""

    bookkeeping = OF_A_COORDINATOR | {LookUpAnswered}
    needs = (*OfCoordinators.needs, (LookUpAnswered,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {LookUpAnswered: self.on_look_up_answered, LookUpSent: self.on_look_up})

    def on_look_up_answered(self, event: LookUpAnswered) -> None:
        """An answer without an error names the coordinator; any other leaves the question open."""
        if event.error == "NONE":
            self.found(event)

    def on_look_up(self, event: LookUpSent) -> None:
        """It knows no coordinator, or has reason to doubt the one that it knows."""
        self.judge(event, "looks its coordinator up", "sent FindCoordinator")


LookUpHasACause: Final = Invariant(
    name="look_up_has_a_cause",
    family=FAMILY,
    claim="a member sends FindCoordinator only for a cause: no look-up has named a coordinator yet, or since the last "
    "one that did it was answered that the node does not coordinate its group, a connection broke, or no heartbeat was "
    "answered for a session timeout",
    source="AbstractCoordinator.ensureCoordinatorReady, markCoordinatorUnknown, HeartbeatThread; NetworkClient",
    premises=("the run is simulated: time is virtual, and every connection that breaks is recorded",),
    exempted_by=(ConnectionBroken, LookUpAnswered, MemberCrashed, MemberLeft, MemberStarted, RequestAnswered),
    violation=LookUpHasACauseViolated,
    fold=_LookUps,
)
"""A member looks its coordinator up only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", session_timeout_ms=10000)
    LookUpAnswered(member="m0", request=0, error="NONE", node=1)
    LookUpSent(member="m0", request=1, time_ms=100)
"""

CLAIMS: Final = (LookUpHasACause,)
"""In the order in which reports name them."""
