"""How a worker ends that was asked to: it takes on no more work, and it is gone before long."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConnectAssignmentReceived,
    Event,
    MemberEvent,
    MemberPaused,
    MemberResumed,
    RequestSent,
    RunEnded,
    StatusAnswered,
    StatusSent,
    StatusStoreStopped,
    WorkerConfigured,
    WorkerStopRequested,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.contract.pace import SLACK_MS
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

LONGEST_END_MS: Final = 120_000
"""How long a worker takes at most to end: a write or a back-off that it is in, its stops and flushes."""

ON_THE_WAY: Final[tuple[type[Event], ...]] = (StatusSent, StatusAnswered)
"""What says which records of a store are on their way."""

DRAIN_MS: Final = 10_000
"""How long a worker that ends waits for the answers to what it has sent."""


class StoppingWorkersStartNothingViolated(Violation):
    """A worker that was asked to end waited for another assignment, and started it."""


class WorkersEndWhenAskedViolated(Violation):
    """A worker that was asked to end went on."""


class StatusesAreDrainedViolated(Violation):
    """A worker stopped its status store, and did not wait for what it had sent."""


class _Asked(WorkerFold):
    """Since when each worker has been asked to end; nothing of one that stands still."""

    needs = ((WorkerStopRequested,),)

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler]) -> None:
        own: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_gone),
            WorkerStopRequested: self.on_asked,
            MemberPaused: self.on_paused,
            MemberResumed: self.on_resumed,
        }
        super().__init__(invariant, {**own, **handlers})
        self.compared = 0
        self.asked: dict[str, WorkerStopRequested] = {}
        self.since_ms: dict[str, int] = {}
        self._paused: set[str] = set()

    def on_gone(self, event: MemberEvent) -> None:
        """It has ended."""
        self.asked.pop(event.member, None)
        self.since_ms.pop(event.member, None)
        self._paused.discard(event.member)

    def on_asked(self, event: WorkerStopRequested) -> None:
        """From here on it is on its way out."""
        self.asked[event.member] = event
        if event.member not in self._paused:
            self.since_ms[event.member] = event.time_ms

    def on_paused(self, event: MemberPaused) -> None:
        """It does nothing now."""
        self._paused.add(event.member)
        self.since_ms.pop(event.member, None)

    def on_resumed(self, event: MemberResumed) -> None:
        """It goes on."""
        self._paused.discard(event.member)
        if event.member in self.asked:
            self.since_ms[event.member] = event.time_ms


class _StartsNothing(_Asked):
    bookkeeping = frozenset({*PROCESS, WorkerStopRequested, MemberPaused, MemberResumed, ConnectAssignmentReceived,
                             WorkRevocationStarted})  # fmt: skip

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            ConnectAssignmentReceived: self.on_received,
            WorkRevocationStarted: self.on_revoking,
            AssignmentAccepted: self.on_accepted,
        }
        super().__init__(invariant, handlers)
        self._received: dict[str, ConnectAssignmentReceived] = {}

    def on_asked(self, event: WorkerStopRequested) -> None:
        """A worker that stops work for a round is in the midst of it, and ends it."""
        super().on_asked(event)
        self._received.pop(event.member, None)
        if self.memory.of(event.member).revoking is not None:
            self.on_gone(event)

    def on_revoking(self, event: WorkRevocationStarted) -> None:
        """As `on_asked`."""
        self.on_gone(event)

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """An answer that had come when it was asked is still looked at."""
        since_ms = self.since_ms.get(event.member)
        if since_ms is not None and event.time_ms > since_ms + SLACK_MS:
            self._received[event.member] = event

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its herder has looked whether it is to end before it starts anything."""
        asked, received = self.asked.get(event.member), self._received.pop(event.member, None)
        if asked is None:
            return
        self.compared = (self.compared or 0) + 1
        if received is not None:
            late_ms = event.time_ms - asked.time_ms
            self.contradiction(
                f"{event.member} was asked to end, and starts what it is assigned {late_ms} ms later",
                (f"{event.member} was asked to end at {STEP};", asked),
                (f"it received an assignment at {STEP};", received),
                (f"it accepted it at {STEP}: contradiction.", event),
            )


