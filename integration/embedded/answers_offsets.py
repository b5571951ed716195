"""Answers about the offsets of a log: ListOffsets and DeleteRecords."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, NamedTuple

from rebalance_check.integration.embedded.cluster import NOT_LEADER_OR_FOLLOWER, Leads
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.partition_log import Batch, PartitionLog
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, consumer, errors
from rebalance_check.model.vocabulary.errors import Error

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6

SINCE: Final = {
    LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11
}  # fmt: skip
"""The version of ListOffsets that each negative timestamp came with; no other is known."""
NEVER: Final = 1 << 16

LEADER_EPOCH: Final = 0
READ_COMMITTED: Final = 1
HIGH_WATERMARK: Final = -1
INVALID_REQUEST: Final[int] = errors.InvalidRequestError.errno
FENCED_LEADER_EPOCH: Final[int] = errors.FencedLeaderEpochError.errno
UNKNOWN_LEADER_EPOCH: Final[int] = errors.UnknownLeaderEpochError.errno
UNSUPPORTED_COMPRESSION: Final[int] = errors.UnsupportedCompressionTypeError.errno


class Found(NamedTuple):
    """The result of a look-up: an error code, or an offset with the timestamp and leader epoch that go with it."""

    error_code: int = 0
    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


# ------------------------------------------------------------------------------------------------ ListOffsets


async def list_offsets(request: Any, topics: Topics, leads: Leads) -> ApiMessage:
    """The offset for each partition's timestamp: a time in ms, or the place that a negative one stands for (`SINCE`).

    A partition that is named twice is refused. Nothing is tiered: all records are local.
    """
    topic_of = consumer.ListOffsetsResponse.ListOffsetsTopicResponse
    partition_of = topic_of.ListOffsetsPartitionResponse
    named = Counter(
        [(topic.name, p.partition_index) async for topic in paced(request.topics) for p in topic.partitions]
    )
    wanted: dict[str, dict[int, Any]] = {}
    for topic in request.topics:
        if topic.partitions:
            wanted.setdefault(topic.name, {}).update({p.partition_index: p for p in topic.partitions})
    found = []
    for name, partitions in wanted.items():
        answered = []
        async for index, partition in paced(partitions.items()):
            is_named_twice = named[name, index] > 1
            one = (
                Found(INVALID_REQUEST)
                if is_named_twice
                else _answer(request, topics.log(name, index), partition, is_led=leads(name, index))
            )
            answered.append(partition_of(partition_index=index, **one._asdict()))
        found.append(topic_of(name=name, partitions=answered))
    return consumer.ListOffsetsResponse(topics=found)


def _answer(request: Any, log: PartitionLog | None, wanted: Any, *, is_led: bool) -> Found:
    timestamp, epoch = wanted.timestamp, wanted.current_leader_epoch
    if timestamp < 0 and not SINCE.get(timestamp, NEVER) <= request.API_VERSION:
        return Found(int(Error.UNSUPPORTED_VERSION))
    if log is None:
        return Found(int(Error.UNKNOWN_TOPIC_OR_PARTITION))
    if not is_led:
        return Found(NOT_LEADER_OR_FOLLOWER)
    if epoch not in (-1, LEADER_EPOCH):
        return Found(FENCED_LEADER_EPOCH if epoch < LEADER_EPOCH else UNKNOWN_LEADER_EPOCH)
    return look_up(log, timestamp, is_committed=request.isolation_level == READ_COMMITTED)


def look_up(log: PartitionLog, timestamp: int, *, is_committed: bool) -> Found:
    """The place in a log at a timestamp of ListOffsets; where ``is_committed``, nothing behind an open transaction
    is found."""
    end = log.stable_offset if is_committed else log.end_offset
    if timestamp == LATEST:
        return Found(offset=end, leader_epoch=LEADER_EPOCH)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return Found(offset=log.start_offset, leader_epoch=LEADER_EPOCH)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return Found()
    try:
        record = _newest(log) if timestamp == MAX_TIMESTAMP else _first_at(log, timestamp)
    except errors.UnsupportedCodecError:
        return Found(UNSUPPORTED_COMPRESSION)
    if record is None or record.offset >= end:
        return Found()
    return Found(offset=record.offset, timestamp=record.timestamp, leader_epoch=LEADER_EPOCH)


def _first_at(log: PartitionLog, timestamp: int) -> Any | None:
    """The first record at or after a time that is not deleted."""
    return next(
        (
            record
            for batch in log.batches
            if batch.max_timestamp >= timestamp and batch.last_offset >= log.start_offset
            for record in batch.records()
            if record.timestamp >= timestamp and record.offset >= log.start_offset
        ),
        None,
    )


def _newest(log: PartitionLog) -> Any | None:
    """The first record with the highest timestamp; Kafka does not ask whether it is deleted, either."""
    newest: Batch | None = max(log.batches, key=lambda batch: batch.max_timestamp, default=None)
    if newest is None:
        return None
    return next((record for record in newest.records() if record.timestamp == newest.max_timestamp), None)


# ------------------------------------------------------------------------------------------------ DeleteRecords


async def delete_records(request: Any, topics: Topics, leads: Leads) -> ApiMessage:
    """Delete the records before each partition's offset (-1: all of it); of a partition that is named twice, before the
    offset that was named last."""
    topic_of = admin.DeleteRecordsResponse.DeleteRecordsTopicResult
    partition_of = topic_of.DeleteRecordsPartitionResult
    wanted: dict[str, dict[int, int]] = {}
    async for topic in paced(request.topics):
        if topic.partitions:
            wanted.setdefault(topic.name, {}).update({p.partition_index: p.offset for p in topic.partitions})
    answered = []
    for name, partitions in wanted.items():
        results = []
        async for index, offset in paced(partitions.items()):
            code, low = _deleted(topics.log(name, index), offset, is_led=leads(name, index))
            results.append(partition_of(partition_index=index, low_watermark=low, error_code=code))
        answered.append(topic_of(name=name, partitions=results))
    return admin.DeleteRecordsResponse(topics=answered)


def _deleted(log: PartitionLog | None, offset: int, *, is_led: bool) -> tuple[int, int]:
    """The error code, and the first offset that is left."""
    if log is None:
        return int(Error.UNKNOWN_TOPIC_OR_PARTITION), -1
    if not is_led:
        return NOT_LEADER_OR_FOLLOWER, -1
    wanted = log.end_offset if offset == HIGH_WATERMARK else offset
    if not 0 <= wanted <= log.end_offset:
        return int(Error.OFFSET_OUT_OF_RANGE), -1
    log.start_offset = max(log.start_offset, wanted)
    return int(Error.NONE), log.start_offset
