"""The config and the status topic of a real cluster as the logs of our stores, by kafka-python's producer and consumer.

Every report to a store goes through `WorkerThreads.post`: the store is touched by one thread.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from rebalance_check.impl.connect.config.errors import ConfigRecordError
from rebalance_check.impl.connect.config.log import ConfigReader, LogStep, ReadToEnd, Send
from rebalance_check.impl.connect.config.values import ConfigRecord
from rebalance_check.impl.connect.status.attempts import NoRecordKeyError
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.integration.connect.workers.ours.threads import WorkerThreads
from rebalance_check.integration.live.kafka_python_api import KafkaConsumer, KafkaProducer, TopicPartition, errors
from rebalance_check.integration.live.send_outcome import outcome_of
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

POLL_MS: Final = 20
RETRY_MS: Final = 100
SEND_TIMEOUT_S: Final = 30.0
START_TIMEOUT_S: Final = 60.0

Take = Callable[[int, "str | None", "bytes | None"], None]
OnEnd = Callable[[int], None]


class TopicReader:
    """A thread that posts each record of a topic's only partition to ``take``, and says when it has reached an end."""

    def __init__(self, bootstrap: str, topic: str, threads: WorkerThreads, take: Take) -> None:
        self._bootstrap, self._topic, self._threads, self._take = bootstrap, topic, threads, take
        self._partition = TopicPartition(topic, 0)
        self._wanted: queue.SimpleQueue[tuple[OnEnd, OnEnd]] = queue.SimpleQueue()
        self._ends: list[tuple[int, OnEnd]] = []
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reader of {topic}", daemon=True)
        self._thread.start()

    def read_to_end(self, then: OnEnd, found: OnEnd = lambda _end: None) -> None:
        """Post ``then`` once every record below the end of now was posted; ``found`` gets that end at once.

        Both get the end's offset; the reader's own thread calls ``found``.
        """
        self._wanted.put((then, found))

    def close(self) -> None:
        """Read no more."""
        self._closing.set()

    def _run(self) -> None:
        consumer = KafkaConsumer(bootstrap_servers=self._bootstrap, group_id=None, auto_offset_reset="earliest")
        consumer.assign([self._partition])
        while not self._closing.is_set():
            try:
                self._read(consumer)
            except errors.KafkaError:
                self._closing.wait(RETRY_MS / 1000)
        consumer.close()

    def _read(self, consumer: Any) -> None:
        while not self._wanted.empty():
            end = consumer.end_offsets([self._partition])[self._partition]
            then, found = self._wanted.get()
            self._ends.append((end, then))
            found(end)
        for records in consumer.poll(timeout_ms=POLL_MS).values():
            for record in records:
                key = None if record.key is None else record.key.decode(errors="replace")
                self._threads.post(partial(self._take, record.offset, key, record.value))
        position = consumer.position(self._partition)
        for end, then in [each for each in self._ends if each[0] <= position]:
            self._ends.remove((end, then))
            self._threads.post(partial(then, end))


