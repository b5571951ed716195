"""The broker's topics: an in-memory log of record batches for each partition.

Batches are kept as the producer sent them; only the base offset is written into them, which their checksum leaves out
(``DefaultRecordBatch``: the CRC covers everything from the attributes on). Nothing is compacted or deleted.
"""

from __future__ import annotations

import asyncio
import struct
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.integration.wire.kafka_python import MemoryRecords

EARLIEST_TIMESTAMP: Final = -2
LATEST_TIMESTAMP: Final = -1
NO_OFFSET: Final = -1
CURRENT_MAGIC: Final = 2

_BASE_OFFSET: Final = struct.Struct(">q")


class CorruptBatch(Exception):  # noqa: N818 - Kafka's word for it
    """The records of a Produce request are no valid record batches; they are answered with CORRUPT_MESSAGE."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One record batch with the offsets of its first and last record, and its highest timestamp in ms."""

    base_offset: int
    last_offset: int
    max_timestamp: int
    data: bytes


@dataclass(slots=True)
class PartitionLog:
    """The batches of one partition, in order of offset."""

    batches: list[Batch] = field(default_factory=list)
    producers: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)

    @property
    def end_offset(self) -> int:
        """The offset that the next record will get."""
        return self.batches[-1].last_offset + 1 if self.batches else 0

    def append(self, records: bytes) -> int | None:
        """Append the one batch in ``records`` and return the offset of its first record; None where it is not one.

        A batch that an idempotent producer repeats is not appended again: the answer is the offset it got the first
        time. `CorruptBatch` when the bytes are no batches; nothing is appended then.
        """
        batches = _parse(records) if records else []
        return self._append(batches[0]) if len(batches) == 1 else None

    def _append(self, batch: Any) -> int:
        sent = self.producers.setdefault(batch.producer_id, {}) if batch.producer_id >= 0 else {}
        identity = (batch.producer_epoch, batch.base_sequence)
        if identity in sent:
            return sent[identity]
        base = self.end_offset
        data = _BASE_OFFSET.pack(base) + bytes(batch._buffer[_BASE_OFFSET.size :])
        self.batches.append(Batch(base, base + batch.last_offset_delta, batch.max_timestamp, data))
        sent[identity] = base
        return base

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Whole batches from the one that holds ``offset`` on, at least one, at most ``max_bytes`` beyond it."""
        position = max(bisect_right(self.batches, offset, key=lambda batch: batch.base_offset) - 1, 0)
        chunks: list[bytes] = []
        size = 0
        for batch in self.batches[position:]:
            if batch.last_offset < offset:
                continue
            if chunks and size + len(batch.data) > max_bytes:
                break
            chunks.append(batch.data)
            size += len(batch.data)
        return b"".join(chunks)

    def offset_for(self, timestamp: int) -> int:
        """The first offset at or after a time in ms (or EARLIEST, LATEST); -1 when there is none."""
        if timestamp == EARLIEST_TIMESTAMP:
            return 0
        if timestamp == LATEST_TIMESTAMP:
            return self.end_offset
        return next((b.base_offset for b in self.batches if b.max_timestamp >= timestamp), NO_OFFSET)


def _parse(records: bytes) -> list[Any]:
    try:
        batches = list(MemoryRecords(records))
        valid = all(batch.magic == CURRENT_MAGIC and batch.validate_crc() for batch in batches)
    except Exception as error:
        # The parser meets arbitrary bytes and may fail in any way.
        raise CorruptBatch(f"{len(records)} bytes are no record batches ({error!r})") from error
    if not batches or not valid:
        raise CorruptBatch(f"{len(records)} bytes hold no record batch, one of an old format, or a wrong checksum")
    return batches


class Topics:
    """All topics, and a way to wait until something is appended to one of them. Belongs to one event loop."""

    def __init__(self) -> None:
        self._logs: dict[str, list[PartitionLog]] = {}
        self._appended = asyncio.Event()

    def create(self, name: str, partitions: int) -> None:
        """Create a topic; ``KeyError`` when it exists."""
        if name in self._logs:
            raise KeyError(name)
        self._logs[name] = [PartitionLog() for _ in range(partitions)]

    def __len__(self) -> int:
        return len(self._logs)

    def names(self) -> list[str]:
        """All topics, sorted."""
        return sorted(self._logs)

    def partitions(self, name: str) -> int | None:
        """How many partitions the topic has; None when it does not exist."""
        logs = self._logs.get(name)
        return None if logs is None else len(logs)

    def log(self, name: str, index: int) -> PartitionLog | None:
        """The log of a partition; None when it does not exist."""
        logs = self._logs.get(name, [])
        return logs[index] if 0 <= index < len(logs) else None

    def wake(self) -> None:
        """Records were appended: whatever waits for them goes on."""
        self._appended.set()
        self._appended = asyncio.Event()

    async def appended(self, timeout_s: float) -> None:
        """Return when records are appended or the time is over."""
        try:
            await asyncio.wait_for(self._appended.wait(), timeout_s)
        except TimeoutError:
            return
