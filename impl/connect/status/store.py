"""The status store of one worker (``KafkaStatusBackingStore``): write through a log, believe only what is read back.

``put`` always writes. ``put_safe`` writes unless the cache holds another worker's status of a higher generation; what
the cache holds is what was *read back*, so check and append are not atomic and a safe write may still overwrite a newer
status that this worker has not read yet. A write that failed retriably is tried again for as long as nothing speaks
against it: its entry was removed, the store has moved to another generation, or (safe writes only) a younger write of
the same entry was sent or the check would now say no.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.connect.status.cache import CacheEntry, Fold, StatusCache
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusValue,
    StatusWriteError,
    TaskKey,
    TopicKey,
    TopicValue,
    ValueFormat,
    write_status,
    write_topic,
)
from rebalance_check.impl.connect.status.log import SendOutcome, StatusLog
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusFlushed,
    StatusFlushStarted,
    StatusGivenUp,
    StatusIgnored,
    StatusQueried,
    StatusRead,
    StatusSent,
    StatusStoreStopped,
    StatusSuppressed,
)

TOPIC_STATUS = "TOPIC"
"""What events call the status of a topic record: it has no status of its own."""


class StatusStoreError(RebalanceCheckError):
    """The store was used in a way that Kafka's throws at; ``java`` names Kafka's exception."""

    java = "IllegalStateException"


class NoRecordKeyError(StatusStoreError):
    """A record without a key was read: the rest of its batch is lost, and during the start the start fails."""

    java = "NullPointerException"


class NoWorkerCachedError(StatusStoreError):
    """A safe write was checked against a cached status of no worker."""

    java = "NullPointerException"


@dataclass(slots=True, eq=False)
class Attempt:
    """One call of put or put_safe: what is sent, again and again, until it is answered or given up."""

    number: int
    key: ConnectorKey | TaskKey | TopicKey
    value: StatusValue | TopicValue | None
    safe: bool
    entry: CacheEntry | None = None
    sequence: int = 0
    data: bytes | None = None
    sends: int = 0
    since_ms: int = 0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and for how long after its call, a write that fails retriably is sent; None is for ever, as in Kafka.

    Proposals for Kafka bound both; a write that reaches a bound is given up (``exhausted``).
    """

    max_sends: int | None = None
    max_ms: int | None = None

    def is_exhausted(self, sends: int, elapsed_ms: int) -> bool:
        """Whether a write that was sent so often, and is so old, is given up."""
        by_count = self.max_sends is not None and sends >= self.max_sends
        return by_count or (self.max_ms is not None and elapsed_ms >= self.max_ms)


FOR_EVER: Final = RetryPolicy()
RETRY_THREAD_TIMEOUT_MS: Final = 10_000
"""How long Kafka's ``stop`` waits for the thread that retries, after the producer has answered every send."""


