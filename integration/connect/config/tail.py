"""The config and the status topic of a cluster, read while the workers write: by a plain consumer, from the beginning.

Records become events at once, because compaction may take them away later. A record's time is the one that its producer
gave it, so that other workers' use of it comes later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from rebalance_check.integration.live.kafka_python_api import KafkaConsumer, TopicPartition
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

POLL_MS: Final = 50
JOIN_TIMEOUT_S: Final = 20.0
NS_PER_MS: Final = 1_000_000


class TopicTail:
    """A thread that hands each record of a topic's only partition to ``take``: offset, key, value, time in ns.

    Times are those of the records on the wall clock, never earlier than that of the record before.
    """

    def __init__(self, bootstrap: str, topic: str, take: Callable[[int, str | None, bytes | None, int], None]) -> None:
        self._topic = topic
        self._partition = TopicPartition(topic, 0)
        self._take = take
        self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, auto_offset_reset="earliest")
        self._consumer.assign([self._partition])
        self._closing = threading.Event()
        self._latest_ns = 0
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"tail of {topic}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read the records up to now, and end.

        Raises:
            RebalanceCheckError: reading failed at some time.
        """
        self._closing.set()
        self._thread.join(JOIN_TIMEOUT_S)
        if self._thread.is_alive():
            raise RebalanceCheckError(
                f"the topic {self._topic!r} was not read to its end within {JOIN_TIMEOUT_S:g} s: see the broker's log"
            )
        self._consumer.close()
        if self._failure is not None:
            raise RebalanceCheckError(f"the topic {self._topic!r} could not be read: {self._failure!r}")

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self._read()
            end = self._consumer.end_offsets([self._partition])[self._partition]
            while self._consumer.position(self._partition) < end:
                self._read()
        except BaseException as failure:  # nothing catches a thread's exception; `close` raises it
            self._failure = failure

    def _read(self) -> None:
        for records in self._consumer.poll(timeout_ms=POLL_MS).values():
            for record in records:
                self._hand_on(record)

    def _hand_on(self, record: Any) -> None:
        self._latest_ns = max(self._latest_ns, record.timestamp * NS_PER_MS)
        key = None if record.key is None else record.key.decode(errors="replace")
        self._take(record.offset, key, record.value, self._latest_ns)


def read_topic(bootstrap: str, topic: str) -> list[tuple[int, str]]:
    """The records that the only partition of a topic holds now, as (offset, key)."""
    partition = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, auto_offset_reset="earliest")
    try:
        consumer.assign([partition])
        end = consumer.end_offsets([partition])[partition]
        found: list[tuple[int, str]] = []
        while consumer.position(partition) < end:
            for records in consumer.poll(timeout_ms=POLL_MS).values():
                found += [(record.offset, (record.key or b"").decode(errors="replace")) for record in records]
        return found
    finally:
        consumer.close()
