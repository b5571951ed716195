"""One write of a status store, how long it is retried, and the errors of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from rebalance_check.impl.connect.status.cache import CacheEntry
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    StatusValue,
    TaskKey,
    TopicKey,
    TopicValue,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class StatusStoreError(RebalanceCheckError):
    """The store was used in a way that Kafka's throws at; ``java`` names Kafka's exception."""

    java: ClassVar[str] = "IllegalStateException"


class NoRecordKeyError(StatusStoreError):
    """A record without a key was read: the rest of its batch is lost, and during the start the start fails."""

    java = "NullPointerException"


class NoWorkerCachedError(StatusStoreError):
    """A safe write was checked against a cached status of no worker."""

    java = "NullPointerException"


@dataclass(slots=True, eq=False)
class Attempt:
    """One call of put or put_safe: a record that is sent, again and again, until it is answered or given up."""

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
