"""The transactions of producers (KIP-98): which are open, their parts, and how they end.

As Kafka's coordinator of transactions, but that a transaction ends at once: CONCURRENT_TRANSACTIONS is never answered.
The broker calls `expire` before each request, so none is open beyond its timeout.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.kafka_python import errors
from rebalance_check.model.vocabulary.errors import Error

FIRST_PRODUCER_ID: Final = 1000
MAX_EPOCH: Final = 0x7FFF
MAX_TIMEOUT_MS: Final = 900_000
"""Kafka's setting is ``transaction.max.timeout.ms``, and this its default."""

INVALID_TRANSACTION_TIMEOUT: Final[int] = errors.InvalidTransactionTimeoutError.errno
PRODUCER_FENCED: Final[int] = errors.ProducerFencedError.errno


class Producer(NamedTuple):
    """A producer by its id and its epoch; -1 where a request names none."""

    id: int
    epoch: int


NO_PRODUCER: Final = Producer(-1, -1)


@dataclass(slots=True)
class Transaction:
    """The state of a transactional id: its producer, and the transaction that is open (``deadline_ms``: until
    when), with its partitions and groups. ``outcome`` is how the last one ended: None before the first."""

    producer: Producer
    timeout_ms: int
    previous_epoch: int = -1
    deadline_ms: int | None = None
    partitions: set[tuple[str, int]] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    has_commits: bool = False
    outcome: bool | None = None


class Transactions:
    """All transactional ids.

    ``end_in_groups`` gets a producer id and whether its offsets count; ``now_ms`` has the time. ``verifies`` is Kafka's
    setting ``transaction.partition.verification.enable``.
    """

    def __init__(self, topics: Topics, end_in_groups: Callable[[int, bool], None], now_ms: Callable[[], int]) -> None:
        self.verifies = True
        self._topics = topics
        self._end_in_groups = end_in_groups
        self._now_ms = now_ms
        self._known: dict[str, Transaction] = {}
        self._ids = itertools.count(FIRST_PRODUCER_ID)

    def new_producer(self) -> Producer:
        """A producer that no other is, at epoch 0."""
        return Producer(next(self._ids), 0)

    # ------------------------------------------------------------------------------------------ requests

    def initialise(self, name: str, timeout_ms: int, claimed: Producer) -> tuple[int, Producer]:
        """The producer of a transactional id, in a new epoch; its open transaction is aborted. Or an error code.

        ``claimed`` is the producer's belief about itself (KIP-360), or `NO_PRODUCER`.
        """
        if not 0 < timeout_ms <= MAX_TIMEOUT_MS:
            return INVALID_TRANSACTION_TIMEOUT, NO_PRODUCER
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = Transaction(self.new_producer(), timeout_ms)
            return 0, known.producer
        is_repeated = claimed == Producer(known.producer.id, known.previous_epoch)
        if claimed not in (NO_PRODUCER, known.producer) and not is_repeated:
            return PRODUCER_FENCED, NO_PRODUCER
        if known.deadline_ms is not None:
            self._abort(known)
        if not is_repeated:
            known.previous_epoch = claimed.epoch
            known.producer = self._next_epoch(known.producer)
        known.timeout_ms, known.outcome = timeout_ms, None
        return 0, known.producer

    def refusal(self, name: str, producer: Producer) -> int:
        """Why a producer may do nothing under a transactional id, as an error code; 0 where it may."""
        if not name:
            return int(Error.INVALID_REQUEST)
        known = self._known.get(name)
        if known is None or known.producer.id != producer.id:
            return int(Error.INVALID_PRODUCER_ID_MAPPING)
        return 0 if known.producer.epoch == producer.epoch else PRODUCER_FENCED

    def add(self, name: str, partitions: Iterable[tuple[str, int]] = (), groups: Iterable[str] = ()) -> None:
        """Take partitions and groups into the transaction of an id that is known, which opens if none is."""
        known = self._known[name]
        if known.deadline_ms is None:
            known.deadline_ms = self._now_ms() + known.timeout_ms
        known.partitions.update(partitions)
        known.groups.update(groups)

    def end(self, name: str, *, is_committed: bool) -> int:
        """End the transaction of an id that is known; the end of one that has ended so already is repeated."""
        known = self._known[name]
        if known.deadline_ms is None:
            return 0 if known.outcome is is_committed else int(Error.INVALID_TXN_STATE)
        self._end(known, is_committed=is_committed)
        return 0

    # ------------------------------------------------------------------------------------------ verification

    def verify_partition(self, name: str, producer: Producer, partition: tuple[str, int]) -> int:
        """Why records may not be written to a partition in a transaction; 0 where they may."""
        return self._verify(name, producer, lambda known: partition in known.partitions)

    def verify_commit(self, name: str, producer: Producer, group_id: str) -> Error:
        """Why offsets may not be committed in a transaction; those of one that has others are not asked about."""
        if self.verifies and not any(
            known.has_commits and known.producer == producer for known in self._known.values()
        ):
            return Error(self._verify(name, producer, lambda known: group_id in known.groups))
        return Error.NONE

    def note_commit(self, producer: Producer) -> None:
        """Offsets were committed in the transaction of a producer."""
        for known in self._known.values():
            if known.producer == producer and known.deadline_ms is not None:
                known.has_commits = True

    def _verify(self, name: str, producer: Producer, has_it: Callable[[Transaction], bool]) -> int:
        if not self.verifies:
            return 0
        code = self.refusal(name, producer)
        if code:
            return int(Error.INVALID_PRODUCER_EPOCH) if code == PRODUCER_FENCED else code
        return 0 if has_it(self._known[name]) else int(Error.INVALID_TXN_STATE)

    # ------------------------------------------------------------------------------------------ ends

    def expire(self) -> None:
        """Abort a transaction that is open beyond its timeout; its producer is fenced."""
        for known in self._known.values():
            if known.deadline_ms is not None and known.deadline_ms <= self._now_ms():
                self._abort(known)

    def _abort(self, known: Transaction) -> None:
        """Abort in a new epoch, so that the producer, should it be alive, is refused from now on."""
        fenced = known.producer
        known.producer = fenced._replace(epoch=min(fenced.epoch + 1, MAX_EPOCH))
        self._end(known, is_committed=False)

    def _end(self, known: Transaction, *, is_committed: bool) -> None:
        for topic, index in sorted(known.partitions):
            log = self._topics.log(topic, index)
            if log is not None:
                log.end_transaction(*known.producer, is_committed=is_committed)
        if known.groups:
            self._end_in_groups(known.producer.id, is_committed)
        known.partitions, known.groups, known.has_commits = set(), set(), False
        known.deadline_ms, known.outcome = None, is_committed
        self._topics.wake()

    def _next_epoch(self, producer: Producer) -> Producer:
        """The next epoch; after the last one another id."""
        return Producer(producer.id, producer.epoch + 1) if producer.epoch < MAX_EPOCH - 1 else self.new_producer()
