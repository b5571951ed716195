"""The parts of kafka-python that speak the protocol: the one place that knows where they live.

The package ships no types, and type checkers hold stubs of an older release against it, so all of it passes as Any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    ApiKey: Any
    ApiMessage = Any
    DefaultRecordBatchBuilder: Any
    KafkaProtocol: Any
    MemoryRecords: Any
    admin: Any
    consumer: Any
    crc32c: Any
    errors: Any
    metadata: Any
    producer: Any
else:
    from kafka import errors
    from kafka.protocol import admin, consumer, metadata, producer
    from kafka.protocol.api_key import ApiKey
    from kafka.protocol.api_message import ApiMessage
    from kafka.protocol.parser import KafkaProtocol
    from kafka.record.default_records import DefaultRecordBatchBuilder
    from kafka.record.memory_records import MemoryRecords
    from kafka.record.util import calc_crc32c as crc32c

__all__ = [
    "ApiKey", "ApiMessage", "DefaultRecordBatchBuilder", "KafkaProtocol", "MemoryRecords", "admin", "consumer",
    "crc32c", "errors", "metadata", "producer",
]  # fmt: skip
