"""S8 and P8: flush waits for what was sent before it, and in the end every write comes to rest."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberLeft,
    RunEnded,
    RunSettled,
    StatusAnswered,
    StatusAttempted,
    StatusFlushed,
    StatusFlushStarted,
    StatusGivenUp,
    StatusSent,
    StatusSuppressed,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant, Kind
from rebalance_check.properties.status.stores import StatusFold, Write
from rebalance_check.properties.status.violations import FlushReturnedEarly, WriteNeverSettled
from rebalance_check.properties.verdict import STEP, Because


class _FlushWaits(Fold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                StatusSent: self._sent,
                StatusAnswered: self._answered,
                StatusFlushStarted: self._started,
                StatusFlushed: self._flushed,
            },
        )
        self._open: dict[str, dict[tuple[int, int], StatusSent]] = {}
        self._waiting: dict[str, tuple[StatusFlushStarted, dict[tuple[int, int], StatusSent]]] = {}

    bookkeeping = frozenset({StatusAnswered, StatusFlushStarted, StatusSent})

    def _sent(self, event: StatusSent) -> None:
        self._open.setdefault(event.worker, {})[event.attempt, event.send] = event

    def _answered(self, event: StatusAnswered) -> None:
        self._open.get(event.worker, {}).pop((event.attempt, event.send), None)
        if event.worker in self._waiting:
            self._waiting[event.worker][1].pop((event.attempt, event.send), None)

    def _started(self, event: StatusFlushStarted) -> None:
        self._waiting[event.worker] = (event, dict(self._open.get(event.worker, {})))

    def _flushed(self, event: StatusFlushed) -> None:
        started, unanswered = self._waiting.pop(event.worker, (None, {}))
        if started is None or not unanswered:
            return
        sent = next(iter(unanswered.values()))
        self.violated(
            f"{event.worker}'s flush returned before its send of {sent.key} was answered",
            [
                Because(f"{event.worker} sent {sent.key} at {STEP}.", sent),
                Because(f"it called flush at {STEP}.", started),
                Because(f"flush returned at {STEP}, and no answer on that send lies before: contradiction.", event),
            ],
            [sent, started, event],
        )


class _ComesToRest(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberCrashed: self._gone,
            MemberLeft: self._gone,
            WorkerConfigured: self._configured,
            RunSettled: self._run_settled,
            RunEnded: self._run_ended,
        }
        super().__init__(invariant, handlers)
        self._crashed: set[str] = set()
        self._store_of: dict[str, str] = {}

    bookkeeping = frozenset({MemberCrashed, MemberLeft, WorkerConfigured})
    needs = ((StatusAttempted,),)

    def _configured(self, event: WorkerConfigured) -> None:
        """The store of a worker may have a name of its own."""
        self._store_of[event.member] = event.store

    def _gone(self, event: MemberCrashed | MemberLeft) -> None:
        store = self._store_of.pop(event.member, "") or event.member
        if store in self.memory.stores:
            self._crashed.add(store)

    def _run_settled(self, _event: RunSettled) -> None:
        """Stores may be stopped from here on; what they wrote has come to rest."""
        self._look()

    def _run_ended(self, _event: RunEnded) -> None:
        """What is not at rest now never comes to rest, unless that was found when the run settled."""
        if not self.count:
            self._look()

    def _look(self) -> None:
        for worker in sorted(set(self.memory.stores) - self._crashed):
            store = self.memory.stores[worker]
            for write in store.writes.values():
                if not (store.stopped or self._is_settled(write)):
                    self._report(write)

    @staticmethod
    def _is_settled(write: Write) -> bool:
        return write.suppressed or write.given_up is not None or write.is_acknowledged

    def _report(self, write: Write) -> None:
        attempted, sent = write.attempted, (write.sent[-1] if write.sent else None)
        last = f"its last send, at {STEP}, has no answer" if sent is not None else "it was never sent"
        self.broken(
            f"{attempted.worker}'s write of {attempted.status} for {attempted.key} never came to rest",
            [
                Because(f"{attempted.worker} wrote {attempted.status} of {attempted.key} at {STEP}.", attempted),
                Because(f"{last}, no retry followed, and it was not given up.", sent),
            ],
        )


FlushWaits: Final = Invariant(
    name="safe_status_writes.flush_waits",
    family="safe_status_writes",
    claim="flush returns only when every send that was made before it has been answered",
    source="KafkaBasedLog.flush; KafkaStatusBackingStore.flush",
    premises=("nothing is promised about retries that those answers bring about",),
    exempted_by=(StatusAnswered,),
    violation=FlushReturnedEarly,
    fold=_FlushWaits,
)
"""S8. The smallest history that breaks it::

    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{}")
    StatusFlushStarted(worker="w0")
    StatusFlushed(worker="w0")
"""

WritesSettle: Final = Invariant(
    name="safe_status_writes.writes_settle",
    family="safe_status_writes",
    claim="when a run ends in an orderly way, every write was appended, suppressed or given up for a named reason",
    source="KafkaStatusBackingStore.send",
    premises=(
        "stores that stopped, left or crashed before the run settled (RunSettled) or ended are left out",
        "before the run ended, disturbances had ended",
    ),
    exempted_by=(
        MemberCrashed,
        MemberLeft,
        StatusAnswered,
        StatusGivenUp,
        StatusSuppressed,
        WorkerConfigured,
    ),
    violation=WriteNeverSettled,
    fold=_ComesToRest,
    kind=Kind.LIVENESS,
    needs_end=True,
)
"""P8, progress: weak on purpose, for nothing guarantees that every RUNNING task is shown as RUNNING in the end. The
smallest history that breaks it::

    StatusAttempted(worker="w0", key="status-task-c-0", status="RUNNING", generation=1, attempt=0, safe=False)
"""