class _Ends(_Asked):
    bookkeeping = frozenset({*PROCESS, WorkerStopRequested, MemberPaused, MemberResumed})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestSent: self.on_request, RunEnded: self.on_end})

    def on_request(self, event: RequestSent) -> None:
        """It is still a member."""
        if event.member in self.since_ms:
            self._judge(event.member, event)

    def on_end(self, event: RunEnded) -> None:
        """It has never ended."""
        for member in list(self.since_ms):
            self._judge(member, event)

    def _judge(self, member: str, event: Event) -> None:
        self.compared = (self.compared or 0) + 1
        asked = self.asked[member]
        if event.time_ms > self.since_ms[member] + LONGEST_END_MS:
            self.contradiction(
                f"{member} was asked to end, and is there {event.time_ms - asked.time_ms} ms later",
                (f"{member} was asked to end at {STEP};", asked),
                (f"it had not ended by {STEP}, and did not stand still: contradiction.", event),
            )


class _Drains(WorkerFold):
    """Per status store: the records that it has sent and that are not answered."""

    needs = ((WorkerConfigured,), (StatusSent,))
    bookkeeping = frozenset(ON_THE_WAY)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusSent: self.on_sent,
            StatusAnswered: self.on_answered,
            StatusStoreStopped: self.on_stopped,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._open: dict[str, dict[tuple[int, int], StatusSent]] = {}

    def on_sent(self, event: StatusSent) -> None:
        """It is on its way."""
        self._open.setdefault(event.worker, {})[event.attempt, event.send] = event

    def on_answered(self, event: StatusAnswered) -> None:
        """It has come, or not."""
        self._open.get(event.worker, {}).pop((event.attempt, event.send), None)

    def on_stopped(self, event: StatusStoreStopped) -> None:
        """What is on its way has been for as long as a worker waits."""
        open_sends = self._open.pop(event.worker, {})
        if self.memory.of_store(event.worker) is None:
            return
        self.compared = (self.compared or 0) + 1
        oldest = min(open_sends.values(), key=lambda sent: sent.time_ms, default=None)
        if oldest is not None and event.time_ms < oldest.time_ms + DRAIN_MS:
            self.contradiction(
                f"{event.worker} stops its status store while {oldest.key} is on its way",
                (f"{event.worker} sent {oldest.key} at {STEP}, which was not answered;", oldest),
                (f"it stopped its store at {STEP}, and waits {DRAIN_MS // 1000} s for what it has sent: contradiction.",
                 event),
            )  # fmt: skip


StoppingWorkersStartNothing: Final = Invariant(
    name="stopping_workers_start_nothing",
    family="connect_work",
    claim="a worker that was asked to end while it joins its group ends, and does not start what it is assigned",
    source="DistributedHerder.tick, halt; WorkerGroupMember.ensureActive",
    premises=("no work is being stopped for a round when the worker is asked", "it does not stand still"),
    exempted_by=(MemberPaused, MemberResumed, WorkRevocationStarted, *PROCESS),
    violation=StoppingWorkersStartNothingViolated,
    fold=_StartsNothing,
)
"""The smallest history that breaks it::

    WorkerStopRequested(member="w0")
    ConnectAssignmentReceived(member="w0", generation=2, protocol="eager", leader="a", leader_url="u", config_offset=3,
                              time_ms=3000)
    AssignmentAccepted(member="w0", generation=2, config_offset=3, work=(), time_ms=3000)
"""

WorkersEndWhenAsked: Final = Invariant(
    name="workers_end_when_asked",
    family="connect_work",
    claim=f"a worker that was asked to end has ended {LONGEST_END_MS // 1000} s later, unless it stood still",
    source="DistributedHerder.stop, halt; Connect.stop",
    premises=("what its herder is blocked in, its stops and its flushes have Kafka's time-outs",),
    exempted_by=(MemberPaused, MemberResumed, *PROCESS),
    violation=WorkersEndWhenAskedViolated,
    fold=_Ends,
)
"""The smallest history that breaks it::

    WorkerStopRequested(member="w0")
    RequestSent(member="w0", api="Heartbeat", request=9, generation=1, time_ms=200000)
"""

StatusesAreDrained: Final = Invariant(
    name="statuses_are_drained",
    family="connect_statuses",
    claim=f"a worker that ends waits {DRAIN_MS // 1000} s for the answers to the statuses that it has sent before it "
    "stops its status store",
    source="Herder.stop; KafkaBasedLog.stop; KafkaProducer.close",
    premises=("of several sends that are not answered the oldest one is looked at",),
    exempted_by=(StatusAnswered,),
    violation=StatusesAreDrainedViolated,
    fold=_Drains,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="eager", store="w0")
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value=None)
    StatusStoreStopped(worker="w0")
"""

CLAIMS: Final = (StoppingWorkersStartNothing, WorkersEndWhenAsked, StatusesAreDrained)
"""In the order in which reports name them."""
