"""Recorded consumers behave as they are: callbacks, commits, iteration; what a library does not show stays unknown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the recorders need the extra 'brokers'")

import aiokafka
import confluent_kafka

from rebalance_check import (
    Event,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    Outcome,
    PartitionsAssigned,
    PartitionsRevoked,
    RebalanceCheckError,
    judge,
    read_history,
    recording,
)
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.kafka_python_api import ConsumerRebalanceListener, KafkaConsumer
from rebalance_check.integration.live.topics import fill
from rebalance_check.integration.waiting import NotYet, await_until

TOPIC = "t"
PARTITIONS = tuple(f"{TOPIC}-{index}" for index in range(4))
POLL_MS = 500
"""Longer than a join: kafka-python joins again where a join completes between two polls (TRACK_RECORD.md)."""


def of_kind(history: Path, kind: type[Event]) -> list[Any]:
    return [event for event in read_history(history) if isinstance(event, kind)]


def poll_until(poll: Callable[[], object], done: Callable[[], object]) -> None:
    """Poll until something is so."""

    def probe() -> NotYet | bool:
        poll()
        return True if done() else NotYet("not yet")

    await_until(probe, timeout_s=60, pause_s=0.01, otherwise="the consumer is polled")


class Application(ConsumerRebalanceListener):
    """An application's own listener: what it was called with, and what stood in the history at that instant."""

    def __init__(self, history: Path) -> None:
        self.calls: list[tuple[str, int]] = []
        self._history = history

    def on_partitions_assigned(self, _assigned: Any) -> None:
        self._note("assigned", PartitionsAssigned)

    def on_partitions_revoked(self, _revoked: Any) -> None:
        self._note("revoked", PartitionsRevoked)

    def _note(self, name: str, kind: type[Event]) -> None:
        self.calls.append((name, len(of_kind(self._history, kind))))


def kafka_consumer(broker: EmbeddedBroker, *topics: str, **settings: Any) -> Any:
    consumer = KafkaConsumer(
        *topics, bootstrap_servers=broker.bootstrap, group_id="g", auto_offset_reset="earliest",
        **{"enable_auto_commit": False, **settings},
    )  # fmt: skip
    consumer.topics()
    return consumer


def test_kafka_python__owns_from_before_its_callback_until_after_it(broker: EmbeddedBroker, tmp_path: Path) -> None:
    path = tmp_path / "m0.jsonl"
    application = Application(path)
    with recording(kafka_consumer(broker), path, member="m0") as consumer:
        consumer.subscribe([TOPIC], listener=application)
        poll_until(lambda: consumer.poll(timeout_ms=POLL_MS), lambda: application.calls[-1:] == [("assigned", 1)])
        consumer.close()
    assert application.calls[0][0] == "revoked"  # of nothing: kafka-python prepares its first join, too
    assert application.calls[-1] == ("revoked", 0)  # recorded when the application has given up
    assert of_kind(path, PartitionsRevoked)[-1].partitions == PARTITIONS
    assert judge(path).outcome is Outcome.HELD


