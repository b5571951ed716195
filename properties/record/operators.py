"""What an operator asks a worker for comes to the worker that is meant, and waits in its queue or is answered; and a
reset of topics is recorded."""

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
    TopicsReset,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

RESET_TOPICS: Final = "reset topics"
DONE: Final = 204
"""The HTTP status of what was done."""
RESTART_WORK: Final = "restart work"
"""The operation for which an operator asks a worker for the owner first."""


class OperatorRequestsAreQueuedViolated(Violation):
    """A worker neither queued nor answered what an operator asked for, or the operator asked for no owner."""


class ResetsAreRecordedViolated(Violation):
    """A worker answered that it reset topics, and did not record that it does."""


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


class _Resets(SimulatedFold):
    """The requests to reset topics, until they are answered."""

    bookkeeping = frozenset({HerderAsked, TopicsReset})
    needs = ((HerderAsked,), (HerderAnswered,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            HerderAsked: self.on_asked,
            TopicsReset: self.on_reset,
            HerderAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._asked: Recent[int, HerderAsked] = Recent(WAITING)
        self._reset: Recent[tuple[str, str], None] = Recent(WAITING)

    def on_asked(self, event: HerderAsked) -> None:
        """A worker is asked to forget the topics of a connector."""
        if event.operation == RESET_TOPICS:
            self._asked[event.request] = event
            self._reset.pop((event.member, event.work), None)

    def on_reset(self, event: TopicsReset) -> None:
        """It does."""
        self._reset[event.member, event.connector] = None

    def on_answered(self, event: HerderAnswered) -> None:
        """It says that it has."""
        asked = self._asked.pop(event.request, None)
        if asked is None or event.answer != DONE or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if (event.member, asked.work) not in self._reset:
            self.contradiction(
                f"{event.member} reset the topics of {asked.work}, and did not record it",
                (f"{event.member} is asked to reset the topics of {asked.work} at {STEP};", asked),
                (f"it answers that it did at {STEP}, and recorded nothing of it: contradiction.", event),
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

ResetsAreRecorded: Final = Invariant(
    name="resets_are_recorded",
    family=FAMILY,
    claim="a worker that answers that it reset the topics of a connector has recorded that it does",
    source="KIP-558; AbstractHerder.resetConnectorActiveTopics",
    premises=(RECORDED,),
    exempted_by=(TopicsReset,),
    violation=ResetsAreRecordedViolated,
    fold=_Resets,
)
"""Statuses of topics vanish because of a reset, or of a connector that is deleted.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    HerderAsked(member="w0", request=0, operation="reset topics", work="c")
    HerderAnswered(member="w0", request=0, answer=204)
"""

CLAIMS: Final = (OperatorRequestsAreQueued, ResetsAreRecorded)
"""In the order in which reports name them."""
