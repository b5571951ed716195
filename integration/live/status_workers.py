"""A worker with a status store of its own on a real broker: a producer that it writes to, and threads that read, report
outcomes and retry."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any, Final

from rebalance_check.impl.connect.status.codec import ConnectorKey, StatusValue, TaskKey, TopicKey, TopicValue
from rebalance_check.impl.connect.status.log import CLIENT_ID_SUFFIX, RETRY_THREAD_PREFIX, SendOutcome
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.embedded.answers_offsets import LATEST
from rebalance_check.integration.interrupts import is_interrupted
from rebalance_check.integration.live.kafka_python_api import KafkaConsumer, KafkaProducer, TopicPartition, errors
from rebalance_check.integration.live.send_outcome import outcome_of
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import consumer
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

PARTITIONS: Final = 2
LIST_OFFSETS_VERSION: Final = 2
POLL_MS: Final = 20
SETTLE_TIMEOUT_S: Final = 30.0
CONNECTOR: Final = "c"

KEYS: Final = (ConnectorKey(CONNECTOR), TaskKey(CONNECTOR, 0), TaskKey(CONNECTOR, 1), TaskKey(CONNECTOR, 2))
TOPICS: Final = ("orders", "invoices")


class KafkaStatusWorker:
    """One worker: a store, its producer (the log it writes to), and threads that read, report outcomes and retry.

    One lock is held around every call of the store, as Kafka's store holds its monitor.
    """

    def __init__(self, name: str, bootstrap: str, topic: str, recorder: Recorder) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.store = StatusStore(name, self, recorder)
        self._bootstrap = bootstrap
        self._topic = topic
        self._partitions = [TopicPartition(topic, index) for index in range(PARTITIONS)]
        self._read_to = dict.fromkeys(range(PARTITIONS), 0)
        client_id = f"{name}-{CLIENT_ID_SUFFIX}"
        self._producer = _producer(bootstrap, client_id)
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, client_id=client_id, group_id=None, auto_offset_reset="earliest"
        )
        self._retries: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[tuple[int, int, Any]] = queue.SimpleQueue()
        self._closing = threading.Event()
        self.abandoned = False
        self._failure: BaseException | None = None
        named = {
            f"{name}-read": self._read,
            f"{name}-report": self._report,
            f"{RETRY_THREAD_PREFIX}{topic}": self._retry,
        }
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), name=title, daemon=True)
            for title, work in named.items()
        ]
        for thread in self._threads:
            thread.start()

    # -------------------------------------------------------------------------------------------- the log

    def send(self, key: str, value: bytes | None, attempt: int, send: int) -> None:
        """`StatusLog.send`: hand the record to the producer. Its report goes through a queue to a thread of its
        own: a store never gets one from inside ``send``, where a report may come when the producer is quick to fail.
        """
        try:
            sent = self._producer.send(self._topic, key=key.encode(), value=value)
        except errors.KafkaError as failure:
            self._reports.put((attempt, send, failure))
            return
        sent.add_callback(lambda appended: self._reports.put((attempt, send, appended)))
        sent.add_errback(lambda failure: self._reports.put((attempt, send, failure)))

    # -------------------------------------------------------------------------------------------- threads

    def _guarded(self, work: Any) -> None:
        try:
            while not self._closing.is_set():
                work()
        except BaseException as failure:
            self._failure = failure

    def _read(self) -> None:
        if not self._consumer.assignment():
            self._consumer.assign(self._partitions)
        for records in self._consumer.poll(timeout_ms=POLL_MS).values():
            for record in records:
                with self.lock:
                    key = None if record.key is None else record.key.decode()
                    self.store.read(record.partition, record.offset, key, record.value)
                    self._read_to[record.partition] = record.offset + 1

    def _report(self) -> None:
        try:
            attempt, send, report = self._reports.get(timeout=POLL_MS / 1000)
        except queue.Empty:
            return
        with self.lock:
            if isinstance(report, BaseException):
                self.store.completed(attempt, send, outcome_of(report))
            else:
                self.store.completed(attempt, send, SendOutcome.OK, report.partition, report.offset)
            has_retries = self.store.retries > 0
        if has_retries:
            self._retries.put(None)

    def _retry(self) -> None:
        try:
            self._retries.get(timeout=POLL_MS / 1000)
        except queue.Empty:
            return
        with self.lock:
            self.store.run_retry()

    # -------------------------------------------------------------------------------------------- the worker

    def write(self, key: ConnectorKey | TaskKey, value: StatusValue, *, safe: bool) -> None:
        """Write a status, as the herder does."""
        with self.lock:
            (self.store.put_safe if safe else self.store.put)(key, value)

    def unanswered(self) -> str:
        """The writes of this worker whose outcome it does not know yet; empty for none.

        Raises `RebalanceCheckError` when the worker has failed.
        """
        if self._failure is not None:
            raise RebalanceCheckError(f"worker {self.name} failed: {self._failure!r}; see the broker's log")
        with self.lock:
            if self.store.in_flight or self.store.retries:
                return f"{self.name} has {self.store.in_flight} sends in flight and {self.store.retries} to retry"
        return ""

    def unread(self, ends: dict[int, int]) -> str:
        """The records up to these end offsets that this worker has not read yet; empty for none."""
        with self.lock:
            return f"{self.name} has read to {self._read_to} of {ends}" if self._read_to != ends else ""

    def ends(self) -> dict[int, int]:
        """The end offset of each partition."""
        with Connection(self._bootstrap) as broker:
            wanted = consumer.ListOffsetsRequest.ListOffsetsTopic
            partition = wanted.ListOffsetsPartition
            indexes = [partition(partition_index=index, timestamp=LATEST) for index in range(PARTITIONS)]
            request = consumer.ListOffsetsRequest(
                replica_id=-1, isolation_level=0, topics=[wanted(name=self._topic, partitions=indexes)]
            )
            found = broker.call(request, LIST_OFFSETS_VERSION).topics[0]
            return {p.partition_index: p.offset for p in found.partitions}

    def write_topic(self, topic: str, task: int | None) -> None:
        """Write that this task of the connector uses a topic, or with None a tombstone."""
        key = TopicKey(topic, CONNECTOR)
        with self.lock:
            if task is None:
                self.store.delete_topic(key)
            else:
                self.store.put_topic(TopicValue(topic, CONNECTOR, task, time.time_ns() // 1_000_000))

    def ask(self) -> None:
        """Ask the store for everything that can be asked."""
        with self.lock:
            for key in KEYS:
                self.store.get(key)
            for topic in TOPICS:
                self.store.get_topic(TopicKey(topic, CONNECTOR))
            self.store.connectors()
            self.store.tasks(CONNECTOR)
            self.store.topics(CONNECTOR)

    def abandon(self) -> None:
        """Take no further write: the run was interrupted."""
        self.abandoned = True

    def close(self) -> None:
        """Stop the store, its threads and its clients; pending sends of an abandoned one are dropped."""
        if is_interrupted():
            self.abandon()
        self.ask()
        self._closing.set()
        for thread in self._threads:
            thread.join(SETTLE_TIMEOUT_S)
        with self.lock:
            self.store.stop()
        self._close_producer()
        self._consumer.close()

    def _close_producer(self) -> None:
        """The producer of an abandoned store may have records to send: it says so and stays open, with its threads."""
        try:
            self._producer.close(timeout=0 if self.abandoned else 5)
        except errors.KafkaTimeoutError:
            if not self.abandoned:
                raise


def _producer(bootstrap: str, client_id: str) -> Any:
    """As Connect configures it: every write acknowledged, one in flight, no retries of its own, no idempotence."""
    return KafkaProducer(
        bootstrap_servers=bootstrap,
        client_id=client_id,
        acks="all",
        retries=0,
        enable_idempotence=False,
        max_in_flight_requests_per_connection=1,
        # Long, so that a slow machine leaves no write whose outcome is unknown, and which may yet be appended.
        request_timeout_ms=10_000,
        delivery_timeout_ms=20_000,
        max_block_ms=20_000,
    )
