"""Answers about records: Produce, Fetch, ListOffsets, and the producer id that an idempotent producer asks for."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topics import CorruptBatch, Topics
from rebalance_check.integration.wire.kafka_python import ApiMessage, consumer, errors, producer
from rebalance_check.model.vocabulary.errors import Error

ACKS: Final = frozenset({-1, 0, 1})
NO_PRODUCER: Final = (-1, -1)
FETCH_SESSION_ID_NOT_FOUND: Final[int] = errors.FetchSessionIdNotFoundError.errno
INVALID_RECORD: Final[int] = errors.InvalidRecordError.errno
INVALID_REQUIRED_ACKS: Final[int] = errors.InvalidRequiredAcksError.errno
INVALID_REQUEST: Final[int] = errors.InvalidRequestError.errno


async def init_producer_id(request: Any, producer_id: int) -> ApiMessage:
    """A producer id that no other producer has, at epoch 0.

    A transactional id is not empty, and a producer names both its id and its epoch, or neither (``KafkaApis``).
    """
    named = (request.producer_id, request.producer_epoch)
    is_valid = request.transactional_id != "" and (named == NO_PRODUCER or min(named) >= 0)
    if not is_valid:
        return producer.InitProducerIdResponse(
            error_code=INVALID_REQUEST, producer_id=NO_PRODUCER[0], producer_epoch=NO_PRODUCER[1]
        )
    return producer.InitProducerIdResponse(error_code=0, producer_id=producer_id, producer_epoch=0)


async def produce(request: Any, topics: Topics, *, error_code: int = 0) -> ApiMessage:
    """Append each partition's records, or answer ``error_code`` for all of them without appending.

    Of a partition that is named twice, the records that were named last are appended.
    """
    code = error_code if request.acks in ACKS else INVALID_REQUIRED_ACKS
    response_of = producer.ProduceResponse.TopicProduceResponse
    wanted: dict[str, dict[int, Any]] = {}
    async for topic in paced(request.topic_data):
        if topic.partition_data:
            wanted.setdefault(topic.name, {}).update({data.index: data for data in topic.partition_data})
    responses = []
    for name, partitions in wanted.items():
        found = [_produce_one(name, data, topics, code) async for data in paced(partitions.values())]
        responses.append(response_of(name=name, partition_responses=found))
    topics.wake()
    return producer.ProduceResponse(responses=responses)


def has_null_records(request: Any) -> bool:
    """Whether a Produce request has a partition with null instead of records."""
    return any(data.records is None for topic in request.topic_data for data in topic.partition_data)


def _produce_one(name: str, data: Any, topics: Topics, code: int) -> Any:
    offset = -1
    if code == 0:
        code, offset = _append(name, data, topics)
    return producer.ProduceResponse.TopicProduceResponse.PartitionProduceResponse(
        index=data.index,
        error_code=code,
        base_offset=offset,
        log_append_time_ms=-1,
        log_start_offset=0 if code == 0 else -1,
        record_errors=[],
        error_message=None,
    )


def _append(name: str, data: Any, topics: Topics) -> tuple[int, int]:
    """The error and the offset; each partition has exactly one batch (``ProduceRequest.validateRecords``)."""
    log = topics.log(name, data.index)
    if log is None:
        return int(Error.UNKNOWN_TOPIC_OR_PARTITION), -1
    try:
        offset = log.append(bytes(data.records))
    except CorruptBatch:
        code: int = errors.CorruptRecordError.errno
        return code, -1
    return (INVALID_RECORD, -1) if offset is None else (0, offset)


async def fetch(request: Any, topics: Topics) -> ApiMessage:
    """The records from each offset on; waits up to ``max_wait_ms`` until there are ``min_bytes`` of them.

    Incremental fetch sessions (KIP-227) are declined: session id 0 tells the client to name all partitions each time.
    A partition that is named twice is read once, from the offset that was named last.
    """
    if request.session_id != 0:
        return consumer.FetchResponse(error_code=FETCH_SESSION_ID_NOT_FOUND, session_id=0, responses=[])
    wanted = {(topic.topic, each.partition): each async for topic in paced(request.topics) for each in topic.partitions}
    loop = asyncio.get_running_loop()
    deadline = loop.time() + request.max_wait_ms / 1000
    while True:
        partitions = await _fetched(wanted, request.max_bytes, topics)
        size = sum(len(data.records) for _, data in partitions)
        left = deadline - loop.time()
        if size >= request.min_bytes or left <= 0 or any(data.error_code for _, data in partitions):
            break
        await topics.appended(left)
    topic_of = consumer.FetchResponse.FetchableTopicResponse
    responses = [
        topic_of(topic=name, partitions=[data for _, data in found])
        for name, found in groupby(partitions, key=itemgetter(0))
    ]
    return consumer.FetchResponse(error_code=0, session_id=0, responses=responses)


async def _fetched(wanted: dict[tuple[str, int], Any], max_bytes: int, topics: Topics) -> list[tuple[str, Any]]:
    """What each partition has, ``max_bytes`` in all; the first batch comes also when it is longer."""
    found, left = [], max_bytes
    async for (name, _), partition in paced(wanted.items()):
        data = _read(name, partition, topics, left)
        left -= len(data.records)
        found.append((name, data))
    return found


def _read(name: str, wanted: Any, topics: Topics, left: int) -> Any:
    code, end, records = int(Error.UNKNOWN_TOPIC_OR_PARTITION), -1, b""
    log = topics.log(name, wanted.partition)
    if log is not None and not 0 <= wanted.fetch_offset <= log.end_offset:
        code = int(Error.OFFSET_OUT_OF_RANGE)
    elif log is not None:
        code, end = int(Error.NONE), log.end_offset
        if left > 0:
            records = log.read(wanted.fetch_offset, min(wanted.partition_max_bytes, left))
    return consumer.FetchResponse.FetchableTopicResponse.PartitionData(
        partition_index=wanted.partition,
        error_code=code,
        high_watermark=end,
        last_stable_offset=end,
        log_start_offset=0 if code == 0 else -1,
        aborted_transactions=[] if log is None else None,
        preferred_read_replica=-1,
        records=records,
    )


async def list_offsets(request: Any, topics: Topics) -> ApiMessage:
    """The offset for each partition's timestamp (earliest, latest, or a time in ms); one named twice is refused."""
    topic_of = consumer.ListOffsetsResponse.ListOffsetsTopicResponse
    named = Counter(
        [(topic.name, p.partition_index) async for topic in paced(request.topics) for p in topic.partitions]
    )
    wanted: dict[str, dict[int, Any]] = {}
    for topic in request.topics:
        if topic.partitions:
            wanted.setdefault(topic.name, {}).update({p.partition_index: p for p in topic.partitions})
    found = [
        topic_of(
            name=name,
            partitions=[_offset(name, p, topics, named[name, index]) async for index, p in paced(partitions.items())],
        )
        async for name, partitions in paced(wanted.items())
    ]
    return consumer.ListOffsetsResponse(topics=found)


def _offset(name: str, wanted: Any, topics: Topics, times_named: int) -> Any:
    log = topics.log(name, wanted.partition_index)
    code = int(Error.UNKNOWN_TOPIC_OR_PARTITION if log is None else Error.NONE)
    if times_named > 1:
        code, log = INVALID_REQUEST, None
    return consumer.ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse(
        partition_index=wanted.partition_index,
        error_code=code,
        timestamp=-1,
        offset=-1 if log is None else log.offset_for(wanted.timestamp),
        leader_epoch=-1 if log is None else 0,
    )
