"""The port between a status store and its topic: a store's calls to a log, and a log's reports to a store.

A log is the store's producer and its reader in one. The store calls `StatusLog.send`; the owner of the log then calls

- ``store.completed(attempt, send, outcome, partition, offset)`` once for each send, when the producer's callback runs,
  and never from inside ``send``. ``partition`` and ``offset`` are given where the producer's answer is the only witness
  of the append: the store then records it. A log that records `StatusAppended` itself (as `SharedLog` does), or that
  learns of appends from record headers, leaves them out.
- ``store.read(partition, offset, key, value)`` for each record, in the order of its partition, each once; from the
  beginning when a store starts.
- ``store.reached(partition, position)`` where compaction removed the last records of a partition;
- ``store.run_retry()`` while ``store.retries`` is not 0: that is the store's single retry thread at work,
  which sends at once each write that the producer's callback hands to it.

Settings that a real log needs (``KafkaStatusBackingStore``): acks=all, one request in flight, no retries of its own, no
idempotence; its consumer reads all partitions without a group. Kafka's record is key and value only; ``attempt`` and
``send`` travel with them (in memory or as record headers) so that an append and its copies can be distinguished. A
store is not thread-safe: an adapter holds one lock around every call. Time is the recorder's clock; a store has none.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Protocol

CLIENT_ID_SUFFIX: Final = "statuses"
"""The client id of the store's producer and consumer is the worker's base id with this behind it."""

RETRY_THREAD_PREFIX: Final = "status-store-retry-"
"""The name of the store's retry thread is this, then the topic."""


class SendOutcome(StrEnum):
    """The producer's report on a send. A retriable failure does not say whether the record was appended."""

    OK = "ok"
    RETRIABLE = "retriable"
    FATAL = "fatal"


class StatusLog(Protocol):
    """Where a store writes."""

    def send(self, key: str, value: bytes | None, attempt: int, send: int) -> None:
        """Hand a record to the producer and return at once; ``value`` None is a tombstone.

        ``attempt`` numbers the calls of ``put`` and ``put_safe`` of this store from 0, ``send`` the times that this
        attempt was handed over from 1.
        """


class StatusReader(Protocol):
    """The side of a store that a log talks to."""

    def completed(
        self, attempt: int, send: int, outcome: SendOutcome, partition: int | None = None, offset: int | None = None
    ) -> None:
        """The producer's callback for one send."""

    def read(self, partition: int, offset: int, key: str | None, value: bytes | None) -> None:
        """One record of the topic, at its place in the order of its partition."""

    def reached(self, partition: int, position: int) -> None:
        """Every record before ``position`` was read, or is gone."""
