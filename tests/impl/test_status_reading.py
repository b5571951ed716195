"""What each record of the status topic does to the cache of a worker: keys, tombstones, stale statuses, topics."""

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
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder

CONNECTOR, TASK, OTHER_TASK = ConnectorKey("c"), TaskKey("c", 0), TaskKey("c", 1)
TOPIC = TopicKey("t", "c")
USED = TopicValue("t", "c", 0, 5)


def status(state: Status, worker: str = "w", generation: int = 1) -> StatusValue:
    return StatusValue(state, worker, generation)


@pytest.fixture
def cache() -> StatusCache:
    return StatusCache(ValueFormat.KAFKA_4_3)


def put(cache: StatusCache, key: object, state: Status, worker: str = "w", generation: int = 1) -> None:
    """Read a record of this status."""
    cache.read(str(key), write_status(status(state, worker, generation)))


# ------------------------------------------------------------------------------------------------ connectors, tasks


def test_a_connectors_status_is_replaced_by_whatever_is_read__also_by_a_lower_generation(cache: StatusCache) -> None:
    put(cache, CONNECTOR, Status.RUNNING, generation=5)
    put(cache, CONNECTOR, Status.UNASSIGNED, "x", generation=1)
    assert cache.get(CONNECTOR) == status(Status.UNASSIGNED, "x", 1)


def test_a_value_that_cannot_be_read_leaves_a_connector_as_it_was(cache: StatusCache) -> None:
    put(cache, CONNECTOR, Status.RUNNING)
    assert cache.read(str(CONNECTOR), b"{").ignored == "malformed"
    assert cache.get(CONNECTOR) == status(Status.RUNNING)


def test_a_tombstone_of_a_task_ends_its_entry_and_no_other(cache: StatusCache) -> None:
    for key in (CONNECTOR, TASK, OTHER_TASK):
        put(cache, key, Status.RUNNING)
    entry = cache.entry(TASK)
    cache.read(str(TASK), None)
    assert entry.deleted
    assert (cache.get(TASK), list(cache.tasks("c")), cache.connectors()) == (None, [1], ["c"])


def test_a_tombstone_of_a_connector_ends_the_entries_of_its_tasks__and_leaves_its_topics(cache: StatusCache) -> None:
    for key in (CONNECTOR, TASK, OTHER_TASK):
        put(cache, key, Status.RUNNING)
    cache.read(str(TOPIC), write_topic(USED))
    entries = [cache.entry(key) for key in (CONNECTOR, TASK, OTHER_TASK)]
    cache.read(str(CONNECTOR), None)
    assert [entry.deleted for entry in entries] == [True] * 3
    assert (cache.connectors(), cache.tasks("c"), cache.topics("c")) == ([], {}, [USED])


def test_an_entry_that_was_removed_begins_anew(cache: StatusCache) -> None:
    before = cache.entry(TASK)
    before.sequence = 7
    cache.read(str(TASK), None)
    after = cache.entry(TASK)
    assert (after.sequence, after.deleted, after is before) == (0, False, False)


def test_reading_does_not_change_the_sequence_of_an_entry(cache: StatusCache) -> None:
    cache.entry(TASK).sequence = 7
    put(cache, TASK, Status.RUNNING)
    put(cache, TASK, Status.PAUSED)
    assert cache.entry(TASK).sequence == 7


def test_a_worker_s_own_unassigned_of_the_same_generation_is_left_out_too(cache: StatusCache) -> None:
    put(cache, TASK, Status.RUNNING, "w", 3)
    put(cache, TASK, Status.UNASSIGNED, "w", 3)
    assert cache.get(TASK) == status(Status.RUNNING, "w", 3)


@pytest.mark.parametrize("state", [state for state in Status if state not in (Status.RUNNING, Status.DESTROYED)])
def test_running_is_replaced_by_another_status_of_any_generation__but_unassigned(
    cache: StatusCache, state: Status
) -> None:
    put(cache, TASK, Status.RUNNING, generation=5)
    put(cache, TASK, state, "x", 1)
    found = cache.get(TASK)
    assert found is not None
    assert (found.status is state) == (state is not Status.UNASSIGNED)


@pytest.mark.parametrize("state", [Status.PAUSED, Status.FAILED, Status.RESTARTING])
def test_no_other_status_protects_a_task_from_unassigned(cache: StatusCache, state: Status) -> None:
    put(cache, TASK, state, generation=5)
    put(cache, TASK, Status.UNASSIGNED, "x", 1)
    assert cache.get(TASK) == status(Status.UNASSIGNED, "x", 1)


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


def test_order_exists_within_a_partition_only() -> None:
    """A store may read a connector's tombstone before records of its tasks that were appended earlier."""
    log = SharedLog(2, Recorder("connect", "log", lambda: 0, None))
    channel = Channel(log, "w")
    store = channel.store = StatusStore("w", channel, Recorder("connect", "w", lambda: 0, None))
    number = next(n for n in range(9) if log.partition_of(str(TaskKey("c", n))) != log.partition_of(str(CONNECTOR)))
    task = TaskKey("c", number)
    for key, state in ((task, Status.RUNNING), (CONNECTOR, Status.DESTROYED)):
        store.put(key, status(state))
        channel.append()
        channel.waiting.clear()
    channel.read(log.partition_of(str(CONNECTOR)))
    channel.read(log.partition_of(str(task)))
    assert list(store.cache.tasks("c")) == [number]
