"""The log of one partition: record batches as their producers sent them, in memory.

Only the base offset is written into a batch, which its checksum leaves out (``DefaultRecordBatch``: the CRC covers
everything from the attributes on). Nothing is compacted; deleted records are hidden, and stay in memory.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from rebalance_check.integration.embedded.control_batch import control_batch
from rebalance_check.integration.wire.kafka_python import MemoryRecords, errors

CURRENT_MAGIC: Final = 2
NO_TIMESTAMP: Final = -1
CORRUPT_MESSAGE: Final[int] = errors.CorruptRecordError.errno
INVALID_RECORD: Final[int] = errors.InvalidRecordError.errno
INVALID_PRODUCER_EPOCH: Final[int] = errors.InvalidProducerEpochError.errno
INVALID_TXN_STATE: Final[int] = errors.InvalidTxnStateError.errno

_BASE_OFFSET: Final = struct.Struct(">q")


class AppendRefused(Exception):  # noqa: N818 - named for the fate of the records
    """Records that are not appended; ``code`` is Kafka's error code."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True, slots=True)
class Batch:
    """One record batch with the offsets of its first and last record, and its highest timestamp in ms."""

    base_offset: int
    last_offset: int
    max_timestamp: int
    data: bytes

    def records(self) -> Iterator[Any]:
        """Its records. kafka-python's ``UnsupportedCodecError`` for a compression whose library is not installed."""
        for batch in MemoryRecords(self.data):
            yield from batch


class AbortedTransaction(NamedTuple):
    """A transaction that readers of committed records skip: from the first offset to that of the marker."""

    producer_id: int
    first_offset: int
    marker_offset: int


@dataclass(slots=True)
class PartitionLog:
    """The batches of one partition, in order of offset.

    ``sent`` has the offset of each batch of an idempotent producer by epoch and sequence, ``epochs`` the highest epoch
    of each, ``open`` the first offset of each transaction that has not ended, by producer id.
    """

    batches: list[Batch] = field(default_factory=list)
    start_offset: int = 0
    sent: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    open: dict[int, int] = field(default_factory=dict)
    aborted: list[AbortedTransaction] = field(default_factory=list)

    @property
    def end_offset(self) -> int:
        """The offset that the next record will get."""
        return self.batches[-1].last_offset + 1 if self.batches else 0

    @property
    def stable_offset(self) -> int:
        """The offset of the first record of an open transaction: readers of committed records wait there."""
        return min(self.open.values(), default=self.end_offset)

    def append(self, batch: Any) -> int:
        """Append a batch of kafka-python and return the offset of its first record.

        A batch that an idempotent producer repeats is not appended again: the answer is the offset it got the first
        time.

        Raises:
            AppendRefused: a newer epoch of its producer is known, or a transaction is open and the batch not in it.
        """
        if batch.producer_id < 0:
            return self._keep(batch)
        self._check_producer(batch)
        sent = self.sent.setdefault(batch.producer_id, {})
        identity = (batch.producer_epoch, batch.base_sequence)
        if identity not in sent:
            sent[identity] = self._keep(batch)
            if batch.is_transactional:
                self.open.setdefault(batch.producer_id, sent[identity])
        return sent[identity]

    def _check_producer(self, batch: Any) -> None:
        newest = self.epochs.get(batch.producer_id, -1)
        if batch.producer_epoch < newest:
            raise AppendRefused(INVALID_PRODUCER_EPOCH, f"epoch {batch.producer_epoch}, and {newest} is known")
        if batch.producer_id in self.open and not batch.is_transactional:
            raise AppendRefused(INVALID_TXN_STATE, "a batch outside the transaction that is open")
        self.epochs[batch.producer_id] = batch.producer_epoch

    def end_transaction(self, producer_id: int, epoch: int, *, is_committed: bool) -> None:
        """Append the marker of a transaction's end; producers of an older epoch are refused from now on.

        Its timestamp is later than all in the log, as that of a marker is: no clock here knows the time of day.
        """
        newest = max((batch.max_timestamp for batch in self.batches), default=NO_TIMESTAMP)
        (marker,) = MemoryRecords(control_batch(producer_id, epoch, is_committed=is_committed, timestamp=newest + 1))
        self.epochs[producer_id] = max(epoch, self.epochs.get(producer_id, -1))
        offset = self._keep(marker)
        first = self.open.pop(producer_id, None)
        if first is not None and not is_committed:
            self.aborted.append(AbortedTransaction(producer_id, first, offset))

    def _keep(self, batch: Any) -> int:
        base = self.end_offset
        data = _BASE_OFFSET.pack(base) + bytes(batch._buffer[_BASE_OFFSET.size :])
        self.batches.append(Batch(base, base + batch.last_offset_delta, batch.max_timestamp, data))
        return base

    def read(self, offset: int, max_bytes: int, end: int) -> tuple[bytes, int]:
        """Whole batches before the offset ``end``, from the one that holds ``offset`` on: at least one, at most
        ``max_bytes`` beyond it; with the offset behind the last of them."""
        position = max(bisect_right(self.batches, offset, key=lambda batch: batch.base_offset) - 1, 0)
        chunks: list[bytes] = []
        size, reached = 0, offset
        for batch in self.batches[position:]:
            if batch.last_offset < offset:
                continue
            if batch.base_offset >= end or (chunks and size + len(batch.data) > max_bytes):
                break
            chunks.append(batch.data)
            size += len(batch.data)
            reached = batch.last_offset + 1
        return b"".join(chunks), reached

    def aborted_between(self, first: int, end: int) -> list[AbortedTransaction]:
        """The aborted transactions with records from the offset ``first`` up to, not including, ``end``."""
        return [each for each in self.aborted if each.marker_offset >= first and each.first_offset < end]


def the_batch(records: bytes) -> Any:
    """The one batch that a Produce request has for a partition (``ProduceRequest.validateRecords``).

    Raises:
        AppendRefused: the bytes are no batches of the present format, or not exactly one.
    """
    batches = _parsed(records) if records else []
    if len(batches) != 1:
        raise AppendRefused(INVALID_RECORD, f"{len(batches)} batches, not one")
    return batches[0]


def _parsed(records: bytes) -> list[Any]:
    try:
        batches = list(MemoryRecords(records))
        valid = all(batch.magic == CURRENT_MAGIC and batch.validate_crc() for batch in batches)
    except Exception as error:
        # The parser meets arbitrary bytes and may fail in any way.
        raise AppendRefused(CORRUPT_MESSAGE, f"{len(records)} bytes are no record batches ({error!r})") from error
    if not batches or not valid:
        raise AppendRefused(
            CORRUPT_MESSAGE, f"{len(records)} bytes hold no record batch, one of an old format, or a wrong checksum"
        )
    return batches
