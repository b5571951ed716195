"""Records and batches as a coordinator writes them to ``__consumer_offsets``.

Sources: ``GroupMetadataKey``/``Value`` version 3, ``OffsetCommitKey`` version 1, ``OffsetCommitValue`` version 3,
``DefaultRecordBatch``, ``DefaultRecord``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from rebalance_check.impl.coordinator.records import GroupRecord
from rebalance_check.impl.protocol.wire import Writer
from rebalance_check.pipeline.diagnose.dumps.crc32c import crc32c

Pair = tuple[bytes, bytes | None]

CRC_AT: Final = 17
CRC_FROM: Final = 21
TIMES_AT: Final = (27, 35)
"""The places of a batch's first and latest time."""
COMMIT_TIME_AT: Final = 16
"""The place of the time in a commit's value: behind version, offset, leader epoch and empty metadata."""
OFFSET_AT: Final = 2
_HEAD: Final = struct.Struct(">qiibIhiqqqhii")
_NONE: Final = -1


def group_pair(record: GroupRecord) -> Pair:
    """The key and the value of a completed generation."""
    key, value = Writer(), Writer()
    key.int16(2)
    key.string(record.group_id)
    value.int16(3)
    value.string(record.protocol_type)
    value.int32(record.generation)
    value.nullable_string(record.protocol_name)
    value.nullable_string(record.leader)
    value.int64(record.timestamp_ms)
    value.int32(len(record.members))
    for member in record.members:
        value.string(member.member_id)
        value.nullable_string(member.group_instance_id)
        value.string(member.client_id)
        value.string(member.client_host)
        value.int32(member.rebalance_timeout_ms)
        value.int32(member.session_timeout_ms)
        value.nullable_bytes(member.subscription)
        value.nullable_bytes(member.assignment)
    return key.done(), value.done()


def commit_pair(group: str, topic: str, partition: int, offset: int = 0, time_ms: int = 0) -> Pair:
    """The key and the value of a commit."""
    key, value = Writer(), Writer()
    key.int16(1)
    key.string(group)
    key.string(topic)
    key.int32(partition)
    value.int16(3)
    value.int64(offset)
    value.int32(_NONE)
    value.string("")
    value.int64(time_ms)
    return key.done(), value.done()


def batch(base: int, time_ms: int, pairs: Sequence[Pair]) -> tuple[bytes, list[int]]:
    """A batch of records of one time, and the place of each value in it."""
    records = bytearray()
    places: list[int] = []
    for index, (key, value) in enumerate(pairs):
        front = b"\x00" + _varint(0) + _varint(index) + _varint(len(key)) + key
        front += _varint(_NONE if value is None else len(value))
        length = len(front) + len(value or b"") + 1
        records += _varint(length) + front
        places.append(_HEAD.size + len(records))
        records += (value or b"") + _varint(0)
    size = _HEAD.size + len(records) - 12
    head = (base, size, 0, 2, 0, 0, len(pairs) - 1, time_ms, time_ms, _NONE, _NONE, _NONE, len(pairs))
    whole = bytearray(_HEAD.pack(*head) + records)
    struct.pack_into(">I", whole, CRC_AT, crc32c(memoryview(whole)[CRC_FROM:]))
    return bytes(whole), places


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest bit the sign."""
    rest = (number << 1) ^ (number >> 63)
    found = bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])