def test_kafka_python__topics_of_the_constructor_a_loop_and_both_kinds_of_commit(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    fill(broker.bootstrap, TOPIC, 4, 10)
    path, ended = tmp_path / "m0.jsonl", list[object]()
    with recording(kafka_consumer(broker, TOPIC), path, member="m0") as consumer:
        message = next(iter(consumer))
        consumer.commit()
        consumer.commit_async(callback=lambda _offsets, response: ended.append(response))
        poll_until(lambda: consumer.poll(timeout_ms=POLL_MS), lambda: ended)
        with pytest.raises(TypeError, match="offsets must be"):
            consumer.commit({message.partition: "nonsense"})
        consumer.close()
    commits = of_kind(path, OffsetCommitted)
    assert {commit.error for commit in commits} == {"NONE"}
    assert all(commit.generation > 0 and commit.member_id for commit in commits)
    (started,) = of_kind(path, MemberStarted)
    assert (started.client, started.topics, started.protocol) == ("kafka-python", (TOPIC,), "eager")
    assert started.assignors == ("range", "roundrobin")


def test_kafka_python__its_own_commits_are_recorded__without_a_generation(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    fill(broker.bootstrap, TOPIC, 4, 10)
    path = tmp_path / "m0.jsonl"
    consumer = kafka_consumer(broker, TOPIC, enable_auto_commit=True, auto_commit_interval_ms=100)
    with recording(consumer, path, member="m0") as consumer:
        poll_until(lambda: consumer.poll(timeout_ms=POLL_MS), lambda: of_kind(path, OffsetCommitted))
        consumer.close()
    assert {commit.generation for commit in of_kind(path, OffsetCommitted)} == {-1}


def test_kafka_python__unsubscribing_gives_everything_up(broker: EmbeddedBroker, tmp_path: Path) -> None:
    path = tmp_path / "m0.jsonl"
    with recording(kafka_consumer(broker, TOPIC), path, member="m0") as consumer:
        poll_until(lambda: consumer.poll(timeout_ms=POLL_MS), consumer.assignment)
        consumer.unsubscribe()
        consumer.subscribe([TOPIC])
        poll_until(lambda: consumer.poll(timeout_ms=POLL_MS), consumer.assignment)
        consumer.close()
    assert len(of_kind(path, PartitionsAssigned)) == 2
    assert judge(path).outcome is Outcome.HELD


def test_a_consumer_that_owns_partitions_already__begins_with_them(broker: EmbeddedBroker, tmp_path: Path) -> None:
    path = tmp_path / "m0.jsonl"
    plain = kafka_consumer(broker, TOPIC)
    poll_until(lambda: plain.poll(timeout_ms=POLL_MS), plain.assignment)
    with recording(plain, path, member="m0") as consumer:
        consumer.close()
    assert [event.partitions for event in of_kind(path, PartitionsAssigned)] == [PARTITIONS]
    assert judge(path).outcome is Outcome.HELD


def test_a_consumer_without_a_group_is_refused(broker: EmbeddedBroker, tmp_path: Path) -> None:
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap)
    with (
        pytest.raises(RebalanceCheckError, match="the consumer of m0 has no group id"),
        recording(consumer, tmp_path / "m0.jsonl", member="m0"),
    ):
        pass
    consumer.close()


def confluent(broker: EmbeddedBroker, **settings: Any) -> tuple[Any, dict[str, Any]]:
    config = {
        "bootstrap.servers": broker.bootstrap, "group.id": "g", "auto.offset.reset": "earliest",
        "broker.address.family": "v4", "enable.auto.commit": False, **settings,
    }  # fmt: skip
    return confluent_kafka.Consumer(config), config


def test_confluent_kafka__callbacks_get_the_recorded_consumer__and_commits_are_seen_where_they_are_waited_for(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    fill(broker.bootstrap, TOPIC, 4, 10)
    path, calls = tmp_path / "m0.jsonl", list[tuple[str, object]]()
    plain, config = confluent(broker, **{"group.instance.id": "i0"})
    with recording(plain, path, member="m0", config=config) as consumer:
        consumer.subscribe(
            [TOPIC],
            on_assign=lambda of, _partitions: calls.append(("assigned", of)),
            on_revoke=lambda of, _partitions: calls.append(("revoked", of)),
        )
        messages: list[Any] = []
        poll_until(lambda: messages.append(consumer.poll(0.1)), lambda: messages[-1] is not None)
        consumer.commit(asynchronous=False)
        consumer.commit(message=messages[-1])
        consumer.close()
    assert [name for name, _ in calls] == ["assigned", "revoked"]
    assert all(of is consumer for _, of in calls)
    commits = of_kind(path, OffsetCommitted)
    assert [commit.error for commit in commits] == ["NONE", None]
    assert commits[-1].offset == messages[-1].offset() + 1
    (started,) = of_kind(path, MemberStarted)
    assert (started.protocol, started.group_instance_id) == ("eager", "i0")
    assert started.assignors == ("range", "roundrobin")
    assert judge(path).outcome is Outcome.HELD


def test_confluent_kafka__without_its_config_the_protocol_is_unknown(broker: EmbeddedBroker, tmp_path: Path) -> None:
    plain, _ = confluent(broker)
    with recording(plain, tmp_path / "m0.jsonl", member="m0") as consumer, consumer:
        consumer.subscribe([TOPIC])
    (started,) = of_kind(tmp_path / "m0.jsonl", MemberStarted)
    assert (started.protocol, started.assignors, started.client) == ("", (), "confluent-kafka")
    assert len(of_kind(tmp_path / "m0.jsonl", MemberLeft)) == 1


def test_confluent_kafka__one_that_has_joined_already_is_refused__and_so_is_kip_848(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    plain, _ = confluent(broker)
    plain.subscribe([TOPIC])
    poll_until(lambda: plain.poll(0.1), plain.assignment)
    with (
        pytest.raises(RebalanceCheckError, match="in generation 1 already, and its callbacks cannot be seen"),
        recording(plain, tmp_path / "m0.jsonl", member="m0"),
    ):
        pass
    plain.close()
    other, config = confluent(broker)
    with (
        pytest.raises(RebalanceCheckError, match="KIP-848"),
        recording(other, tmp_path / "m1.jsonl", member="m1", config={**config, "group.protocol": "consumer"}),
    ):
        pass
    other.close()


class AsyncApplication(aiokafka.ConsumerRebalanceListener):  # type: ignore[misc] # the package ships no types
    """An application's own listener, one of whose callbacks is a coroutine."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def on_partitions_assigned(self, _assigned: Any) -> None:
        self.calls.append("assigned")

    def on_partitions_revoked(self, _revoked: Any) -> None:
        self.calls.append("revoked")


def test_aiokafka__its_loop_its_commit_and_its_listener(broker: EmbeddedBroker, tmp_path: Path) -> None:
    fill(broker.bootstrap, TOPIC, 4, 10)
    path, application = tmp_path / "m0.jsonl", AsyncApplication()

    async def consume() -> None:
        plain = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap, group_id="g", auto_offset_reset="earliest", enable_auto_commit=False
        )
        plain.subscribe([TOPIC], listener=application)
        with recording(plain, path, member="m0") as consumer:
            async with consumer:
                async for message in consumer:
                    await consumer.commit({aiokafka.TopicPartition(TOPIC, message.partition): message.offset + 1})
                    await consumer.commit()
                    break
                with pytest.raises(aiokafka.errors.IllegalStateError):
                    await consumer.commit({aiokafka.TopicPartition("elsewhere", 0): 5})
                with pytest.raises(ValueError, match="nonsense"):
                    await consumer.commit({aiokafka.TopicPartition(TOPIC, 0): "nonsense"})

    asyncio.run(consume())
    assert application.calls == ["revoked", "assigned"]
    commits = of_kind(path, OffsetCommitted)
    assert [commit.error for commit in commits if commit.partition == "elsewhere-0"] == [None]
    assert {commit.error for commit in commits if commit.partition != "elsewhere-0"} == {"NONE"}
    assert of_kind(path, MemberStarted)[0].topics == (TOPIC,)
    assert len(of_kind(path, MemberLeft)) == 1
    assert judge(path).outcome is Outcome.HELD
