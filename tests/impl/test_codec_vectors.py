"""The codecs write and read exactly what Kafka's own classes do, refusals included."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.protocol import connect_protocol, consumer_protocol, sticky_user_data
from rebalance_check.impl.protocol.connect_protocol import EMPTY, ConnectAssignment, ConnectorTask, WorkerState
from rebalance_check.impl.protocol.consumer_protocol import Assignment, Subscription
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import MalformedBytes

Vector = Mapping[str, Any]
DATA = Path(__file__).parents[1] / "data" / "kafka_vectors.json"
VECTORS: list[Vector] = json.loads(DATA.read_text())["vectors"]


def vectors(prefix: str, *, refused: bool = False) -> list[Any]:
    chosen = [v for v in VECTORS if v["kind"].startswith(prefix) and ("error" in v) == refused]
    return [pytest.param(v, id=v["name"]) for v in chosen]


def as_bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def subscription(fields: Vector) -> Subscription:
    return Subscription(
        topics=tuple(fields["topics"]),
        user_data=as_bytes(fields["userData"]),
        owned=tuple(TopicPartition(*tp) for tp in fields["ownedPartitions"]),
        generation=fields["generationId"],
        rack=fields["rackId"],
    )


def assignment(fields: Vector) -> Assignment:
    partitions = tuple(TopicPartition(*tp) for tp in fields["partitions"])
    return Assignment(partitions=partitions, user_data=as_bytes(fields["userData"]))


def connect_assignment(fields: Vector) -> ConnectAssignment:
    """Also the v0 reader's answer, which knows neither version nor revocations."""
    return ConnectAssignment(
        version=fields.get("version", 0),
        error=fields["error"],
        leader=fields["leader"],
        leader_url=fields["leaderUrl"],
        config_offset=fields["configOffset"],
        connectors=tuple(fields["connectors"]),
        tasks=tuple(ConnectorTask(*task) for task in fields["tasks"]),
        revoked_connectors=tuple(fields.get("revokedConnectors", ())),
        revoked_tasks=tuple(ConnectorTask(*task) for task in fields.get("revokedTasks", ())),
        delay_ms=fields.get("delay", 0),
    )


def worker_state(fields: Vector) -> WorkerState:
    claim = connect_assignment(fields["allocation"]) if "allocation" in fields else EMPTY
    return WorkerState(
        url=fields["url"], config_offset=fields["configOffset"], allocation=EMPTY if claim == EMPTY else claim
    )


def version_of(vector: Vector) -> int:
    return int(vector["kind"][-1])


@pytest.mark.parametrize("vector", vectors("consumer-subscription"))
def test_a_subscription_reads_as_in_kafka(vector: Vector) -> None:
    assert consumer_protocol.read_subscription(bytes.fromhex(vector["hex"])) == subscription(vector["fields"])


@pytest.mark.parametrize("vector", vectors("consumer-subscription-v"))
def test_a_subscription_is_written_as_in_kafka(vector: Vector) -> None:
    written = consumer_protocol.write_subscription(subscription(vector["written_from"]), version_of(vector))
    assert written.hex() == vector["hex"]


@pytest.mark.parametrize("vector", vectors("consumer-subscription", refused=True))
def test_a_subscription_that_kafka_refuses_is_refused(vector: Vector) -> None:
    with pytest.raises(MalformedBytes):
        consumer_protocol.read_subscription(bytes.fromhex(vector["hex"]))


def test_a_negative_generation_is_written_as_absent() -> None:
    negative = Subscription(topics=("t0",), generation=-5)
    assert consumer_protocol.write_subscription(negative, 2).hex() == "00020000000100027430ffffffff00000000ffffffff"


def test_a_version_above_the_highest_writes_the_highest() -> None:
    assert consumer_protocol.write_subscription(Subscription(), 9) == consumer_protocol.write_subscription(
        Subscription(), 3
    )
    assert consumer_protocol.write_assignment(Assignment(), 9) == consumer_protocol.write_assignment(Assignment(), 3)


@pytest.mark.parametrize("vector", vectors("consumer-assignment"))
def test_an_assignment_reads_as_in_kafka(vector: Vector) -> None:
    assert consumer_protocol.read_assignment(bytes.fromhex(vector["hex"])) == assignment(vector["fields"])


@pytest.mark.parametrize("vector", vectors("consumer-assignment-v"))
def test_an_assignment_is_written_as_in_kafka(vector: Vector) -> None:
    written = consumer_protocol.write_assignment(assignment(vector["written_from"]), version_of(vector))
    assert written.hex() == vector["hex"]