class KafkaConfigLog:
    """The log of a config store: a plain producer, and a reader. ``store`` is set after making one."""

    partitions = 1

    def __init__(self, bootstrap: str, topic: str, threads: WorkerThreads) -> None:
        self.store: ConfigReader | None = None
        self._topic, self._threads = topic, threads
        self._sends: queue.SimpleQueue[tuple[int, tuple[ConfigRecord, ...]] | None] = queue.SimpleQueue()
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=False)
        self._reader = TopicReader(bootstrap, topic, threads, self._take)
        threading.Thread(target=self._send_all, name=f"writer of {topic}", daemon=True).start()

    def submit(self, number: int, step: LogStep) -> None:
        """Do the step in a thread of its own, and report with ``number``.

        Raises:
            RebalanceCheckError: the step needs transactions, which this log has not.
        """
        match step:
            case Send(records=records, transaction=False):
                self._sends.put((number, records))
            case ReadToEnd():
                self._reader.read_to_end(lambda _end: self._completed(number))
            case _:
                raise RebalanceCheckError("a worker of ours has no transactions: leave exactly_once disabled")

    def close_transactions(self) -> None:
        """There are none."""

    def close(self) -> None:
        """Read no more, and send no more after the records submitted."""
        self._reader.close()
        self._sends.put(None)

    def _send_all(self) -> None:
        while (step := self._sends.get()) is not None:
            number, records = step
            failure = ""
            try:
                sent = [self._producer.send(self._topic, key=r.key.encode(), value=r.value, partition=0)
                        for r in records]  # fmt: skip
                for future in sent:
                    future.get(timeout=SEND_TIMEOUT_S)
            except errors.KafkaError as error:
                failure = str(error) or type(error).__name__
            self._threads.post(partial(self._completed, number, failure))
        self._producer.close(timeout=5)

    def _completed(self, number: int, failure: str = "") -> None:
        if self.store is not None:
            self.store.completed(number, failure)

    def _take(self, offset: int, key: str | None, value: bytes | None) -> None:
        """A record that Kafka's callback throws at is lost; here the rest of its batch is not."""
        if self.store is not None:
            try:
                self.store.read(offset, key, value)
            except ConfigRecordError:
                return


class KafkaStatusLog:
    """The log of a status store; its producer has Connect's settings. `start` names the store."""

    def __init__(self, bootstrap: str, topic: str, threads: WorkerThreads, client_id: str) -> None:
        self.store: StatusStore | None = None
        self._topic, self._threads = topic, threads
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap, client_id=client_id, acks="all", retries=0, enable_idempotence=False,
            max_in_flight_requests_per_connection=1,
        )  # fmt: skip
        self._reader = TopicReader(bootstrap, topic, threads, self._take)

    def start(self, store: StatusStore) -> None:
        """Read for this store, which is started once it has read the topic's present records.

        Raises:
            RebalanceCheckError: no broker names the topic's end within `START_TIMEOUT_S`.
        """
        self.store = store
        ends: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._reader.read_to_end(partial(self._reached, store), ends.put)
        try:
            store.start((ends.get(timeout=START_TIMEOUT_S),))
        except queue.Empty:
            raise RebalanceCheckError(
                f"no broker named the end of the topic {self._topic} within {START_TIMEOUT_S:.0f} s: "
                "check that Kafka runs and that the topic exists"
            ) from None

    def send(self, key: str, value: bytes | None, attempt: int, send: int) -> None:
        """Hand a record to the producer, and report when it is answered."""
        try:
            future = self._producer.send(self._topic, key=key.encode(), value=value, partition=0)
        except errors.KafkaError as failure:
            self._threads.post(partial(self._failed, attempt, send, failure))
            return
        future.add_callback(lambda done: self._threads.post(partial(self._appended, attempt, send, done)))
        future.add_errback(lambda failure: self._threads.post(partial(self._failed, attempt, send, failure)))

    def close(self) -> None:
        """Read and send no more."""
        self._reader.close()
        self._producer.close(timeout=5)

    def _reached(self, store: StatusStore, end: int) -> None:
        store.reached(0, end)
        self._threads.wake_herder()

    def _appended(self, attempt: int, send: int, done: Any) -> None:
        if self.store is not None:
            self.store.completed(attempt, send, SendOutcome.OK, done.partition, done.offset)
            self._threads.wake_herder()

    def _failed(self, attempt: int, send: int, failure: Any) -> None:
        if self.store is None:
            return
        self.store.completed(attempt, send, outcome_of(failure))
        if self.store.retries:
            self._threads.post(self.store.run_retry)

    def _take(self, offset: int, key: str | None, value: bytes | None) -> None:
        if self.store is not None and not self.store.stopped:
            try:
                self.store.read(0, offset, key, value)
            except NoRecordKeyError:
                return
