"""The embedded broker beyond groups, as clients use it: topics, configs, look-ups by time, transactions.

Every answer is compared with Kafka's in `tests/integration/brokers/test_administration_on_broker.py`.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.embedded.partition_log import PartitionLog, the_batch
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.embedded.transactions import NO_PRODUCER, PRODUCER_FENCED, Producer, Transactions
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, consumer, metadata
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.model.vocabulary.errors import Error
from tests.integration.brokers.administration import NOW, altered, batch, deleted, listed, produce
from tests.integration.brokers.transacting import Transacting

PARTITION = TopicPartition("t", 0)


@pytest.fixture
def connection(broker: EmbeddedBroker) -> Iterator[Connection]:
    with Connection(broker.bootstrap) as opened:
        yield opened


def offset_of(answer: Any) -> int:
    offset: int = answer["topics"][0]["partitions"][0]["offset"]
    return offset


def test_the_first_record_at_or_after_a_time_is_found_inside_its_batch(connection: Connection) -> None:
    produce(connection.call, "t", batch([1_000, 5_000, 3_000]))
    produce(connection.call, "t", batch([4_000, 2_000]))
    asked = [NOW + 1_001, NOW + 5_001, -3, -2, -1]
    assert [offset_of(listed(connection.call, "t", each, 7)) for each in asked] == [1, -1, 1, 0, 5]


def test_a_config_that_was_set_is_described_as_set(connection: Connection) -> None:
    of = admin.DescribeConfigsRequest.DescribeConfigsResource
    ask = admin.DescribeConfigsRequest(
        resources=[of(resource_type=2, resource_name="t", configuration_keys=["cleanup.policy"])]
    )
    refused = altered(connection.call, [(2, "t")], [("cleanup.policy", 0, "shred")], is_tried=False)
    assert refused["responses"][0]["error_code"] == 40
    altered(connection.call, [(2, "t")], [("cleanup.policy", 2, "compact")], is_tried=False)
    (config,) = connection.call(ask, 4).results[0].configs
    assert (config.value, config.config_source) == ("delete,compact", 1)


def test_the_settings_of_the_coordinator_are_configs_of_the_broker(connection: Connection) -> None:
    of = admin.DescribeConfigsRequest.DescribeConfigsResource
    ask = admin.DescribeConfigsRequest(resources=[of(resource_type=4, resource_name="1", configuration_keys=None)])
    configs = {each.name: each.value for each in connection.call(ask, 4).results[0].configs}
    assert configs["group.min.session.timeout.ms"] == "100"
    assert configs["auto.create.topics.enable"] == "false"


def test_partitions_are_added__and_a_topic_that_is_deleted_takes_its_committed_offsets_along(
    connection: Connection, group: RawGroup
) -> None:
    group.request(0, msg.OffsetCommitRequest(group_id="g", version=7, offsets=(msg.CommittedOffset("t", 0, 5),)))
    group.replies(at_least=1, timeout_s=5)
    of = admin.CreatePartitionsRequest.CreatePartitionsTopic
    more = admin.CreatePartitionsRequest(topics=[of(name="t", count=9, assignments=None)], timeout_ms=1_000)
    assert connection.call(more, 3).results[0].error_code == 0
    named = metadata.MetadataRequest.MetadataRequestTopic(name="t")
    ask = metadata.MetadataRequest(topics=[named], allow_auto_topic_creation=False)
    assert len(connection.call(ask, 5).topics[0].partitions) == 9

    assert deleted(connection.call, ["t"], 5)["responses"][0]["error_code"] == 0
    assert connection.call(ask, 5).topics[0].error_code == Error.UNKNOWN_TOPIC_OR_PARTITION
    committed = consumer.OffsetFetchRequest(group_id="g", topics=None, require_stable=False)
    assert connection.call(committed, 7).topics == []


def test_deleted_records_are_behind_the_start_of_the_log(connection: Connection) -> None:
    produce(connection.call, "t", batch([0, 1, 2]))
    of = admin.DeleteRecordsRequest.DeleteRecordsTopic
    wanted = of(name="t", partitions=[of.DeleteRecordsPartition(partition_index=0, offset=2)])
    answer = connection.call(admin.DeleteRecordsRequest(topics=[wanted], timeout_ms=1_000), 2)
    assert answer.topics[0].partitions[0].low_watermark == 2
    assert offset_of(listed(connection.call, "t", -2, 7)) == 2
    part = consumer.FetchRequest.FetchTopic.FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1 << 20)
    read = consumer.FetchRequest(topics=[consumer.FetchRequest.FetchTopic(topic="t", partitions=[part])])
    assert connection.call(read, 11).responses[0].partitions[0].error_code == Error.OFFSET_OUT_OF_RANGE


# ------------------------------------------------------------------------------------------------ transactions


def values(bootstrap: str, isolation: str, count: int) -> list[bytes]:
    """The first ``count`` records that a consumer of kafka-python reads."""
    reader = KafkaConsumer(
        bootstrap_servers=bootstrap, isolation_level=isolation, auto_offset_reset="earliest", group_id=None,
        consumer_timeout_ms=5_000,
    )  # fmt: skip
    try:
        reader.assign([PARTITION])
        return [record.value for record in islice(reader, count)]
    finally:
        reader.close()


def test_a_transactional_producer_of_kafka_python_commits_and_aborts(broker: EmbeddedBroker) -> None:
    writer = KafkaProducer(bootstrap_servers=broker.bootstrap, transactional_id="x")
    writer.init_transactions()
    for value, is_committed in ((b"lost", False), (b"kept", True)):
        writer.begin_transaction()
        writer.send("t", value, partition=0)
        writer.send_offsets_to_transaction({TopicPartition("t", 1): OffsetAndMetadata(7, "", -1)}, "g")
        writer.flush()
        if is_committed:
            writer.commit_transaction()
        else:
            writer.abort_transaction()
    writer.close()
    assert values(broker.bootstrap, "read_committed", 1) == [b"kept"]
    assert values(broker.bootstrap, "read_uncommitted", 2) == [b"lost", b"kept"]
    with Connection(broker.bootstrap) as connection:
        topic = consumer.OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[1])
        ask = consumer.OffsetFetchRequest(group_id="g", topics=[topic], require_stable=True)
        assert connection.call(ask, 7).topics[0].partitions[0].committed_offset == 7


def test_the_next_epoch_of_a_producer_aborts_what_it_left_and_fences_it(connection: Connection) -> None:
    left = Transacting(connection.call, "t")
    left.begin()
    left.add([0])
    left.write(0)
    assert offset_of(listed(connection.call, "t", -1, 7, isolation=1)) == 0
    left.begin()
    assert offset_of(listed(connection.call, "t", -1, 7, isolation=1)) == 2
    assert left.end(True, epoch=-2) == PRODUCER_FENCED


def test_a_transaction_that_outlives_its_timeout_is_aborted() -> None:
    now, topics, ended = [0], Topics(), list[tuple[int, bool]]()
    topics.create("t", 1)
    transactions = Transactions(topics, lambda *each: ended.append(each), lambda: now[0])
    _, producer = transactions.initialise("x", 1_000, NO_PRODUCER)
    transactions.add("x", partitions=[("t", 0)], groups=["g"])
    now[0] = 999
    transactions.expire()
    assert ended == []
    now[0] = 1_000
    transactions.expire()
    assert ended == [(producer.id, False)]
    assert transactions.refusal("x", producer) == PRODUCER_FENCED
    assert transactions.refusal("x", Producer(producer.id, producer.epoch + 1)) == 0


def test_after_the_last_epoch_a_producer_gets_another_id() -> None:
    transactions = Transactions(Topics(), lambda *_: None, lambda: 0)
    seen = [transactions.initialise("x", 1, NO_PRODUCER)[1] for _ in range(0x8000)]
    assert max(each.epoch for each in seen) < 0x7FFF
    assert len({each.id for each in seen}) == 2


def test_only_what_was_aborted_is_named_to_a_reader() -> None:
    log = PartitionLog()
    for producer_id, is_committed in ((1, False), (2, True)):
        log.append(the_batch(batch([0], by=(producer_id, 0), sequence=0)))
        log.end_transaction(producer_id, 0, is_committed=is_committed)
    assert [(each.producer_id, each.first_offset) for each in log.aborted_between(0, 4)] == [(1, 0)]
    assert log.aborted_between(2, 4) == []
    assert (log.stable_offset, log.end_offset) == (4, 4)
