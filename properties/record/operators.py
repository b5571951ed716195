"""What an operator asks a worker for comes to the worker that is meant, and waits in its queue or is answered."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    HerderAnswered,
    HerderAsked,
    HerderRequestQueued,
    MemberEvent,
    OwnerLookedUp,
    RunEnded,
    RunSettled,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

RESTART_WORK: Final = "restart work"
"""The operation for which an operator asks a worker for the owner first."""


class OperatorRequestsAreQueuedViolated(Violation):
    """A worker neither queued nor answered what an operator asked for, or the operator asked for no owner."""


class _Queued(SimulatedFold):
    """The request that was asked last, until it is queued or answered, and the owners that were looked up."""

    bookkeeping = frozenset({*PROCESS, HerderAnswered, HerderRequestQueued, OwnerLookedUp})
    needs = ((HerderAsked,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            OwnerLookedUp: self.on_looked_up,
            HerderAsked: self.on_asked,
            HerderRequestQueued: self.on_queued,
            HerderAnswered: self.on_answered,
            RunSettled: self.on_later,
            RunEnded: self.on_later,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._asked: HerderAsked | None = None
        self._looked_up: Recent[str, OwnerLookedUp] = Recent(WAITING)

    def on_process(self, event: MemberEvent) -> None:
        """A process that ends answers nothing."""
        if self._asked is not None and self._asked.member == event.member:
            self._asked = None

    def on_looked_up(self, event: OwnerLookedUp) -> None:
        """This worker is asked next."""
        self._looked_up[event.work] = event

    def on_asked(self, event: HerderAsked) -> None:
        """The request before is in a queue."""
        self.on_later(event)
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        self._asked = event
        if event.operation == RESTART_WORK and self._looked_up.pop(event.work, None) is None:
            self.contradiction(
                f"{event.member} is asked to restart {event.work}, and no look-up of its owner is recorded",
                (f"{event.member} is asked to restart {event.work} at {STEP}, and no worker recorded before that it "
                 "was asked for the owner: contradiction.", event),
            )  # fmt: skip

    def on_queued(self, event: HerderRequestQueued) -> None:
        """It waits for the herder's thread."""
        asked = self._asked
        if asked is not None and (asked.member, asked.operation, asked.work) == (
            event.member, event.operation, event.work,
        ):  # fmt: skip
            self._asked = None

    def on_answered(self, event: HerderAnswered) -> None:
        """Nothing is left to do."""
        if self._asked is not None and self._asked.request == event.request:
            self._asked = None

    def on_later(self, event: Event) -> None:
        """The operator goes on, or nothing happens any more."""
        asked, self._asked = self._asked, None
        if asked is not None:
            self.contradiction(
                f"{asked.member} neither queues nor answers the request to {asked.operation} {asked.work}",
                (f"{asked.member} is asked to {asked.operation} {asked.work} at {STEP};", asked),
                (f"it has neither queued nor answered that by {STEP}: contradiction.", event),
            )


OperatorRequestsAreQueued: Final = Invariant(
    name="operator_requests_are_queued",
    family=FAMILY,
    claim="what an operator asks a worker for is queued for the herder's thread or answered at once; and before the "
    "owner of a connector or task is asked for a restart, a worker records that it was asked for the owner",
    source="DistributedHerder.addRequest; ConnectorsResource.restartTask; HerderRequestHandler",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, HerderAnswered, HerderRequestQueued, OwnerLookedUp),
    violation=OperatorRequestsAreQueuedViolated,
    fold=_Queued,
)
"""A request that is lost between the REST interface and the queue is never answered.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    HerderAsked(member="w0", request=0, operation="pause", work="c")
    RunSettled()
"""

CLAIMS: Final = (OperatorRequestsAreQueued,)
"""In the order in which reports name them."""
