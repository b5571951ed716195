"""Records for the clients to read and to commit: a few to each partition, again and again."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from rebalance_check.integration.live.kafka_python_api import KafkaProducer
from rebalance_check.integration.wire.kafka_python import errors

PAUSE_S: Final = 0.2
"""How long the feeder waits between two records of a partition, in seconds."""

METADATA_MS: Final = 1_000
"""How soon the feeder knows partitions that were added."""

FLUSH_TIMEOUT_S: Final = 10.0


class Feeder:
    """A context manager: inside, a thread appends records to each topic that was added.

    A record that the broker does not take is left out.
    """

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._partitions: dict[str, int] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feeder", daemon=True)

    def feed(self, topic: str, partitions: int) -> None:
        """Append to the topic from here on; ``partitions`` is how many it has."""
        self._partitions[topic] = partitions

    def stop_feeding(self, topic: str) -> None:
        """Append nothing more to the topic."""
        self._partitions.pop(topic, None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join(FLUSH_TIMEOUT_S)

    def _run(self) -> None:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap, enable_idempotence=False, acks=1, metadata_max_age_ms=METADATA_MS
        )
        try:
            number = 0
            while not self._is_over.wait(PAUSE_S):
                number += 1
                for topic, partitions in list(self._partitions.items()):
                    self._append(producer, topic, partitions, number)
        finally:
            with suppress(errors.KafkaError):  # records that the broker did not take are left out
                producer.close(timeout=0)

    @staticmethod
    def _append(producer: Any, topic: str, partitions: int, number: int) -> None:
        for index in range(partitions):
            try:
                producer.send(topic, value=b"%d" % number, partition=index)
            except (errors.KafkaError, ValueError):  # ValueError: it doesn't know the partition yet
                return
