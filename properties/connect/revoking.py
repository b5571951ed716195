"""How long a revocation takes: until the last of its work has stopped and the statuses are flushed, and no longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConnectorStopped,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    RunEnded,
    StatusFlushed,
    StatusFlushStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.worker import work_of
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.contract.pace import NEVER, SLACK_MS, Paces
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.status.stores import process_of
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import RECORDED

Stops: TypeAlias = ConnectorStopped | TaskStopped | WorkCancelled
"""The worker waits for a connector or task no longer."""

OF_A_REVOCATION: Final[tuple[type[Event], ...]] = (
    WorkRevocationStarted, ConnectorStopped, TaskStopped, WorkCancelled, StatusFlushStarted, StatusFlushed,
    WorkRevocationEnded,
)  # fmt: skip
"""The steps of a revocation."""

OF_PROCESSES: Final[tuple[type[Event], ...]] = (
    ApplicationBusy, MemberCrashed, MemberLeft, MemberPaused, MemberResumed, MemberStarted,
)  # fmt: skip
"""What keeps a herder from its next step."""


class RevocationsGoOnAtOnceViolated(Violation):
    """A revocation went on later than its last step was over."""


@dataclass(slots=True)
class _Revocation:
    """What a worker gives up: the work that it waits for, and the step that was over last.

    ``is_shown`` says whether the history shows all the ends that it waits for.
    """

    started: WorkRevocationStarted
    waits_for: set[str]
    is_shown: bool
    last: Event
    flushed: bool = False


class _AtOnce(WorkerFold):
    """Per member: the revocation that its herder is in."""

    paces: Paces
    needs = ((WorkRevocationStarted,), (WorkerConfigured,))
    bookkeeping = frozenset({*OF_A_REVOCATION, *OF_PROCESSES, RunEnded}) - {StatusFlushStarted, WorkRevocationEnded}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((MemberCrashed, MemberLeft, MemberStarted), self.on_over),
            **dict.fromkeys((ConnectorStopped, TaskStopped, WorkCancelled), self.on_stopped),
            WorkRevocationStarted: self.on_revocation,
            StatusFlushStarted: self.on_flush,
            StatusFlushed: self.on_flushed,
            WorkRevocationEnded: self.on_ended,
            RunEnded: self.on_run_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._open: dict[str, _Revocation] = {}

    def share(self, memories: Memories) -> None:
        """What keeps its threads from acting, too."""
        super().share(memories)
        self.paces = Paces.among(memories)
        self.memories = (*self.memories, self.paces.run, self.paces)

    def on_over(self, event: MemberEvent) -> None:
        """Its process ends, or begins anew."""
        self._open.pop(event.member, None)

    def on_revocation(self, event: WorkRevocationStarted) -> None:
        """It stops this; of a task that is not fenced yet neither start nor end is recorded."""
        worker = self.memory.of(event.member)
        if not self.paces.run.is_recorded or worker.configured is None:
            return
        running = set(worker.running).intersection(event.work)
        is_shown = not worker.configured.exactly_once or running == set(event.work)
        self._open[event.member] = _Revocation(event, running, is_shown, event)

    def on_stopped(self, event: Stops) -> None:
        """It waits for one less."""
        revocation = self._open.get(event.member)
        work = event.work if isinstance(event, WorkCancelled) else work_of(event)
        if revocation is not None and work in revocation.waits_for:
            revocation.waits_for.discard(work)
            revocation.last = event

    def on_flush(self, event: StatusFlushStarted) -> None:
        """Nothing is waited for but the flush from here on."""
        revocation = self._open.get(process_of(event.worker))
        if revocation is not None:
            if revocation.is_shown:
                self._judge(revocation, event, "flushes its statuses")
            revocation.waits_for.clear()
            revocation.last = event

    def on_flushed(self, event: StatusFlushed) -> None:
        """Nothing is waited for."""
        revocation = self._open.get(process_of(event.worker))
        if revocation is not None:
            revocation.last, revocation.flushed = event, True

    def on_ended(self, event: WorkRevocationEnded) -> None:
        """It is over."""
        revocation = self._open.pop(event.member, None)
        if revocation is not None:
            self._judge(revocation, event, "ends its revocation")

    def on_run_ended(self, event: RunEnded) -> None:
        """What is flushed should have ended."""
        for revocation in self._open.values():
            if revocation.flushed:
                self._judge(revocation, event, "has not ended its revocation")

    def _judge(self, revocation: _Revocation, event: Event, does: str) -> None:
        self.compared = (self.compared or 0) + 1
        member, last = revocation.started.member, revocation.last
        pace = self.paces.of.get(member)
        able_ms = NEVER if pace is None else max(last.time_ms, pace.acts_since())
        if event.time_ms > able_ms + SLACK_MS:
            self.contradiction(
                f"{member} {does} {event.time_ms - able_ms} ms after it could",
                (f"{member} gives up {', '.join(revocation.started.work)} as of {STEP};", revocation.started),
                (f"it waited for nothing more at {STEP};", last),
                (f"it {does} at {STEP}: contradiction.", event),
            )


RevocationsGoOnAtOnce: Final = Invariant(
    name="revocations_go_on_at_once",
    family="connect_work",
    claim="a worker that gives work up flushes its statuses as soon as the last of that work has stopped or was "
    "cancelled, and has done with the revocation as soon as they are flushed, whether it knows a coordinator or not",
    source="DistributedHerder.RebalanceListener.onRevoked; KafkaStatusBackingStore.flush",
    premises=(
        RECORDED,
        "of a task with exactly-once support that waits for its predecessor to be fenced no end is recorded",
    ),
    exempted_by=(*OF_A_REVOCATION, *OF_PROCESSES),
    violation=RevocationsGoOnAtOnceViolated,
    fold=_AtOnce,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="w0")
    WorkerConfigured(member="w0", mode="compatible")
    WorkRevocationStarted(member="w0", generation=1, work=("c",), reason="revoked")
    StatusFlushStarted(worker="w0")
    StatusFlushed(worker="w0")
    WorkRevocationEnded(member="w0", generation=1, work=("c",), time_ms=900)
"""

CLAIMS: Final = (RevocationsGoOnAtOnce,)
"""In the order in which reports name them."""
