"""Keys, values and partitions of records of the status topic, as the cache of a worker reads them."""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.status.cache import StatusCache
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusValue,
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
from rebalance_check.impl.connect.status.shared_log import SharedLog
from rebalance_check.impl.runtime.recorder import Recorder

CONNECTOR, TASK, OTHER_TASK = ConnectorKey("c"), TaskKey("c", 0), TaskKey("c", 1)
TOPIC = TopicKey("t", "c")
USED = TopicValue("t", "c", 0, 5)


def status(state: Status, worker: str = "w", generation: int = 1) -> StatusValue:
    return StatusValue(state, worker, generation)


@pytest.fixture
def cache() -> StatusCache:
    return StatusCache(ValueFormat.KAFKA_4_3)


# ------------------------------------------------------------------------------------------------ connectors, tasks


# ------------------------------------------------------------------------------------------------ topics


def test_topics_are_kept_by_the_names_of_the_key__which_the_value_may_contradict(cache: StatusCache) -> None:
    cache.read("status-topic-k:connector-d", write_topic(USED))
    assert cache.topic(TopicKey("k", "d")) == USED
    assert cache.topic(TOPIC) is None
    assert cache.topics("d") == [USED]


def test_a_tombstone_of_a_topic_removes_it__and_an_unusable_value_does_not(cache: StatusCache) -> None:
    cache.read(str(TOPIC), write_topic(USED))
    assert cache.read(str(TOPIC), b"{}").ignored == "malformed"
    assert cache.topic(TOPIC) == USED
    cache.read(str(TOPIC), None)
    assert cache.topic(TOPIC) is None


def test_the_numbers_of_a_topic_status_are_cut_to_their_widths() -> None:
    data = f'{{"topic":{{"name":"t","connector":"c","task":{2**32 + 3},"discoverTimestamp":{2**40}}}}}'
    assert read_topic(data.encode()) == TopicValue("t", "c", 3, 2**40)


@pytest.mark.parametrize("data", [b' {"topic":%s,"more":1} and text', b'{"topic":{},"topic":%s}'])
def test_a_topic_status_is_read_as_leniently_as_others(data: bytes) -> None:
    inner = b'{"name":"t","connector":"c","task":0,"discoverTimestamp":5,"more":[]}'
    assert read_topic(data.replace(b"%s", inner)) == USED


# ------------------------------------------------------------------------------------------------ keys, values


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (ConnectorKey("a-b"), "status-connector-a-b"),
        (TaskKey("a-b", 12), "status-task-a-b-12"),
        (TopicKey("a.b", "c-d"), "status-topic-a.b:connector-c-d"),
    ],
)
def test_the_key_of_a_connector_a_task_and_a_topic(key: object, text: str) -> None:
    assert str(key) == text
    assert read_key(text) == key


@pytest.mark.parametrize("key", ["status-", "status-connectors-a", "xstatus-connector-a", "", "Status-task-a-0"])
def test_a_key_of_no_kind_is_left_out(cache: StatusCache, key: str) -> None:
    assert cache.read(key, write_status(status(Status.RUNNING))).ignored == "unknown key"
    assert cache.connectors() == []


def test_the_version_of_a_plugin_is_read_and_written_by_newer_releases_only() -> None:
    value = StatusValue(Status.RUNNING, "w", 1, version="1.0")
    newer, older = write_status(value), write_status(value, ValueFormat.KAFKA_3_9)
    assert newer is not None
    assert newer.endswith(b',"version":"1.0"}')
    assert older is not None
    assert b"version" not in older
    assert read_status(newer) == value
    assert read_status(newer, ValueFormat.KAFKA_3_9) == status(Status.RUNNING)


# ------------------------------------------------------------------------------------------------ order


def test_the_key_of_a_record_decides_its_partition() -> None:
    log = SharedLog(5, Recorder("connect", "log", lambda: 0, None))
    keys = [str(TaskKey("c", number)) for number in range(20)] * 2
    partitions = [log.partition_of(key) for key in keys]
    assert partitions[:20] == partitions[20:]
    assert set(partitions) == set(range(5))