@pytest.mark.parametrize("vector", vectors("consumer-assignment", refused=True))
def test_an_assignment_that_kafka_refuses_is_refused(vector: Vector) -> None:
    with pytest.raises(MalformedBytes):
        consumer_protocol.read_assignment(bytes.fromhex(vector["hex"]))


@pytest.mark.parametrize("vector", vectors("sticky-user-data"))
def test_sticky_user_data_reads_as_in_kafka(vector: Vector) -> None:
    claim = sticky_user_data.read_sticky(as_bytes(vector["hex"]))
    assert [list(tp) for tp in claim.partitions] == vector["fields"]["partitions"]
    assert claim.generation == vector["fields"]["generation"]


@pytest.mark.parametrize("vector", vectors("sticky-user-data-v"))
def test_sticky_user_data_is_written_as_in_kafka(vector: Vector) -> None:
    partitions = [TopicPartition(*tp) for tp in vector["fields"]["partitions"]]
    assert sticky_user_data.write_sticky(partitions, vector["fields"]["generation"]).hex() == vector["hex"]


@pytest.mark.parametrize("vector", vectors("cooperative-sticky-user-data"))
def test_cooperative_user_data_reads_as_in_kafka(vector: Vector) -> None:
    generation = vector["generation_in_subscription"]
    if generation < 0:
        generation = sticky_user_data.read_cooperative(as_bytes(vector["hex"]))
    assert generation == vector["fields"]["generation"]


@pytest.mark.parametrize("generation", [-1, 5, 9])
def test_cooperative_user_data_is_one_number(generation: int) -> None:
    written = sticky_user_data.write_cooperative(generation)
    assert written == generation.to_bytes(4, "big", signed=True)


def check_reader(
    read: Callable[[bytes], object], convert: Callable[[Vector], object], vector: Vector, key: str
) -> None:
    expected, data = vector["readers"][key], bytes.fromhex(vector["hex"])
    if isinstance(expected, str):
        with pytest.raises(MalformedBytes):
            read(data)
    else:
        assert read(data) == convert(expected)


def connect_vectors(prefix: str) -> list[Any]:
    return [p for p in vectors(prefix) if "readers" in p.values[0]]


@pytest.mark.parametrize("vector", connect_vectors("connect-metadata"))
def test_worker_metadata_reads_as_in_kafka(vector: Vector) -> None:
    check_reader(connect_protocol.read_worker_state_v0, worker_state, vector, "v0")
    check_reader(connect_protocol.read_worker_state, worker_state, vector, "v1")


@pytest.mark.parametrize("vector", connect_vectors("connect-assignment"))
def test_a_worker_assignment_reads_as_in_kafka(vector: Vector) -> None:
    check_reader(read_without_version, connect_assignment, vector, "v0")
    check_reader(connect_protocol.read_connect_assignment, connect_assignment, vector, "v1")


def read_without_version(data: bytes) -> ConnectAssignment:
    """Kafka's v0 assignment object does not keep the header's version."""
    return replace(connect_protocol.read_connect_assignment_v0(data), version=0)


@pytest.mark.parametrize("vector", vectors("connect-metadata-v"))
def test_worker_metadata_is_written_as_in_kafka(vector: Vector) -> None:
    written = connect_protocol.write_worker_state(worker_state(vector["fields"]), version_of(vector))
    assert written.hex() == vector["hex"]


@pytest.mark.parametrize("vector", vectors("connect-assignment-v"))
def test_a_worker_assignment_is_written_as_in_kafka(vector: Vector) -> None:
    value = connect_assignment(vector["fields"]) if "fields" in vector else None
    written = connect_protocol.write_connect_assignment(EMPTY if value == EMPTY else value, version_of(vector))
    assert written == as_bytes(vector["hex"])


def test_every_vector_of_these_kinds_is_used() -> None:
    """A new kind in the file must not be overlooked."""
    covered = ("consumer-", "sticky-", "cooperative-sticky-", "connect-")
    elsewhere = ("status-", "topic-status-")
    assert {v["kind"] for v in VECTORS if not v["kind"].startswith(covered + elsewhere)} == set()
    assert sum(v["kind"].startswith(covered) for v in VECTORS) == 157


def test_malformed_bytes_say_where_and_what() -> None:
    with pytest.raises(
        MalformedBytes, match=r"consumer subscription: field 'generationId' at byte 18 needs 4 bytes"
    ) as e:
        consumer_protocol.read_subscription(bytes.fromhex("00020000000100027430ffffffff00000000"))
    assert (e.value.field, e.value.offset) == ("generationId", 18)
