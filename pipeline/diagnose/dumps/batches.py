"""One record batch of message format 2 (``DefaultRecordBatch``, ``DefaultRecord``, KIP-98): head and records."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.diagnose.dumps.compression import NotDecompressed, decompressed
from rebalance_check.pipeline.diagnose.dumps.crc32c import crc32c

LOG_OVERHEAD: Final = 12
"""The base offset and the length, which all message formats begin with."""
MAGIC_AT: Final = 16
HEAD: Final = 61
"""The bytes before the records."""
_HEAD: Final = struct.Struct(">qiibIhiqqqhii")
_CRC_FROM: Final = 21
_CODEC: Final = 0x07
_APPEND_TIME: Final = 0x08
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
_MARKER: Final = struct.Struct(">hh")
_COMMIT: Final = 1


class BadBatch(RebalanceCheckError):  # noqa: N818 - named for its meaning
    """A batch whose bytes are damaged, or compressed with a codec that is not installed."""


class Record(NamedTuple):
    """A record of a batch."""

    offset: int
    time_ms: int
    key: bytes | None
    value: bytes | None


class Batch(NamedTuple):
    """A batch. ``data`` are all its bytes, the head included."""

    base_offset: int
    attributes: int
    last_offset: int
    base_time_ms: int
    max_time_ms: int
    producer: int
    records: int
    data: bytes

    @property
    def transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def control(self) -> bool:
        """Whether it is the marker of a transaction's end."""
        return bool(self.attributes & _CONTROL)


def batch_of(data: bytes) -> Batch:
    """The batch that these bytes are.

    Raises: BadBatch when they are fewer than its head, or when they do not match its checksum.
    """
    if len(data) < HEAD:
        raise BadBatch(f"a batch of {len(data)} bytes is shorter than its head of {HEAD}")
    base, _, _, _, crc, attributes, delta, first, latest, producer, _, _, count = _HEAD.unpack_from(data)
    found = crc32c(memoryview(data)[_CRC_FROM:])
    if found != crc:
        raise BadBatch(f"the checksum of the batch is {found:08x}, and {crc:08x} is written: its bytes are damaged")
    return Batch(base, attributes, base + delta, first, latest, producer, count, data)


def records_of(batch: Batch) -> Iterator[Record]:
    """Its records, in order.

    Raises: BadBatch.
    """
    body = batch.data[HEAD:]
    if codec := batch.attributes & _CODEC:
        try:
            body = decompressed(body, codec)
        except NotDecompressed as error:
            raise BadBatch(str(error)) from error
    fixed = batch.max_time_ms if batch.attributes & _APPEND_TIME else None
    at = 0
    for _ in range(batch.records):
        try:
            record, at = _record(body, at, batch, fixed)
        except IndexError as error:
            raise BadBatch(f"a record at byte {at} of the batch's {len(body)} is cut off") from error
        yield record


def committed(marker: Record) -> bool:
    """Whether a control record says that its transaction is committed (``EndTransactionMarker``)."""
    key = marker.key or b""
    return len(key) >= _MARKER.size and _MARKER.unpack_from(key)[1] == _COMMIT


def _record(body: bytes, at: int, batch: Batch, fixed_time: int | None) -> tuple[Record, int]:
    length, at = _varint(body, at)
    end = at + length
    if length < 1 or end > len(body):
        raise IndexError
    at += 1  # its attributes, of which none is in use
    later, at = _varint(body, at)
    delta, at = _varint(body, at)
    key, at = _field(body, at, end)
    value, at = _field(body, at, end)
    time = batch.base_time_ms + later if fixed_time is None else fixed_time
    return Record(batch.base_offset + delta, time, key, value), end


def _field(body: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    length, at = _varint(body, at)
    if length < 0:
        return None, at
    if at + length > end:
        raise IndexError
    return body[at : at + length], at + length


def _varint(body: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte whose lowest bit is the sign (zigzag)."""
    value = body[at]
    at += 1
    if value >= 0x80:
        value &= 0x7F
        for shift in range(7, 70, 7):
            byte = body[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            raise IndexError
    return (value >> 1) ^ -(value & 1), at
