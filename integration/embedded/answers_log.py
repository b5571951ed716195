"""Answers about records: Produce, Fetch, ListOffsets, and the producer id that an idempotent producer asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from rebalance_check.integration.embedded.topics import CorruptBatch, Topics
from rebalance_check.integration.wire.kafka_python import ApiMessage, consumer, errors, producer
from rebalance_check.model.vocabulary.errors import Error


def init_producer_id(producer_id: int) -> ApiMessage:
    """A producer id that nobody else has, at epoch 0."""
    return producer.InitProducerIdResponse(error_code=0, producer_id=producer_id, producer_epoch=0)


def produce(request: Any, topics: Topics, *, error: Error = Error.NONE) -> ApiMessage:
    """Append each partition's records, or answer ``error`` for all of them without appending."""
    response_of = producer.ProduceResponse.TopicProduceResponse
    responses = []
    for topic in request.topic_data:
        partitions = [_produce_one(topic.name, data, topics, error) for data in topic.partition_data]
        responses.append(response_of(name=topic.name, partition_responses=partitions))
    topics.wake()
    return producer.ProduceResponse(responses=responses)


def _produce_one(name: str, data: Any, topics: Topics, error: Error) -> Any:
    code, offset = int(error), -1
    if error is Error.NONE:
        code, offset = _append(name, data, topics)
    return producer.ProduceResponse.TopicProduceResponse.PartitionProduceResponse(
        index=data.index,
        error_code=code,
        base_offset=offset,
        log_append_time_ms=-1,
        log_start_offset=0,
        record_errors=[],
        error_message=None,
    )


def _append(name: str, data: Any, topics: Topics) -> tuple[int, int]:
    log = topics.log(name, data.index)
    if log is None:
        return int(Error.UNKNOWN_TOPIC_OR_PARTITION), -1
    try:
        return 0, log.append(bytes(data.records or b""))
    except CorruptBatch:
        code: int = errors.CorruptRecordError.errno
        return code, -1


async def fetch(request: Any, topics: Topics) -> ApiMessage:
    """The records from each offset on; waits up to ``max_wait_ms`` until there are ``min_bytes`` of them.

    Incremental fetch sessions (KIP-227) are declined: session id 0 tells the client to name all partitions each time.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + request.max_wait_ms / 1000
    while True:
        partitions = list(_fetched(request, topics))
        size = sum(len(data.records) for _, data in partitions)
        left = deadline - loop.time()
        if size >= request.min_bytes or left <= 0 or any(data.error_code for _, data in partitions):
            break
        await topics.appended(left)
    by_topic: dict[str, list[Any]] = {}
    for name, data in partitions:
        by_topic.setdefault(name, []).append(data)
    topic_of = consumer.FetchResponse.FetchableTopicResponse
    responses = [topic_of(topic=name, partitions=found) for name, found in by_topic.items()]
    return consumer.FetchResponse(error_code=0, session_id=0, responses=responses)


def _fetched(request: Any, topics: Topics) -> Iterator[tuple[str, Any]]:
    for topic in request.topics:
        for wanted in topic.partitions:
            yield topic.topic, _read(topic.topic, wanted, topics)


def _read(name: str, wanted: Any, topics: Topics) -> Any:
    code, end, records = int(Error.UNKNOWN_TOPIC_OR_PARTITION), -1, b""
    log = topics.log(name, wanted.partition)
    if log is not None:
        end = log.end_offset
        code = int(Error.NONE if 0 <= wanted.fetch_offset <= end else Error.OFFSET_OUT_OF_RANGE)
        if code == 0:
            records = log.read(wanted.fetch_offset, wanted.partition_max_bytes)
    return consumer.FetchResponse.FetchableTopicResponse.PartitionData(
        partition_index=wanted.partition,
        error_code=code,
        high_watermark=end,
        last_stable_offset=end,
        log_start_offset=0,
        aborted_transactions=None,
        preferred_read_replica=-1,
        records=records,
    )


def list_offsets(request: Any, topics: Topics) -> ApiMessage:
    """The offset for each partition's timestamp (earliest, latest, or a time in ms)."""
    topic_of = consumer.ListOffsetsResponse.ListOffsetsTopicResponse
    return consumer.ListOffsetsResponse(
        topics=[
            topic_of(name=topic.name, partitions=[_offset(topic.name, p, topics) for p in topic.partitions])
            for topic in request.topics
        ]
    )


def _offset(name: str, wanted: Any, topics: Topics) -> Any:
    log = topics.log(name, wanted.partition_index)
    code = int(Error.UNKNOWN_TOPIC_OR_PARTITION if log is None else Error.NONE)
    return consumer.ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse(
        partition_index=wanted.partition_index,
        error_code=code,
        timestamp=-1,
        offset=-1 if log is None else log.offset_for(wanted.timestamp),
        leader_epoch=-1 if log is None else 0,
    )