class StatusStore:
    """One worker's store, from its start to its stop; a restarted worker makes a new one.

    ``worker`` names this store in its events and must be unique in a run (``w0``, after a restart ``w0/2``); the worker
    id that statuses carry is the caller's. ``log`` is the port described in `rebalance_check.impl.connect.status.log`.
    """

    def __init__(
        self,
        worker: str,
        log: StatusLog,
        recorder: Recorder,
        *,
        layout: ValueFormat = ValueFormat.KAFKA_4_3,
        retry: RetryPolicy = FOR_EVER,
    ) -> None:
        self.worker = worker
        self.cache = StatusCache(layout)
        self.generation = 0
        self._log = log
        self._recorder = recorder
        self._layout = layout
        self._attempts = 0
        self._in_flight: dict[tuple[int, int], Attempt] = {}
        self._retries: deque[Attempt] = deque()
        self._flushing: set[tuple[int, int]] | None = None
        self._stopped = False
        self._retry = retry
        self._missing: dict[int, int] = {}
        self._start_failed = False

    # -------------------------------------------------------------------------------------------- what is known

    @property
    def retries(self) -> int:
        """How many retries wait for `run_retry`."""
        return len(self._retries)

    @property
    def in_flight(self) -> int:
        """How many sends the producer has not reported on."""
        return len(self._in_flight)

    @property
    def flushing(self) -> bool:
        """Whether a `flush` is waiting for earlier sends."""
        return self._flushing is not None

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    @property
    def drained(self) -> bool:
        """Whether `stop` was called and every send is answered: here Kafka's ``stop`` turns to its retry thread."""
        return self._stopped and not self._in_flight

    # -------------------------------------------------------------------------------------------- start

    def start(self, ends: Sequence[int]) -> None:
        """Begin to read the topic, whose partitions end at these offsets now; `started` says when that is over."""
        self._missing = {partition: end for partition, end in enumerate(ends) if end > 0}

    @property
    def started(self) -> bool:
        """Whether everything was read that the topic held at `start`; never, when a record without a key was."""
        return not self._missing and not self._start_failed

    def reached(self, partition: int, position: int) -> None:
        """The reader is at ``position``: every record before it was read, or removed by compaction."""
        if position >= self._missing.get(partition, 0):
            self._missing.pop(partition, None)

    def get(self, key: ConnectorKey | TaskKey) -> StatusValue | None:
        """The status as last read back, or None; the answer is recorded."""
        value = self.cache.get(key)
        self._recorder.emit(
            StatusQueried(
                worker=self.worker,
                key=str(key),
                status="" if value is None else value.status,
                status_worker="" if value is None else value.worker_id or "",
                generation=-1 if value is None else value.generation,
            )
        )
        return value

    # -------------------------------------------------------------------------------------------- writing

    def put(self, key: ConnectorKey | TaskKey, value: StatusValue) -> None:
        """Write the status, whatever is cached; DESTROYED writes a tombstone.

        Raises `StatusWriteError` for a value that names no worker and `StatusStoreError` after `stop`.
        """
        self.hand_over(self.admit(key, value, safe=False))

    def put_safe(self, key: ConnectorKey | TaskKey, value: StatusValue) -> None:
        """Write the status unless the cache holds another worker's of a higher generation; raises as `put` does.

        Raises `StatusStoreError` also when the cached status names no worker (a null dereference in Kafka).
        """
        self.hand_over(self.admit(key, value, safe=True))

    def put_topic(self, value: TopicValue) -> None:
        """Write that a connector uses a topic; never suppressed, retried for ever."""
        self.hand_over(self._admit_topic(TopicKey(value.topic, value.connector), value))

    def delete_topic(self, key: TopicKey) -> None:
        """Write the tombstone of a topic's status."""
        self.hand_over(self._admit_topic(key, None))

    def admit(self, key: ConnectorKey | TaskKey, value: StatusValue, *, safe: bool) -> Attempt | None:
        """The first half of a write: the check under the lock. None when the write is suppressed.

        Kafka leaves the lock between this and `hand_over`, so two threads of a worker may be admitted in one order and
        hand over in the other.
        """
        attempt = Attempt(self._attempts, key, value, safe, since_ms=self._recorder.now())
        self._attempts += 1
        attempt.entry = self.cache.entry(key)
        self._recorder.emit(
            StatusAttempted(
                worker=self.worker,
                key=str(key),
                attempt=attempt.number,
                status=value.status,
                status_worker=value.worker_id or "",
                generation=value.generation,
                safe=safe,
            )
        )
        self.generation = value.generation
        if safe and not self._check(attempt, attempt.entry, value):
            self._recorder.emit(StatusSuppressed(worker=self.worker, key=str(key), attempt=attempt.number))
            return None
        attempt.entry.sequence += 1
        attempt.sequence = attempt.entry.sequence
        return attempt

    def _check(self, attempt: Attempt, entry: CacheEntry, value: StatusValue) -> bool:
        """The check of a first safe send, whose exception reaches the caller."""
        try:
            return self._may_write(entry, value)
        except StatusStoreError:
            self._give_up(attempt, "exception")
            raise

    def _may_write(self, entry: CacheEntry, value: StatusValue) -> bool:
        """``canWriteSafely``: nothing cached, or this worker's own, or of no higher generation."""
        cached = entry.value
        if cached is None:
            return True
        if cached.worker_id is None:
            raise NoWorkerCachedError(
                f"the cached status {cached.status} of generation {cached.generation} names no worker, "
                "so no safe write can follow: use put"
            )
        return cached.worker_id == value.worker_id or cached.generation <= value.generation

    def _admit_topic(self, key: TopicKey, value: TopicValue | None) -> Attempt:
        attempt = Attempt(self._attempts, key, value, safe=False, since_ms=self._recorder.now())
        self._attempts += 1
        self._recorder.emit(
            StatusAttempted(
                worker=self.worker,
                key=str(key),
                attempt=attempt.number,
                status=Status.DESTROYED if value is None else TOPIC_STATUS,
                generation=-1,
                safe=False,
            )
        )
        return attempt

    def hand_over(self, attempt: Attempt | None) -> None:
        """The second half of a write: serialise and give the record to the producer. None does nothing.

        Raises: StatusStoreError when the store is stopped, as Kafka's producer does.
        """
        if attempt is None:
            return
        attempt.data = self._serialise(attempt)
        if self._stopped:
            self._give_up(attempt, "stopped")
            raise StatusStoreError(f"the store of {self.worker} is stopped: make a new one to write {attempt.key}")
        self._send(attempt)

    def _serialise(self, attempt: Attempt) -> bytes | None:
        value = attempt.value
        if value is None:
            return None
        if isinstance(value, TopicValue):
            return write_topic(value)
        try:
            return write_status(value, self._layout)
        except StatusWriteError:
            self._give_up(attempt, "exception")
            raise

    def _send(self, attempt: Attempt) -> None:
        attempt.sends += 1
        self._in_flight[attempt.number, attempt.sends] = attempt
        text = None if attempt.data is None else attempt.data.decode()
        self._recorder.emit(
            StatusSent(worker=self.worker, key=str(attempt.key), attempt=attempt.number, send=attempt.sends, value=text)
        )
        self._log.send(str(attempt.key), attempt.data, attempt.number, attempt.sends)

    # -------------------------------------------------------------------------------------------- completion

    def completed(
        self, attempt: int, send: int, outcome: SendOutcome, partition: int | None = None, offset: int | None = None
    ) -> None:
        """The producer's callback: nothing more on success, otherwise give up or queue a retry.

        Raises: `StatusStoreError` for a send that is not in flight.
        """
        known = self._in_flight.pop((attempt, send), None)
        if known is None:
            raise StatusStoreError(f"send {send} of attempt {attempt} is not in flight: report each send once")
        key = str(known.key)
        if partition is not None and offset is not None:
            self._recorder.emit(
                StatusAppended(
                    worker=self.worker, key=key, attempt=attempt, send=send, partition=partition, offset=offset
                )
            )
        self._recorder.emit(StatusAnswered(worker=self.worker, key=key, attempt=attempt, send=send, outcome=outcome))
        if outcome is not SendOutcome.OK:
            self._failed(known, outcome)
        self._finish_flush((attempt, send))

    def _failed(self, attempt: Attempt, outcome: SendOutcome) -> None:
        try:
            reason = "fatal" if outcome is SendOutcome.FATAL else self._against_retry(attempt)
        except StatusStoreError:
            reason = "exception"  # the producer swallows what its callbacks throw
        if reason:
            self._give_up(attempt, reason)
        else:
            self._retries.append(attempt)

    def _against_retry(self, attempt: Attempt) -> str:
        """Why a write that failed retriably is not tried again; empty when it is. Not asked again before the send."""
        against = self._against_this_write(attempt)
        if not against and self._retry.is_exhausted(attempt.sends, self._recorder.now() - attempt.since_ms):
            against = "exhausted"
        return against or ("stopped" if self._stopped else "")

    def _against_this_write(self, attempt: Attempt) -> str:
        entry, value = attempt.entry, attempt.value
        if entry is None or not isinstance(value, StatusValue):
            return ""
        if entry.deleted:
            return "deleted"
        if value.generation != self.generation:
            return "other generation"
        if attempt.safe and not self._may_write(entry, value):
            return "superseded"
        if attempt.safe and entry.sequence != attempt.sequence:
            return "superseded"
        return ""

    def _give_up(self, attempt: Attempt, reason: str) -> None:
        self._recorder.emit(
            StatusGivenUp(worker=self.worker, key=str(attempt.key), attempt=attempt.number, reason=reason)
        )

    def run_retry(self) -> None:
        """Let the retry thread send what waits longest; nothing is checked any more. Does nothing when none waits."""
        if not self._retries:
            return
        attempt = self._retries.popleft()
        self._send(attempt)

    # -------------------------------------------------------------------------------------------- reading

    def read(self, partition: int, offset: int, key: str | None, value: bytes | None) -> None:
        """Take one record of the topic into the cache, or leave it out, as the reader's thread does.

        Raises: NoRecordKeyError for a record without a key, at which Kafka loses the rest of the batch, and
        StatusStoreError after the end.
        """
        if self._stopped:
            raise StatusStoreError(f"the store of {self.worker} is stopped: it reads no more, make a new one")
        if key is None:
            self._ignored("", partition, offset, Fold(None, ignored="null key"))
            self._start_failed = not self.started
            raise NoRecordKeyError(f"the record at {partition}/{offset} has no key: no status record is written so")
        fold = self.cache.read(key, value)
        if fold.ignored:
            self._ignored(key, partition, offset, fold)
        else:
            self._taken(key, partition, offset, fold)
        self.reached(partition, offset + 1)

    def _taken(self, key: str, partition: int, offset: int, fold: Fold) -> None:
        status, worker, generation = _described(fold)
        self._recorder.emit(
            StatusRead(
                worker=self.worker,
                key=key,
                partition=partition,
                offset=offset,
                status=status or Status.DESTROYED,
                status_worker=worker,
                generation=generation,
                literal=status == Status.DESTROYED,
            )
        )

    def _ignored(self, key: str, partition: int, offset: int, fold: Fold) -> None:
        status, worker, generation = _described(fold)
        self._recorder.emit(
            StatusIgnored(
                worker=self.worker,
                key=key,
                partition=partition,
                offset=offset,
                reason=fold.ignored,
                status=status,
                status_worker=worker,
                generation=generation,
            )
        )

    # -------------------------------------------------------------------------------------------- flush and stop

    def flush(self) -> None:
        """Begin to wait for the sends in flight; `flushing` tells when it is over. Retries are not waited for.

        Raises: `StatusStoreError` when a flush is under way.
        """
        if self._flushing is not None:
            raise StatusStoreError(f"the store of {self.worker} is flushing already: wait until that is over")
        self._recorder.emit(StatusFlushStarted(worker=self.worker))
        self._flushing = set(self._in_flight)
        self._finish_flush(None)

    def _finish_flush(self, completed: tuple[int, int] | None) -> None:
        if self._flushing is None:
            return
        self._flushing.discard(completed or (-1, -1))
        if not self._flushing:
            self._flushing = None
            self._recorder.emit(StatusFlushed(worker=self.worker))

    def stop(self) -> None:
        """Read no more, send no more, and drop the retries; sends in flight are still answered."""
        if self._stopped:
            return
        self._stopped = True
        self._recorder.emit(StatusStoreStopped(worker=self.worker))
        while self._retries:
            self._give_up(self._retries.popleft(), "stopped")


def _described(fold: Fold) -> tuple[str, str, int]:
    """Status, worker id and generation of what was read; empty for a removal and for what could not be parsed."""
    if isinstance(fold.value, StatusValue):
        return fold.value.status, fold.value.worker_id or "", fold.value.generation
    return (TOPIC_STATUS if isinstance(fold.value, TopicValue) else ""), "", -1
