"""Answers about records: Produce and Fetch."""

from __future__ import annotations

import asyncio
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from rebalance_check.integration.embedded.cluster import NOT_LEADER_OR_FOLLOWER, Leads
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.partition_log import AppendRefused, PartitionLog, the_batch
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.embedded.transactions import Producer, Transactions
from rebalance_check.integration.wire.kafka_python import ApiMessage, consumer, errors, producer
from rebalance_check.model.vocabulary.errors import Error

ACKS: Final = frozenset({-1, 0, 1})
READ_COMMITTED: Final = 1
FETCH_SESSION_ID_NOT_FOUND: Final[int] = errors.FetchSessionIdNotFoundError.errno
TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Final[int] = errors.TransactionalIdAuthorizationFailedError.errno
INVALID_REQUIRED_ACKS: Final[int] = errors.InvalidRequiredAcksError.errno


async def produce(request: Any, topics: Topics, transactions: Transactions, leads: Leads) -> ApiMessage:
    """Append each partition's records, those of a transaction where it may write.

    Of a partition that is named twice, the records that were named last are appended.
    """
    code = 0 if request.acks in ACKS else INVALID_REQUIRED_ACKS
    response_of = producer.ProduceResponse.TopicProduceResponse
    wanted: dict[str, dict[int, Any]] = {}
    async for topic in paced(request.topic_data):
        if topic.partition_data:
            wanted.setdefault(topic.name, {}).update({data.index: data for data in topic.partition_data})
    writer = _Writer(request.transactional_id, topics, transactions, leads)
    responses = []
    for name, partitions in wanted.items():
        found = [writer.answer(name, data, code) async for data in paced(partitions.values())]
        responses.append(response_of(name=name, partition_responses=found))
    topics.wake()
    return producer.ProduceResponse(responses=responses)


def has_null_records(request: Any) -> bool:
    """Whether a Produce request has a partition with null instead of records."""
    return any(data.records is None for topic in request.topic_data for data in topic.partition_data)


class _Writer:
    """Appends the records of one Produce request."""

    def __init__(self, transactional_id: str | None, topics: Topics, transactions: Transactions, leads: Leads) -> None:
        self._transactional_id = transactional_id
        self._leads = leads
        self._topics = topics
        self._transactions = transactions

    def answer(self, name: str, data: Any, code: int) -> Any:
        """Append the batch of a partition, unless there is an error code already."""
        offset, start = -1, -1
        log = self._topics.log(name, data.index)
        if code == 0 and log is None:
            code = int(Error.UNKNOWN_TOPIC_OR_PARTITION)
        if code == 0 and not self._leads(name, data.index):
            code = NOT_LEADER_OR_FOLLOWER
        if code == 0 and log is not None:
            try:
                offset, start = self._append(log, (name, data.index), bytes(data.records)), log.start_offset
            except AppendRefused as refused:
                code = refused.code
        return producer.ProduceResponse.TopicProduceResponse.PartitionProduceResponse(
            index=data.index,
            error_code=code,
            base_offset=offset,
            log_append_time_ms=-1,
            log_start_offset=start,
            record_errors=[],
            error_message=None,
        )

    def _append(self, log: PartitionLog, partition: tuple[str, int], records: bytes) -> int:
        """The offset; a producer whose transaction has records in the log already is not asked for more."""
        batch = the_batch(records)
        if batch.is_transactional:
            self._verify(log, partition, Producer(batch.producer_id, batch.producer_epoch))
        return log.append(batch)

    def _verify(self, log: PartitionLog, partition: tuple[str, int], by: Producer) -> None:
        if self._transactional_id is None:
            raise AppendRefused(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "a transaction without a name")
        code = 0
        if by.id not in log.open:
            code = self._transactions.verify_partition(self._transactional_id, by, partition)
        if code:
            raise AppendRefused(code, f"{partition} is not in a transaction of {by}")


async def fetch(request: Any, topics: Topics, leads: Leads) -> ApiMessage:
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
        partitions = await _fetched(request, wanted, topics, leads)
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


async def _fetched(
    request: Any, wanted: dict[tuple[str, int], Any], topics: Topics, leads: Leads
) -> list[tuple[str, Any]]:
    """The batches of each partition, ``max_bytes`` in all; the first batch comes also when it is longer."""
    found, left = [], request.max_bytes
    is_committed = request.isolation_level == READ_COMMITTED
    async for (name, index), partition in paced(wanted.items()):
        log = topics.log(name, index)
        if log is not None and not leads(name, index):
            data = _refused(partition, NOT_LEADER_OR_FOLLOWER, aborted=None)
        else:
            data = _read(log, partition, left, is_committed=is_committed)
        left -= len(data.records)
        found.append((name, data))
    return found


def _read(log: PartitionLog | None, wanted: Any, left: int, *, is_committed: bool) -> Any:
    if log is None:
        return _refused(wanted, Error.UNKNOWN_TOPIC_OR_PARTITION, aborted=[])
    if not log.start_offset <= wanted.fetch_offset <= log.end_offset:
        return _refused(wanted, Error.OFFSET_OUT_OF_RANGE, aborted=None)
    end = log.stable_offset if is_committed else log.end_offset
    records, reached = b"", wanted.fetch_offset
    if left > 0:
        records, reached = log.read(wanted.fetch_offset, min(wanted.partition_max_bytes, left), end)
    return consumer.FetchResponse.FetchableTopicResponse.PartitionData(
        partition_index=wanted.partition,
        error_code=0,
        high_watermark=log.end_offset,
        last_stable_offset=log.stable_offset,
        log_start_offset=log.start_offset,
        aborted_transactions=_aborted(log, wanted.fetch_offset, reached) if is_committed else None,
        preferred_read_replica=-1,
        records=records,
    )


def _aborted(log: PartitionLog, first: int, end: int) -> list[Any]:
    aborted = consumer.FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction
    return [
        aborted(producer_id=each.producer_id, first_offset=each.first_offset)
        for each in log.aborted_between(first, end)
    ]


def _refused(wanted: Any, error: int, aborted: list[Any] | None) -> Any:
    return consumer.FetchResponse.FetchableTopicResponse.PartitionData(
        partition_index=wanted.partition,
        error_code=int(error),
        high_watermark=-1,
        last_stable_offset=-1,
        log_start_offset=-1,
        aborted_transactions=aborted,
        preferred_read_replica=-1,
        records=b"",
    )
