"""The writes that a status store admits, and its sends (``KafkaStatusBackingStore.put``, ``putSafe``)."""

from __future__ import annotations

from rebalance_check.impl.connect.status.attempts import (
    Attempt,
    NoWorkerCachedError,
    StatusStoreError,
)
from rebalance_check.impl.connect.status.cache import CacheEntry, StatusCache
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
from rebalance_check.impl.connect.status.log import StatusLog
from rebalance_check.impl.connect.status.queries import TOPIC_STATUS, StatusQueries
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import (
    StatusAttempted,
    StatusGivenUp,
    StatusSent,
    StatusSuppressed,
)


class StatusWriting(StatusQueries):
    """The writing side of one worker's store; `StatusStore` learns the ends of its sends, and reads."""

    def __init__(
        self,
        worker: str,
        log: StatusLog,
        recorder: Recorder,
        *,
        layout: ValueFormat = ValueFormat.KAFKA_4_3,
    ) -> None:
        super().__init__(worker, StatusCache(layout), recorder)
        self.generation = 0
        self._log = log
        self._layout = layout
        self._attempts = 0
        self._in_flight: dict[tuple[int, int], Attempt] = {}
        self._stopped = False

    # -------------------------------------------------------------------------------------------- what is known

    @property
    def in_flight(self) -> int:
        """How many sends the producer has not reported on."""
        return len(self._in_flight)

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    # -------------------------------------------------------------------------------------------- writing

    def put(self, key: ConnectorKey | TaskKey, value: StatusValue) -> None:
        """Write the status, no matter which is cached; DESTROYED writes a tombstone.

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

    def _give_up(self, attempt: Attempt, reason: str) -> None:
        self._recorder.emit(
            StatusGivenUp(worker=self.worker, key=str(attempt.key), attempt=attempt.number, reason=reason)
        )
