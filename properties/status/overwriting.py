"""P1 and P2: the window of a safe write. It may overwrite a newer status, but only one that its writer had not read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusIgnored,
    StatusRead,
    StatusSent,
)
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.status.stores import DESTROYED, StatusFold, described, is_newer, is_stale, item_of
from rebalance_check.properties.status.violations import QuiescentOverwrite, UnexplainedOverwrite
from rebalance_check.properties.verdict import STEP, Because


class _Explained(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAppended: self._appended})

    def _appended(self, event: StatusAppended) -> None:
        write = self.memory.of(event.worker).writes.get(event.attempt)
        if write is None or not write.attempted.safe or event.send > len(write.checks):
            return
        known = write.checks[event.send - 1]
        if known is None or not is_newer(known, write.attempted):
            return
        attempted = write.attempted
        self.broken(
            f"{event.worker} overwrote {described(known)}, which it had read, by {attempted.status} of {event.key}",
            [
                Because(f"{event.worker} read {described(known)} for {event.key} at {STEP} and still held it", known),
                Because(
                    f"when it wrote {attempted.status} in generation {attempted.generation} safely at {STEP}.",
                    attempted,
                ),
                Because(f"send {event.send} of that write was appended at {STEP}: contradiction.", event),
            ],
        )


@dataclass(slots=True)
class _Key:
    """One key: the write that counts now, the last record, the sends on their way, and the safe writes to judge.

    ``quiet`` holds the attempts at whose check everything had been read and no other send was on its way.
    """

    last: StatusAttempted | None = None
    record: StatusAppended | None = None
    flying: set[tuple[str, int, int]] = field(default_factory=set)
    quiet: dict[tuple[str, int], StatusAttempted] = field(default_factory=dict)


class _Quiescent(Fold):
    """Follows the log itself, not the caches: what counts for a key after each append, by the stale rule."""

    bookkeeping = frozenset({StatusAnswered, StatusAttempted, StatusIgnored, StatusRead, StatusSent})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                StatusAttempted: self._attempted,
                StatusSent: self._sent,
                StatusAppended: self._appended,
                StatusAnswered: self._answered,
                StatusRead: self._read,
                StatusIgnored: self._read,
            },
        )
        self._keys: dict[str, _Key] = {}
        self._attempts: dict[tuple[str, int], StatusAttempted] = {}
        self._positions: dict[tuple[str, int], int] = {}
        self._removed: set[str] = set()

    def _of(self, key: str) -> _Key:
        known = self._keys.get(key)
        if known is None:
            known = self._keys[key] = _Key()
        return known

    def _read(self, event: StatusRead | StatusIgnored) -> None:
        self._positions[event.worker, event.partition] = event.offset

    def _attempted(self, event: StatusAttempted) -> None:
        self._attempts[event.worker, event.attempt] = event
        key, item = self._of(event.key), item_of(event.key)
        if item is not None and item[0] == "connector" and event.status == DESTROYED:
            self._removed.add(item[1])  # from here on its tasks may vanish from caches by the cascade
        alone = all(worker == event.worker for worker, _, _ in key.flying)
        if event.safe and alone and self._has_read_all(event.worker, key):
            key.quiet[event.worker, event.attempt] = event

    def _has_read_all(self, worker: str, key: _Key) -> bool:
        record = key.record
        return record is None or self._positions.get((worker, record.partition), -1) >= record.offset

    def _sent(self, event: StatusSent) -> None:
        key = self._of(event.key)
        key.flying.add((event.worker, event.attempt, event.send))
        for worker, attempt in list(key.quiet):
            if worker != event.worker:
                del key.quiet[worker, attempt]

    def _answered(self, event: StatusAnswered) -> None:
        """A retriable failure may have been appended unseen: it stays on its way unless its record was seen."""
        key = self._of(event.key)
        if event.outcome != "retriable":
            key.flying.discard((event.worker, event.attempt, event.send))

    def _appended(self, event: StatusAppended) -> None:
        key = self._of(event.key)
        key.flying.discard((event.worker, event.attempt, event.send))
        attempted = self._attempts.get((event.worker, event.attempt))
        if key.quiet.pop((event.worker, event.attempt), None) is not None and event.send == 1:
            self._judge(key, event)
        if key.record is None or key.record.offset < event.offset:
            key.record = event
            if attempted is not None and not is_stale(key.last, attempted, item_of(event.key) or ("", "")):
                key.last = None if attempted.status == DESTROYED else attempted

    def _judge(self, key: _Key, event: StatusAppended) -> None:
        write, last, item = self._attempts[event.worker, event.attempt], key.last, item_of(event.key)
        cascaded = item is not None and item[0] == "task" and item[1] in self._removed
        if last is None or last.status_worker == write.status_worker or cascaded or last.generation <= write.generation:
            return
        replaced = described(last)
        self.violated(
            f"{event.worker} overwrote {replaced} of {event.key} although all was quiet",
            [
                Because(f"{last.worker} wrote {replaced} at {STEP}; {event.worker} had read that key to its end", last),
                Because(f"when it wrote {write.status} in generation {write.generation} safely at {STEP}", write),
                Because(f"and no other store had a send on its way until its record was appended at {STEP}.", event),
            ],
            [last, write, event],
        )


ExplainedOverwrite: Final = Invariant(
    name="safe_status_writes.explained_overwrite",
    family="safe_status_writes",
    claim="a safe write never replaces another worker's newer status that its writer had read and still held",
    source="KafkaStatusBackingStore.putSafe",
    premises=(
        "what counts is the check that let this send through: the call, or for a retry the answer before it",
        "a newer status that was not yet read may be replaced: check and append are not atomic",
    ),
    exempted_by=(StatusRead,),
    violation=UnexplainedOverwrite,
    fold=_Explained,
)
"""P1, the heart of safe status writes. The smallest history that breaks it::

    StatusRead(worker="w0", key="status-task-c-0", status="RUNNING", status_worker="w1:8083", generation=2, ...)
    StatusAttempted(worker="w0", key="status-task-c-0", status="UNASSIGNED", status_worker="w0:8083", generation=1,
                    attempt=0, safe=True)
    StatusAppended(worker="w0", key="status-task-c-0", attempt=0, send=1, partition=0, offset=1)
"""

QuiescentSafety: Final = Invariant(
    name="safe_status_writes.quiescent_safety",
    family="safe_status_writes",
    claim="a safe write whose writer had read everything, with nothing else in flight, replaces no newer status of "
    "another worker",
    source="KafkaStatusBackingStore.putSafe",
    premises=(
        "appends are recorded no later than the writer is answered; a send that failed retriably and was not seen "
        "appended counts as on its way",
        "tasks of a connector that was removed are left out: the cascade makes caches forget them",
    ),
    exempted_by=(StatusSent,),
    violation=QuiescentOverwrite,
    fold=_Quiescent,
)
"""P2: judged by the log alone, whatever the caches say. The smallest history that breaks it::

    StatusAttempted(worker="w1", key="status-task-c-0", status="RUNNING", status_worker="w1:8083", generation=2, ...)
    StatusSent(worker="w1", ...), StatusAppended(worker="w1", ...), StatusAnswered(worker="w1", outcome="ok", ...)
    StatusRead(worker="w0", key="status-task-c-0", status="RUNNING", status_worker="w1:8083", generation=2, ...)
    StatusAttempted(worker="w0", key="status-task-c-0", status="UNASSIGNED", generation=1, safe=True, ...)
    StatusSent(worker="w0", ...), StatusAppended(worker="w0", ...)
"""
