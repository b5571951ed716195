"""An embedded broker with several nodes: only its leader serves the records of a partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.kafka_python_api import KafkaConsumer, KafkaProducer, TopicPartition
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, consumer, errors, metadata, producer
from tests.integration.brokers.repeated_values import batch


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker({"t": 4}, nodes=3) as started:
        yield started


def served_by(broker: EmbeddedBroker, api: str) -> list[list[int]]:
    """The error codes that each node answers about the partitions of the topic "t"."""
    return [[each.error_code for each in _about_each_partition(address, api)] for address in broker.addresses]


def _about_each_partition(address: str, api: str) -> Any:
    with Connection(address) as connection:
        if api == "Produce":
            data = producer.ProduceRequest.TopicProduceData
            wanted = [data.PartitionProduceData(index=index, records=batch()) for index in range(4)]
            request = producer.ProduceRequest(
                acks=1, timeout_ms=100, topic_data=[data(name="t", partition_data=wanted)]
            )
            return connection.call(request, 7).responses[0].partition_responses
        if api == "Fetch":
            topic = consumer.FetchRequest.FetchTopic
            asked = [topic.FetchPartition(partition=index, fetch_offset=0) for index in range(4)]
            request = consumer.FetchRequest(topics=[topic(topic="t", partitions=asked)])
            return connection.call(request, 11).responses[0].partitions
        if api == "ListOffsets":
            of = consumer.ListOffsetsRequest.ListOffsetsTopic
            sought = [of.ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(4)]
            request = consumer.ListOffsetsRequest(topics=[of(name="t", partitions=sought)])
            return connection.call(request, 5).topics[0].partitions
        gone = admin.DeleteRecordsRequest.DeleteRecordsTopic
        deleted = [gone.DeleteRecordsPartition(partition_index=index, offset=-1) for index in range(4)]
        request = admin.DeleteRecordsRequest(topics=[gone(name="t", partitions=deleted)], timeout_ms=100)
        return connection.call(request, 1).topics[0].partitions


@pytest.mark.parametrize("api", ["Produce", "Fetch", "ListOffsets", "DeleteRecords"])
def test_a_partition_is_served_by_the_node_that_leads_it__as_metadata_says(broker: EmbeddedBroker, api: str) -> None:
    elsewhere = int(errors.NotLeaderForPartitionError.errno)
    assert served_by(broker, api) == [
        [0, elsewhere, elsewhere, 0],
        [elsewhere, 0, elsewhere, elsewhere],
        [elsewhere, elsewhere, 0, elsewhere],
    ]


def test_a_producer_and_a_consumer_find_the_leader_of_each_partition(broker: EmbeddedBroker) -> None:
    sender = KafkaProducer(bootstrap_servers=broker.bootstrap)
    for index in range(4):
        sender.send("t", value=b"x", partition=index).get(10)
    sender.close()
    reader = KafkaConsumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=10_000)
    reader.assign([TopicPartition("t", index) for index in range(4)])
    assert sorted(next(reader).partition for _ in range(4)) == [0, 1, 2, 3]
    reader.close()


def assigned(*nodes: Sequence[int]) -> Any:
    """A topic "u" whose partitions a request assigns to these nodes."""
    topic = admin.CreateTopicsRequest.CreatableTopic
    by_hand = [topic.CreatableReplicaAssignment(partition_index=at, broker_ids=[*ids]) for at, ids in enumerate(nodes)]
    return topic(name="u", num_partitions=-1, replication_factor=-1, assignments=by_hand, configs=[])


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (([2], [2], [1]), None),
        (([2], [4]), "The manual partition assignment includes broker 4, but no such broker is registered."),
        (([2, 2],), "The manual partition assignment includes the broker 2 more than once."),
        (([2, 1],), "At most 1 replica of a partition is kept here."),
    ],
)
def test_a_topic_is_assigned_to_nodes_by_hand(
    broker: EmbeddedBroker, nodes: tuple[list[int], ...], message: str | None
) -> None:
    create = admin.CreateTopicsRequest(topics=[assigned(*nodes)], timeout_ms=1_000, validate_only=False)
    look = metadata.MetadataRequest(topics=[metadata.MetadataRequest.MetadataRequestTopic(name="u")])
    with Connection(broker.bootstrap) as connection:
        assert connection.call(create, 5).topics[0].error_message == message
        leaders = [each.leader_id for each in connection.call(look, 5).topics[0].partitions]
    assert leaders == ([node for (node,) in nodes] if message is None else [])
