"""Unmodified kafka-python clients over the embedded broker: they rebalance, commit, produce, survive faults."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.integration.live.kafka_python_api import (
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
)
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

DEADLINE_S = 20.0
PARTITIONS = {0, 1, 2, 3}


def poll_until(consumers: Sequence[Any], reached: Callable[[], bool]) -> None:
    """Poll all consumers in turn until the condition holds."""
    deadline = time.monotonic() + DEADLINE_S
    while not reached():
        assert time.monotonic() < deadline, [c.assignment() for c in consumers]
        for each in consumers:
            each.poll(timeout_ms=20)


def owned(each: Any) -> set[int]:
    return {tp.partition for tp in each.assignment()}


def settle(*consumers: Any) -> None:
    """Poll until every partition has exactly one owner, and nobody has more than one more than another."""

    def balanced() -> bool:
        sets = [owned(each) for each in consumers]
        sizes = [len(each) for each in sets]
        return set().union(*sets) == PARTITIONS and sum(sizes) == len(PARTITIONS) and max(sizes) - min(sizes) <= 1

    poll_until(consumers, balanced)


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_consumers_share_the_partitions__as_they_come_and_go(consumer: Callable[..., Any], protocol: str) -> None:
    first = consumer(protocol)
    settle(first)
    second = consumer(protocol)
    settle(first, second)
    first.close()
    settle(second)


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_a_commit_is_found_by_the_next_owner(consumer: Callable[..., Any], protocol: str) -> None:
    first = consumer(protocol)
    settle(first)
    first.commit({TopicPartition("t", 2): OffsetAndMetadata(17, "note", -1)})
    first.close()
    second = consumer(protocol)
    settle(second)
    assert second.committed(TopicPartition("t", 2)) == 17


def test_what_is_produced_is_consumed__in_order_and_once(broker: EmbeddedBroker) -> None:
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    for number in range(50):
        producer.send("t", value=b"%d" % number, key=b"k", partition=1)
    producer.flush()
    producer.close()
    reader = KafkaConsumer(bootstrap_servers=broker.bootstrap, group_id=None, auto_offset_reset="earliest")
    reader.assign([TopicPartition("t", 1)])
    found: list[Any] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(found) < 50 and time.monotonic() < deadline:
        found += [record for records in reader.poll(timeout_ms=100).values() for record in records]
    assert reader.end_offsets([TopicPartition("t", 1)]) == {TopicPartition("t", 1): 50}
    reader.close()
    assert [(r.offset, r.key, r.value) for r in found] == [(n, b"k", b"%d" % n) for n in range(50)]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault("SyncGroup", Effect.CLOSE_AFTER), id="the assignment is lost with the connection"),
        pytest.param(Fault("JoinGroup", Effect.CLOSE_BEFORE, nth=2), id="the join never arrives"),
        pytest.param(Fault("FindCoordinator", Effect.ANSWER, error=Error.COORDINATOR_NOT_AVAILABLE, times=2), id="15"),
        pytest.param(Fault("JoinGroup", Effect.ANSWER, error=Error.NOT_COORDINATOR, times=2), id="16"),
        pytest.param(Fault("SyncGroup", Effect.ANSWER, error=Error.REBALANCE_IN_PROGRESS), id="27"),
        pytest.param(Fault("Heartbeat", Effect.ANSWER, error=Error.UNKNOWN_MEMBER_ID, nth=3), id="25"),
        pytest.param(Fault("Heartbeat", Effect.ANSWER, error=Error.ILLEGAL_GENERATION, nth=3), id="22"),
        pytest.param(Fault("SyncGroup", Effect.DELAY, delay_s=0.3), id="the assignment is late"),
    ],
)
def test_a_consumer_recovers_from_a_fault(broker: EmbeddedBroker, consumer: Callable[..., Any], fault: Fault) -> None:
    broker.faults.add(fault)
    one = consumer("eager")
    poll_until([one], lambda: len(broker.faults.struck) == fault.times)
    settle(one)


def test_a_dropped_reply_leaves_the_request_handled(broker: EmbeddedBroker) -> None:
    broker.faults.add(Fault("Produce", Effect.DROP_REPLY))
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap, retries=0, enable_idempotence=False, request_timeout_ms=400,
        delivery_timeout_ms=800,
    )  # fmt: skip
    sent = producer.send("t", value=b"x", partition=0)
    with pytest.raises(Exception, match=r"imed out|imeout|xpired"):
        sent.get(timeout=5)
    producer.close()
    assert broker.faults.struck == (Fault("Produce", Effect.DROP_REPLY),)
    reader = KafkaConsumer(bootstrap_servers=broker.bootstrap, group_id=None)
    assert reader.end_offsets([TopicPartition("t", 0)]) == {TopicPartition("t", 0): 1}
    reader.close()


def test_an_idempotent_producer_appends_once__when_the_first_answer_was_lost(broker: EmbeddedBroker) -> None:
    broker.faults.add(Fault("Produce", Effect.CLOSE_AFTER))
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap, enable_idempotence=True, request_timeout_ms=2_000)
    assert producer.send("t", value=b"x", partition=0).get(timeout=15).offset == 0
    producer.close()
    assert len(broker.faults.struck) == 1
    reader = KafkaConsumer(bootstrap_servers=broker.bootstrap, group_id=None)
    assert reader.end_offsets([TopicPartition("t", 0)]) == {TopicPartition("t", 0): 1}
    reader.close()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"effect": Effect.DELAY}, "needs delay_s > 0"), ({"effect": Effect.ANSWER}, "needs an error other than NONE")],
)
def test_a_fault_without_its_detail_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(RebalanceCheckError, match=message):
        Fault("Heartbeat", **wrong)
