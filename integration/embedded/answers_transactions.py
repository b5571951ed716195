"""Answers about producers and their transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.embedded.transactions import NO_PRODUCER, PRODUCER_FENCED, Producer, Transactions
from rebalance_check.integration.wire.kafka_python import ApiMessage, errors, producer
from rebalance_check.model.vocabulary.errors import Error

OPERATION_NOT_ATTEMPTED: Final[int] = errors.OperationNotAttemptedError.errno

FENCED_SINCE: Final = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "AddOffsetsToTxn": 2, "EndTxn": 2}
"""The first version of each api that answers PRODUCER_FENCED where older ones say INVALID_PRODUCER_EPOCH (KIP-588)."""


async def init_producer_id(request: Any, transactions: Transactions) -> ApiMessage:
    """A producer id that no other producer has, at epoch 0; for a transactional id always the same, in a new epoch.

    A transactional id is not empty, and a producer names both its id and its epoch, or neither (``KafkaApis``).
    """
    claimed = Producer(request.producer_id, request.producer_epoch)
    code, made = 0, NO_PRODUCER
    if request.transactional_id == "" or not (claimed == NO_PRODUCER or min(claimed) >= 0):
        code = int(Error.INVALID_REQUEST)
    elif request.transactional_id is None:
        made = transactions.new_producer()
    else:
        code, made = transactions.initialise(request.transactional_id, request.transaction_timeout_ms, claimed)
    code = _known_to("InitProducerId", request, code)
    return producer.InitProducerIdResponse(error_code=code, producer_id=made.id, producer_epoch=made.epoch)


async def add_partitions(request: Any, transactions: Transactions, topics: Topics) -> ApiMessage:
    """Partitions join the transaction: all that are named, or, if one of them does not exist, none."""
    name = request.v3_and_below_transactional_id
    wanted = {
        (topic.name, index): topics.log(topic.name, index) is not None
        async for topic in paced(request.v3_and_below_topics)
        for index in topic.partitions
    }
    if all(wanted.values()):
        by = Producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        code = _known_to("AddPartitionsToTxn", request, transactions.refusal(name, by))
        if code == 0 and wanted:
            transactions.add(name, partitions=wanted)
        return _results(dict.fromkeys(wanted, code), [topic.name for topic in request.v3_and_below_topics])
    missing = int(Error.UNKNOWN_TOPIC_OR_PARTITION)
    return _results({key: OPERATION_NOT_ATTEMPTED if exists else missing for key, exists in wanted.items()})


def _results(codes: Mapping[tuple[str, int], int], topics: Sequence[str] = ()) -> ApiMessage:
    """The code of each partition, by topic; ``topics`` are there without partitions, too."""
    topic_of = producer.AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
    partition_of = topic_of.AddPartitionsToTxnPartitionResult
    by_topic: dict[str, list[Any]] = {name: [] for name in topics}
    for (topic, index), code in codes.items():
        by_topic.setdefault(topic, []).append(partition_of(partition_index=index, partition_error_code=code))
    found = [topic_of(name=name, results_by_partition=results) for name, results in by_topic.items()]
    return producer.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=found)


async def add_offsets(request: Any, transactions: Transactions) -> ApiMessage:
    """The offsets of a group join the transaction."""
    code = transactions.refusal(request.transactional_id, _producer_of(request))
    if code == 0:
        transactions.add(request.transactional_id, groups=[request.group_id])
    return producer.AddOffsetsToTxnResponse(error_code=_known_to("AddOffsetsToTxn", request, code))


async def end_transaction(request: Any, transactions: Transactions) -> ApiMessage:
    """The transaction ends: its records count from now on, or never."""
    code = transactions.refusal(request.transactional_id, _producer_of(request))
    if code == 0:
        code = transactions.end(request.transactional_id, is_committed=request.committed)
    return producer.EndTxnResponse(error_code=_known_to("EndTxn", request, code))


def _producer_of(request: Any) -> Producer:
    return Producer(request.producer_id, request.producer_epoch)


def _known_to(api: str, request: Any, code: int) -> int:
    """The error code in a version that may be older than PRODUCER_FENCED."""
    is_old = code == PRODUCER_FENCED and not FENCED_SINCE[api] <= request.API_VERSION
    return int(Error.INVALID_PRODUCER_EPOCH) if is_old else code
