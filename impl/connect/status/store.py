"""The status store of one worker (``KafkaStatusBackingStore``): write through a log, believe only records read back.

``put`` always writes. ``put_safe`` writes unless the cache holds another worker's status of a higher generation; the
cache holds only statuses *read back*, so check and append are not atomic and a safe write may still overwrite a newer
status that this worker has not read yet. A write that failed retriably is tried again for as long as nothing speaks
against it: its entry was removed, the store has moved to another generation, or (safe writes only) a younger write of
the same entry was sent or the check would now say no.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from rebalance_check.impl.connect.status.attempts import (
    FOR_EVER,
    Attempt,
    NoRecordKeyError,
    RetryPolicy,
    StatusStoreError,
)
from rebalance_check.impl.connect.status.cache import Fold
from rebalance_check.impl.connect.status.codec import (
    Status,
    StatusValue,
    TopicValue,
    ValueFormat,
)
from rebalance_check.impl.connect.status.log import SendOutcome, StatusLog
from rebalance_check.impl.connect.status.queries import TOPIC_STATUS
from rebalance_check.impl.connect.status.writing import StatusWriting
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusAppended,
    StatusFlushed,
    StatusFlushStarted,
    StatusIgnored,
    StatusRead,
    StatusStoreStarted,
    StatusStoreStarting,
    StatusStoreStopped,
)


class StatusStore(StatusWriting):
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
        super().__init__(worker, log, recorder, layout=layout)
        self._retry = retry
        self._retries: deque[Attempt] = deque()
        self._flushing: set[tuple[int, int]] | None = None
        self._missing: dict[int, int] = {}
        self._start_failed = False
        self._starting = False

    # -------------------------------------------------------------------------------------------- what is known

    @property
    def retries(self) -> int:
        """How many retries wait for `run_retry`."""
        return len(self._retries)

    @property
    def flushing(self) -> bool:
        """Whether a `flush` is waiting for earlier sends."""
        return self._flushing is not None

    # -------------------------------------------------------------------------------------------- start

    def start(self, ends: Sequence[int]) -> None:
        """Begin to read the topic, whose partitions end at these offsets now; `started` says when that is over."""
        self._recorder.emit(StatusStoreStarting(worker=self.worker, ends=tuple(ends)))
        self._starting = True
        self._missing = {partition: end for partition, end in enumerate(ends) if end > 0}
        self._finish_start()

    @property
    def started(self) -> bool:
        """Whether everything was read that the topic held at `start`; never, when a record without a key was."""
        return not self._missing and not self._start_failed

    def reached(self, partition: int, position: int) -> None:
        """The reader is at ``position``: every record before it was read, or removed by compaction."""
        if position >= self._missing.get(partition, 0):
            self._missing.pop(partition, None)
            self._finish_start()

    def _finish_start(self) -> None:
        if self._starting and self.started:
            self._starting = False
            self._recorder.emit(StatusStoreStarted(worker=self.worker))

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
            reason = "exception"  # the producer swallows exceptions of its callbacks
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

    def run_retry(self) -> None:
        """Let the retry thread send the oldest waiting write; nothing is checked any more. No-op when none waits."""
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
                usage=_usage(fold.value) if isinstance(fold.value, TopicValue) else (),
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


def _usage(value: TopicValue) -> tuple[tuple[str, str], ...]:
    """The words of the status of a topic."""
    return (
        ("name", value.topic),
        ("connector", value.connector),
        ("task", str(value.task)),
        ("discoverTimestamp", str(value.discovered_ms)),
    )


def _described(fold: Fold) -> tuple[str, str, int]:
    """Status, worker id and generation of the record read; empty for a removal and for one that could not be parsed."""
    if isinstance(fold.value, StatusValue):
        return fold.value.status, fold.value.worker_id or "", fold.value.generation
    return (TOPIC_STATUS if isinstance(fold.value, TopicValue) else ""), "", -1
