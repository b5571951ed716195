"""What a Heartbeat says of a rebalance concerns a worker that is a settled member of its group, and no other."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker import NO_ERROR
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

REBALANCES: Final = "group is already rebalancing"
"""What a worker says that was notified by the answer to a Heartbeat."""

IN_PROGRESS: Final = "REBALANCE_IN_PROGRESS"
"""The error of that answer."""


class OnlySettledWorkersAreNotifiedViolated(Violation):
    """A worker asked for a round for a rebalance that it was not notified of, or that it takes part in already."""


class _Notified(SimulatedWorkerFold):
    """Per worker: the generation that it joined, whether it has synced it, why it is not settled, and its last answer.

    A JoinGroup that is sent, and a membership that is lost, are why.
    """

    bookkeeping = frozenset({*PROCESS, RequestSent, RequestAnswered, MemberJoined, MembershipLost})
    needs = ((WorkerConfigured,), (RejoinRequested,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            MemberJoined: self.on_joined,
            MembershipLost: self.on_lost,
            RejoinRequested: self.on_rejoining,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._unsettled: dict[str, Event] = {}
        self._answers: dict[str, RequestAnswered] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A new process is no member yet."""
        self._unsettled[event.member] = event
        self._answers.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """It takes part in a rebalance from here on."""
        if event.api == Api.JOIN_GROUP:
            self._unsettled[event.member] = event

    def on_joined(self, event: MemberJoined) -> None:
        """It has yet to sync."""
        self._unsettled[event.member] = event

    def on_lost(self, event: MembershipLost) -> None:
        """It is no member."""
        self._unsettled[event.member] = event

    def on_answered(self, event: RequestAnswered) -> None:
        """After a SyncGroup that succeeds it is a settled member of what it joined last."""
        self._answers[event.member] = event
        joined = isinstance(self._unsettled.get(event.member), MemberJoined)
        if event.api == Api.SYNC_GROUP and event.error == NO_ERROR and joined:
            self._unsettled.pop(event.member)

    def on_rejoining(self, event: RejoinRequested) -> None:
        """It is settled, and was notified just now."""
        if event.reason != REBALANCES or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        answer, unsettled = self._answers.get(event.member), self._unsettled.get(event.member)
        if answer is None or answer.api != Api.HEARTBEAT or answer.error != IN_PROGRESS:
            self._accuse(event, answer, "was notified of none")
        elif unsettled is not None:
            self._accuse(event, unsettled, "was no settled member any more, or not yet")

    def _accuse(self, event: RejoinRequested, why: Event | None, what: str) -> None:
        self.contradiction(
            f"{event.member} asks for a round, as its {event.reason}, and {what}",
            (f"{event.member} {what} at {STEP};", why),
            (f"at {STEP} it asks for a round, as its {event.reason}: contradiction.", event),
        )


OnlySettledWorkersAreNotified: Final = Invariant(
    name="only_settled_workers_are_notified",
    family="connect_rounds",
    claim=f"a worker asks for a round as its group rebalances already only when a Heartbeat was just answered "
    f"{IN_PROGRESS}, and when it is a settled member: it has synced the generation that it joined last, has not lost "
    "it, and has sent no JoinGroup since",
    source="AbstractCoordinator.HeartbeatResponseHandler (only in MemberState.STABLE)",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, MemberJoined, MembershipLost, RequestAnswered, RequestSent),
    violation=OnlySettledWorkersAreNotifiedViolated,
    fold=_Notified,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="compatible")
    MembershipLost(member="w0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
    RequestAnswered(member="w0", api="Heartbeat", request=3, error="REBALANCE_IN_PROGRESS")
    RejoinRequested(member="w0", reason="group is already rebalancing")
"""

CLAIMS: Final = (OnlySettledWorkersAreNotified,)
"""In the order in which reports name them."""
