"""Keys and values of the status topic are written and read exactly as Kafka's own store does, refusals included."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusValue,
    StatusWriteError,
    TaskKey,
    TopicKey,
    TopicValue,
    ValueFormat,
    read_key,
    read_status,
    read_topic,
    write_status,
    write_topic,
)

Vector = Mapping[str, Any]
DATA = Path(__file__).parents[1] / "data" / "kafka_vectors.json"
VECTORS: list[Vector] = [v for v in json.loads(DATA.read_text())["vectors"] if "status" in v["kind"]]
FORMATS = {"3.9.2": ValueFormat.KAFKA_3_9, "4.3.1": ValueFormat.KAFKA_4_3}


def vectors(kind: str) -> list[Any]:
    chosen = [(vector, FORMATS[release]) for vector in VECTORS if vector["kind"] == kind for release in vector["kafka"]]
    return [pytest.param(vector, layout, id=f"{vector['name']}-{layout}") for vector, layout in chosen]


def status_value(fields: Vector) -> StatusValue:
    return StatusValue(
        Status(fields["state"]), fields["worker_id"], fields["generation"], fields["trace"], fields.get("version")
    )


def as_bytes(hexadecimal: str | None) -> bytes | None:
    return None if hexadecimal is None else bytes.fromhex(hexadecimal)


def test_every_status_vector_is_used() -> None:
    found = Counter(vector["kind"] for vector in VECTORS)
    assert found == {"status-json": 48, "status-json-read": 70, "status-key-read": 25, "topic-status-json": 6}


@pytest.mark.parametrize(("vector", "layout"), vectors("status-json"))
def test_a_status_is_written_byte_for_byte(vector: Vector, layout: ValueFormat) -> None:
    fields = vector["fields"]
    value = StatusValue(Status.DESTROYED, "w", 7) if fields is None else status_value(fields)
    assert as_bytes(vector["hex"]) == write_status(value, layout)
    assert vector["key"] == str(read_key(vector["key"]))


@pytest.mark.parametrize(("vector", "layout"), vectors("status-json"))
def test_what_was_written_is_read_back(vector: Vector, layout: ValueFormat) -> None:
    data = as_bytes(vector["hex"])
    assert data is None or status_value(vector["fields"]) == read_status(data, layout)


@pytest.mark.parametrize(("vector", "layout"), vectors("status-json-read"))
def test_a_reader_accepts_and_refuses_what_kafka_does(vector: Vector, layout: ValueFormat) -> None:
    expected = status_value(vector["fields"]) if vector["accepted"] else None
    assert expected == read_status(bytes.fromhex(vector["hex"]), layout)


@pytest.mark.parametrize(("vector", "layout"), vectors("status-key-read"))
def test_a_task_key_is_split_as_kafka_splits_it(vector: Vector, layout: ValueFormat) -> None:
    key = read_key(vector["key"])
    expected = None if vector["fields"] is None else TaskKey(**vector["fields"])
    assert expected == (key if isinstance(key, TaskKey) else None)


@pytest.mark.parametrize(("vector", "layout"), vectors("topic-status-json"))
def test_a_topic_status_is_written_byte_for_byte_and_read_back(vector: Vector, layout: ValueFormat) -> None:
    key = read_key(vector["key"])
    assert isinstance(key, TopicKey)
    assert vector["key"] == str(key)
    if vector["fields"] is not None:
        inner = vector["fields"]["topic"]
        value = TopicValue(inner["name"], inner["connector"], inner["task"], inner["discoverTimestamp"])
        assert bytes.fromhex(vector["hex"]) == write_topic(value)
        assert value == read_topic(write_topic(value))
        assert TopicKey(value.topic, value.connector) == key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("status-connector-", None),
        ("status-connector-a-b", ConnectorKey("a-b")),
        ("status-topic-t", None),
        ("status-topic-:connector-c", None),
        ("status-topic-t:connector-", None),
        ("status-topic-t:CONNECTOR+c", TopicKey("t", "c")),  # the separator's text is skipped, not compared
        ("status-topic-t:short", None),
        ("status-topic-t:connector-c:d", TopicKey("t", "c:d")),
    ],
)
def test_connector_and_topic_keys_are_read_by_kafkas_rules(text: str, expected: object) -> None:
    assert expected == read_key(text)


@pytest.mark.parametrize(
    "data",
    [
        b'{"state":"RUNNING","worker_id":"w","generation":true}',
        b'{"state":"RUNNING","worker_id":"w","generation":1,"x":NaN}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_what_is_no_json_object_with_an_integer_generation_is_refused(data: bytes) -> None:
    assert read_status(data) is None


def test_bytes_behind_the_first_value_need_not_even_be_text() -> None:
    value = StatusValue(Status.RUNNING, "w", 1)
    assert value == read_status((write_status(value) or b"") + b"\xff\xfe")


def test_a_control_character_is_escaped_in_upper_case() -> None:
    data = write_status(StatusValue(Status.FAILED, "w", 1, trace="\x1b[0m"))
    assert data is not None
    assert b"\\u001B[0m" in data


@pytest.mark.parametrize(
    "data",
    [
        b'{"topic":{"name":"t","connector":"c","task":0}}',
        b'{"topic":{"name":"t","connector":null,"task":0,"discoverTimestamp":1}}',
        b'{"topic":"t"}',
        b"{}",
    ],
)
def test_a_topic_status_with_an_unusable_field_is_refused(data: bytes) -> None:
    assert read_topic(data) is None


def test_a_status_of_no_worker_cannot_be_written() -> None:
    with pytest.raises(StatusWriteError, match="names no worker"):
        write_status(StatusValue(Status.RUNNING, None, 1))
