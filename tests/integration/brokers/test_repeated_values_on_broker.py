"""Repeated or missing parts of a request are answered by the embedded broker as by Kafka, in every version."""

import time
from typing import Any

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.wire.apis import api_name
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import consumer, metadata
from tests.integration.brokers.repeated_values import GROUP, NULL_RECORDS, ONE, TWO, cases

pytestmark = pytest.mark.broker

COORDINATOR_S = 20.0

OF_THE_CLUSTER = frozenset(
    {"authorized_operations", "brokers", "cluster_authorized_operations", "cluster_id", "configs", "controller_id",
     "error_message", "host", "isr_nodes", "leader_epoch", "leader_id", "log_append_time_ms", "node_id", "port",
     "records", "replica_nodes", "throttle_time_ms", "topic_authorized_operations", "topic_id"}
)  # fmt: skip
"""Fields that say which broker answers, when, or in words."""

BY_HASH = frozenset({"CreateTopics", "DeleteGroups", "ListOffsets", "Produce"})
"""Kafka answers these in the order of a hash table."""

BY_NAME_IN_KAFKA_3 = frozenset({"ListOffsets", "Metadata", "OffsetCommit", "OffsetDelete", "OffsetFetch"})
"""Kafka 3 merges the topics of some of these by name, where Kafka 4 does not, and the other way round."""

UNANSWERED_BY_KAFKA_3 = "no group"
"""An OffsetFetch of no group, from version 8 on; Kafka 4 answers it."""


def compared(field: Any) -> Any:
    if isinstance(field, dict):
        return {name: compared(value) for name, value in field.items() if name not in OF_THE_CLUSTER}
    return [compared(one) for one in field] if isinstance(field, list) else field


def unordered(field: Any) -> Any:
    if isinstance(field, dict):
        return {name: unordered(value) for name, value in field.items()}
    return sorted((unordered(one) for one in field), key=str) if isinstance(field, list) else field


def partitions_by_name(answer: Any) -> Any:
    """Each partition of each topic once, wherever it stands."""
    topics = [*answer.get("topics", ()), *(topic for group in answer.get("groups", ()) for topic in group["topics"])]
    return {(topic["name"], str(one)) for topic in topics for one in topic["partitions"]}


def differs(name: str, kafka: Any, embedded: Any, *, is_kafka_3: bool) -> bool:
    if is_kafka_3 and name in BY_NAME_IN_KAFKA_3:
        return bool(partitions_by_name(kafka) != partitions_by_name(embedded))
    if name in BY_HASH:
        return bool(unordered(kafka) != unordered(embedded))
    return bool(kafka != embedded)


@pytest.fixture(scope="module")
def kafka(real: Broker) -> Broker:
    """The broker with the topics, when it coordinates the group."""
    create_topic(real.bootstrap, ONE, 2)
    create_topic(real.bootstrap, TWO, 2)
    ask = consumer.OffsetFetchRequest(group_id=GROUP, topics=[])
    deadline = time.monotonic() + COORDINATOR_S
    with Connection(real.bootstrap) as connection:
        while connection.call(ask, 2).error_code:
            assert time.monotonic() < deadline
            connection.call(metadata.FindCoordinatorRequest(key=GROUP), 0)
            time.sleep(0.1)
    return real


def test_repeated_and_missing_values_are_answered_as_by_kafka(kafka: Broker) -> None:
    is_kafka_3 = kafka.name.startswith("kafka 3")
    with Connection(kafka.bootstrap) as connection:
        served = connection.call(metadata.ApiVersionsRequest(), 0).api_keys
    most = {each.api_key: each.max_version for each in served}
    different, count = [], 0
    with (
        EmbeddedBroker({ONE: 2, TWO: 2}) as broker,
        Connection(kafka.bootstrap) as to_kafka,
        Connection(broker.bootstrap) as to_embedded,
    ):
        for repeated, request, version in cases(most):
            if is_kafka_3 and repeated == UNANSWERED_BY_KAFKA_3:
                continue
            answers = [compared(to.call(request, version).to_dict()) for to in (to_kafka, to_embedded)]
            count += 1
            if differs(api_name(request), *answers, is_kafka_3=is_kafka_3):
                different.append((api_name(request), version, repeated, *answers))
    assert different == [], [(name, version, repeated) for name, version, repeated, *_ in different]
    assert count > 250


def test_a_produce_with_null_records_is_never_answered__and_the_embedded_broker_hangs_up(kafka: Broker) -> None:
    with (
        EmbeddedBroker({ONE: 2}) as broker,
        Connection(broker.bootstrap) as to_embedded,
        pytest.raises(ConnectionError, match="closed the connection instead of answering"),
    ):
        to_embedded.call(NULL_RECORDS, 9)
    expected = TimeoutError if kafka.name.startswith("kafka") else ConnectionError
    with Connection(kafka.bootstrap, timeout_s=3) as to_kafka, pytest.raises(expected):
        to_kafka.call(NULL_RECORDS, 9)


def test_kafka_3_never_answers_an_offset_fetch_of_no_group(kafka: Broker) -> None:
    ask = consumer.OffsetFetchRequest(groups=[], require_stable=False)
    with Connection(kafka.bootstrap, timeout_s=3) as connection:
        if kafka.name.startswith("kafka 3"):
            with pytest.raises(TimeoutError):
                connection.call(ask, 8)
        else:
            assert connection.call(ask, 8).groups == []
