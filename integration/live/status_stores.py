"""Status stores of several workers over one compacted topic of a real broker, each with its own producer and reader.

A run is drawn from its seed: who writes which status of which task, safely or not, when. Then one worker takes all
over, and once everyone has read that the others report late. What comes out is a history that the safe-status-writes
claims judge; it differs from run to run in the order of things, as on any real cluster.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from operator import not_
from pathlib import Path
from random import Random
from typing import Any, Final

from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, StatusValue, TaskKey
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.embedded.topics import LATEST_TIMESTAMP
from rebalance_check.integration.interrupts import is_interrupted
from rebalance_check.integration.live.kafka_python_api import KafkaConsumer, KafkaProducer, TopicPartition, errors
from rebalance_check.integration.live.recording import RawRecording, merge
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.waiting import ask_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import consumer
from rebalance_check.model.vocabulary.errors import INTERRUPTIONS, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunSettled, RunStarted

PARTITIONS: Final = 2
LIST_OFFSETS_VERSION: Final = 2
POLL_MS: Final = 20
SETTLE_TIMEOUT_S: Final = 30.0
MOST_WORKERS: Final = 16
MOST_WRITES: Final = 10_000
CONNECTOR: Final = "c"

KEYS: Final = (ConnectorKey(CONNECTOR), TaskKey(CONNECTOR, 0), TaskKey(CONNECTOR, 1), TaskKey(CONNECTOR, 2))
STATUSES: Final = (Status.RUNNING, Status.RUNNING, Status.PAUSED, Status.FAILED, Status.UNASSIGNED, Status.DESTROYED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRun:
    """What a run is made of, apart from its seed: workers, writes of each, and the longest pause between two, in ms."""

    workers: int = 3
    writes: int = 25
    pause_ms: int = 20

    def __post_init__(self) -> None:
        for name, lowest, highest in (("workers", 1, MOST_WORKERS), ("writes", 0, MOST_WRITES)):
            value = getattr(self, name)
            if not lowest <= value <= highest:
                raise RebalanceCheckError(f"{name} is {value}: choose a number from {lowest} to {highest}")


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
        self._producer = _producer(bootstrap, name)
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, client_id=name, group_id=None, auto_offset_reset="earliest"
        )
        self._reports: queue.SimpleQueue[tuple[int, int, Any]] = queue.SimpleQueue()
        self._closing = threading.Event()
        self.abandoned = False
        self._failure: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), name=f"{name}-{work.__name__}", daemon=True)
            for work in (self._read, self._report, self._retry)
        ]
        for thread in self._threads:
            thread.start()

    # -------------------------------------------------------------------------------------------- the log

    def send(self, key: str, value: bytes | None, attempt: int, send: int) -> None:
        """`StatusLog.send`: hand the record to the producer. What it reports goes through a queue to a thread of its
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
                retriable = isinstance(report, errors.RetriableError)
                self.store.completed(attempt, send, SendOutcome.RETRIABLE if retriable else SendOutcome.FATAL)
            else:
                self.store.completed(attempt, send, SendOutcome.OK, report.partition, report.offset)

    def _retry(self) -> None:
        time.sleep(POLL_MS / 1000)
        with self.lock:
            self.store.run_retry()

    # -------------------------------------------------------------------------------------------- the worker

    def write(self, key: ConnectorKey | TaskKey, value: StatusValue, *, safe: bool) -> None:
        """Write a status, as the herder does."""
        with self.lock:
            (self.store.put_safe if safe else self.store.put)(key, value)

    def unanswered(self) -> str:
        """What this worker still has to learn of its own writes; empty for nothing.

        Raises `RebalanceCheckError` when the worker has failed.
        """
        if self._failure is not None:
            raise RebalanceCheckError(f"worker {self.name} failed: {self._failure!r}; see the broker's log")
        with self.lock:
            if self.store.in_flight or self.store.retries:
                return f"{self.name} has {self.store.in_flight} sends in flight and {self.store.retries} to retry"
        return ""

    def unread(self, ends: dict[int, int]) -> str:
        """What this worker still has to read up to these end offsets; empty for nothing."""
        with self.lock:
            return f"{self.name} has read to {self._read_to} of {ends}" if self._read_to != ends else ""

    def ends(self) -> dict[int, int]:
        """The end offset of each partition."""
        with Connection(self._bootstrap) as broker:
            wanted = consumer.ListOffsetsRequest.ListOffsetsTopic
            partition = wanted.ListOffsetsPartition
            indexes = [partition(partition_index=index, timestamp=LATEST_TIMESTAMP) for index in range(PARTITIONS)]
            request = consumer.ListOffsetsRequest(
                replica_id=-1, isolation_level=0, topics=[wanted(name=self._topic, partitions=indexes)]
            )
            found = broker.call(request, LIST_OFFSETS_VERSION).topics[0]
            return {p.partition_index: p.offset for p in found.partitions}

    def abandon(self) -> None:
        """Take no further write: the run was interrupted."""
        self.abandoned = True

    def close(self) -> None:
        """Stop the store, its threads and its clients; what an abandoned one still has to send is dropped."""
        if is_interrupted():
            self.abandon()
        with self.lock:
            for key in KEYS:
                self.store.get(key)
        self._closing.set()
        for thread in self._threads:
            thread.join(SETTLE_TIMEOUT_S)
        with self.lock:
            self.store.stop()
        self._producer.close(timeout=0 if self.abandoned else 5)
        self._consumer.close()


