"""S8: flush waits for what was sent before it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusFlushed,
    StatusFlushStarted,
    StatusSent,
)
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.status.violations import FlushReturnedEarly
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
