"""The status store's start, its end, and its limits of retries."""

import pytest

from rebalance_check.impl.connect.status.attempts import FOR_EVER, RetryPolicy, StatusStoreError
from rebalance_check.impl.connect.status.codec import Status, StatusValue, TaskKey
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import Event, StatusGivenUp

TASK = TaskKey("c", 0)
RUNNING = StatusValue(Status.RUNNING, "w0:8083", 1)


class Cluster:
    """One store over a topic of two partitions."""

    def __init__(self, retry: RetryPolicy = FOR_EVER) -> None:
        self.clock = VirtualClock()
        self.events: list[Event] = []
        recorder = Recorder("connect", "w0", self.clock.now, self.events.append)
        self.log = SharedLog(2, recorder)
        self.channel = Channel(self.log, "w0")
        self.channel.store = self.store = StatusStore("w0", self.channel, recorder, retry=retry)

    def fail_once(self) -> None:
        self.channel.answer(SendOutcome.RETRIABLE)
        self.store.run_retry()

    def reasons(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, StatusGivenUp)]


def test_a_write_is_retried_for_ever_unless_the_policy_says_otherwise() -> None:
    cluster = Cluster()
    cluster.store.put(TASK, RUNNING)
    for _ in range(50):
        cluster.clock.run_until(cluster.clock.now_ms + 60_000)
        cluster.fail_once()
    assert cluster.store.in_flight == 1
    assert cluster.reasons() == []


def test_a_limit_of_sends_gives_a_write_up() -> None:
    cluster = Cluster(RetryPolicy(max_sends=3))
    cluster.store.put(TASK, RUNNING)
    for _ in range(3):
        cluster.fail_once()
    assert cluster.store.in_flight == 0
    assert cluster.reasons() == ["exhausted"]


def test_a_limit_of_time_gives_a_write_up() -> None:
    cluster = Cluster(RetryPolicy(max_ms=1000))
    cluster.store.put(TASK, RUNNING)
    cluster.clock.run_until(999)
    cluster.fail_once()
    assert cluster.store.in_flight == 1
    cluster.clock.run_until(1000)
    cluster.fail_once()
    assert cluster.reasons() == ["exhausted"]


def test_a_start_is_over_when_every_partition_was_read_to_the_end_seen_at_its_begin() -> None:
    cluster = Cluster()
    for number in range(8):
        cluster.store.put(TaskKey("c", number), RUNNING)
        cluster.channel.append()
        cluster.channel.answer(SendOutcome.OK)
    later = Channel(cluster.log, "w1")
    later.store = StatusStore("w1", later, Recorder("connect", "w1", cluster.clock.now, None))
    later.store.start([cluster.log.end(0), cluster.log.end(1)])
    before = []
    while later.unread():
        before.append(later.store.started)
        later.read(later.unread()[0])
    assert [*before, later.store.started] == [False] * 8 + [True]


def test_what_compaction_removed_at_the_end_is_not_waited_for() -> None:
    store = Cluster().store
    store.start([3, 0])
    store.read(0, 0, "status-task-c-0", None)
    before = store.started
    store.reached(0, 3)
    assert (before, store.started) == (False, True)


def test_a_record_without_a_key_fails_the_start() -> None:
    store = Cluster().store
    store.start([2, 0])
    with pytest.raises(StatusStoreError, match="has no key"):
        store.read(0, 0, None, b"{}")
    store.reached(0, 2)
    assert not store.started


def test_a_stop_is_over_when_every_send_is_answered() -> None:
    cluster = Cluster()
    cluster.store.put(TASK, RUNNING)
    cluster.store.stop()
    before = (cluster.store.stopped, cluster.store.in_flight)
    cluster.channel.answer(SendOutcome.RETRIABLE)
    assert before == (True, 1)
    assert (cluster.store.in_flight, cluster.store.retries) == (0, 0)
    assert cluster.reasons() == ["stopped"]