def _producer(bootstrap: str, name: str) -> Any:
    """As Connect configures it: every write acknowledged, one in flight, no retries of its own, no idempotence."""
    return KafkaProducer(
        bootstrap_servers=bootstrap,
        client_id=name,
        acks="all",
        retries=0,
        enable_idempotence=False,
        max_in_flight_requests_per_connection=1,
        # Long, so that a slow machine leaves no write whose outcome is unknown, and which may yet be appended.
        request_timeout_ms=10_000,
        delivery_timeout_ms=20_000,
        max_block_ms=20_000,
    )


def run_status_stores(bootstrap: str, seed: int, options: StatusRun, folder: Path) -> Sequence[Event]:
    """Let several stores write at once, wait until all are at rest, and return the merged history.

    ``folder`` receives the raw recordings, one for each worker, while the run goes on.
    """
    identity = uuid.uuid4().hex[:8]
    topic, group = f"status-{identity}", f"connect-{identity}"
    create_topic(bootstrap, topic, PARTITIONS, compacted=True)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.raw" for name in ("harness", *(f"w{i}" for i in range(options.workers)))]
    recordings = [RawRecording(path) for path in paths]
    harness = recordings[0].recorder(group, "harness")
    harness.emit(RunStarted(subject="status stores", seed=seed))
    try:
        pending = _run_workers((bootstrap, topic, group), recordings[1:], seed, options, harness)
        harness.emit(RunEnded(pending=pending))
    finally:
        for recording in recordings:
            recording.close()
    return list(merge(paths))


def _run_workers(
    place: tuple[str, str, str], recordings: Sequence[RawRecording], seed: int, options: StatusRun, harness: Recorder
) -> tuple[str, ...]:
    """A worker for each recording: they write, come to rest, which ``harness`` tells, and are closed. What did not
    come to rest is returned."""
    bootstrap, topic, group = place
    workers: list[KafkaStatusWorker] = []
    with ExitStack() as stack:
        for index, recording in enumerate(recordings):
            name = f"w{index}"
            worker = KafkaStatusWorker(name, bootstrap, topic, recording.recorder(group, name))
            stack.callback(worker.close)
            workers.append(worker)
        _write_all(workers, seed, options)
        pending = settle(workers) or _take_over(workers, options) or _report_late(workers)
        if not pending:
            harness.emit(RunSettled())
        return pending


def _write_all(workers: Sequence[KafkaStatusWorker], seed: int, options: StatusRun) -> None:
    """All write at once; what goes wrong in one of them is raised here."""
    with ThreadPoolExecutor(len(workers), thread_name_prefix="writer") as pool:
        try:
            for writing in [pool.submit(_write, w, Random(f"{seed}/{w.name}"), options) for w in workers]:
                writing.result()
        except INTERRUPTIONS:
            for worker in workers:
                worker.abandon()
            raise


def _write(worker: KafkaStatusWorker, random: Random, options: StatusRun) -> None:
    """Statuses of a worker whose generation goes up now and then; as in Connect, what may be late is written safely."""
    generation = 1
    for _ in range(options.writes):
        if worker.abandoned:
            return
        generation += random.random() < 0.2
        status = random.choice(STATUSES)
        safe = status in (Status.FAILED, Status.UNASSIGNED) or (status is Status.RUNNING and random.random() < 0.3)
        value = StatusValue(status, f"{worker.name}:8083", generation)
        worker.write(random.choice(KEYS), value, safe=safe)
        time.sleep(random.uniform(0, options.pause_ms) / 1000)


def _take_over(workers: Sequence[KafkaStatusWorker], options: StatusRun) -> tuple[str, ...]:
    """The first worker has everything running, in a generation that nobody reached before."""
    for key in KEYS:
        value = StatusValue(Status.RUNNING, f"{workers[0].name}:8083", options.writes + 2)
        workers[0].write(key, value, safe=False)
    return settle(workers)


def _report_late(workers: Sequence[KafkaStatusWorker]) -> tuple[str, ...]:
    """The others say safely what was true in generation 1: all have read better, so that no such write goes out."""
    for worker in workers[1:]:
        for key in KEYS:
            worker.write(key, StatusValue(Status.UNASSIGNED, f"{worker.name}:8083", 1), safe=True)
    return settle(workers)


def settle(workers: Sequence[KafkaStatusWorker]) -> tuple[str, ...]:
    """Wait until every send is answered and everything is read back; what is not in time is returned."""
    return ask_until(lambda: _pending(workers), not_, timeout_s=SETTLE_TIMEOUT_S, pause_s=POLL_MS / 1000)


def _pending(workers: Sequence[KafkaStatusWorker]) -> tuple[str, ...]:
    """What the workers have still to do. The ends are asked for only once nothing is in flight: a record answered
    after the ends were read is part of neither, and a worker that has not read it would count as at rest."""
    unanswered = tuple(reason for worker in workers if (reason := worker.unanswered()))
    if unanswered:
        return unanswered
    ends = workers[0].ends()
    return tuple(reason for worker in workers if (reason := worker.unread(ends)))
