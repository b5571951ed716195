"""The marker of a transaction's end: a batch with one control record (``EndTransactionMarker``)."""

from __future__ import annotations

import struct
from typing import Final

from rebalance_check.integration.wire.kafka_python import DefaultRecordBatchBuilder, crc32c

ABORT: Final = 0
COMMIT: Final = 1
COORDINATOR_EPOCH: Final = 0

_KEY: Final = struct.Struct(">hh")
_VALUE: Final = struct.Struct(">hi")
_INT16: Final = struct.Struct(">h")
_UINT32: Final = struct.Struct(">I")
_NO_SEQUENCE: Final = -1


def control_batch(producer_id: int, epoch: int, *, is_committed: bool, timestamp: int) -> bytes:
    """The marker as a batch with base offset 0; ``timestamp`` in ms."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=True, producer_id=producer_id, producer_epoch=epoch,
        base_sequence=_NO_SEQUENCE, batch_size=0,
    )  # fmt: skip
    key = _KEY.pack(0, COMMIT if is_committed else ABORT)
    builder.append(0, timestamp, key, _VALUE.pack(0, COORDINATOR_EPOCH), [])
    return _marked_as_control(bytearray(builder.build()))


def _marked_as_control(batch: bytearray) -> bytes:
    """kafka-python's builder writes no control batches: set the attribute, and the checksum that covers it."""
    at = DefaultRecordBatchBuilder.ATTRIBUTES_OFFSET
    (attributes,) = _INT16.unpack_from(batch, at)
    _INT16.pack_into(batch, at, attributes | DefaultRecordBatchBuilder.CONTROL_MASK)
    _UINT32.pack_into(batch, DefaultRecordBatchBuilder.CRC_OFFSET, crc32c(bytes(batch[at:])))
    return bytes(batch)
