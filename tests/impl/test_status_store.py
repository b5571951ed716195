"""The status store, rule by rule: what it sends, suppresses, retries, gives up, reads, ignores, flushes and stops."""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.status.attempts import StatusStoreError
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusValue,
    StatusWriteError,
    TaskKey,
    TopicKey,
    TopicValue,
    write_status,
)
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, StatusAppended, StatusGivenUp, StatusIgnored, StatusRead

TASK, OTHER_TASK, CONNECTOR = TaskKey("c", 0), TaskKey("c", 1), ConnectorKey("c")


class Bench:
    """A store on a channel of its own, and every event it emitted."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.log = SharedLog(1, self._recorder("log"))
        self.channel = Channel(self.log, "w0")
        self.store = StatusStore("w0", self.channel, self._recorder("w0"))
        self.channel.store = self.store
        self._offset = 0

    def _recorder(self, source: str) -> Recorder:
        return Recorder("connect", source, lambda: 0, self.events.append)

    def read(self, key: object, status: Status, worker: str | None = "w1", generation: int = 1) -> None:
        value = StatusValue(status, worker or "nobody", generation)
        data = write_status(value)
        if worker is None and data is not None:
            data = data.replace(b'"nobody"', b"null")
        self.raw(str(key), data)

    def raw(self, key: str | None, data: bytes | None) -> None:
        self._offset += 1
        self.store.read(0, self._offset - 1, key, data)

    def fail(self) -> None:
        self.channel.answer(SendOutcome.RETRIABLE)

    def reasons(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, StatusGivenUp)]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def value(status: Status = Status.RUNNING, generation: int = 1, worker: str | None = "w0") -> StatusValue:
    return StatusValue(status, worker, generation)


def test_a_write_is_not_seen_before_it_is_read_back(bench: Bench) -> None:
    bench.store.put(TASK, value())
    assert bench.store.get(TASK) is None
    bench.channel.append()
    bench.channel.read(0)
    assert bench.store.get(TASK) == value()


@pytest.mark.parametrize(
    ("worker", "cached", "written", "is_sent"),
    [
        ("w1", 2, 1, False),
        ("w1", 2, 2, True),  # equal generations pass
        ("w1", 1, 2, True),
        ("w0", 2, 1, True),  # its own worker id passes, whatever the generation
    ],
)
@pytest.mark.parametrize("status", list(Status)[:4])
def test_put_safe_yields_to_a_newer_status_of_another_worker_only(
    bench: Bench, worker: str, cached: int, written: int, is_sent: bool, status: Status
) -> None:
    bench.read(TASK, status, worker, cached)
    bench.store.put_safe(TASK, value(Status.FAILED, written))
    assert is_sent == (bench.store.in_flight == 1)


def test_put_is_never_suppressed(bench: Bench) -> None:
    bench.read(TASK, Status.RUNNING, "w1", 9)
    bench.store.put(TASK, value(generation=1))
    assert bench.store.in_flight == 1


def test_a_suppressed_write_moves_the_generation_of_the_store__and_draws_no_sequence_number(bench: Bench) -> None:
    bench.read(TASK, Status.RUNNING, "w1", 9)
    bench.store.put_safe(TASK, value(generation=3))
    assert bench.store.generation == 3
    assert bench.store.cache.entry(TASK).sequence == 0


def test_the_generation_of_the_store_can_go_backwards(bench: Bench) -> None:
    bench.store.put(TASK, value(generation=5))
    bench.store.put(OTHER_TASK, value(generation=2))
    assert bench.store.generation == 2


def test_a_cached_status_of_no_worker_makes_a_safe_write_throw(bench: Bench) -> None:
    bench.read(TASK, Status.RUNNING, worker=None)
    with pytest.raises(StatusStoreError, match="names no worker"):
        bench.store.put_safe(TASK, value())
    assert bench.reasons() == ["exception"]


def test_a_status_of_no_worker_cannot_be_written__after_generation_and_sequence_have_moved(bench: Bench) -> None:
    with pytest.raises(StatusWriteError):
        bench.store.put(TASK, value(worker=None, generation=4))
    assert (bench.store.generation, bench.store.cache.entry(TASK).sequence) == (4, 1)


@pytest.mark.parametrize("safe", [True, False])
def test_a_retriable_failure_is_retried_with_the_same_bytes(bench: Bench, safe: bool) -> None:
    (bench.store.put_safe if safe else bench.store.put)(TASK, value())
    first = bench.channel.waiting[0].value
    bench.fail()
    assert bench.store.retries == 1
    bench.store.run_retry()
    assert (first, 2) == (bench.channel.waiting[0].value, bench.channel.waiting[0].send)


def test_a_fatal_failure_is_given_up(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.channel.answer(SendOutcome.FATAL)
    assert (bench.store.retries, bench.reasons()) == (0, ["fatal"])


@pytest.mark.parametrize("removed", [TASK, CONNECTOR])
def test_no_retry_after_the_tombstone_of_the_entry_or_of_its_connector(bench: Bench, removed: object) -> None:
    bench.store.put(TASK, value())
    bench.read(removed, Status.DESTROYED)
    bench.fail()
    assert (bench.store.retries, bench.reasons()) == (0, ["deleted"])


def test_no_retry_once_the_store_has_written_in_another_generation(bench: Bench) -> None:
    bench.store.put(TASK, value(generation=1))
    bench.store.put(OTHER_TASK, value(generation=2))
    bench.fail()
    assert bench.reasons() == ["other generation"]


def test_a_safe_retry_yields_to_a_younger_write__an_unsafe_one_does_not(bench: Bench) -> None:
    bench.store.put_safe(TASK, value(Status.FAILED))
    bench.store.put(TASK, value(Status.RESTARTING))
    bench.store.put(TASK, value(Status.RUNNING))
    bench.fail()
    assert (bench.store.retries, bench.reasons()) == (0, ["superseded"])
    bench.fail()
    assert bench.store.retries == 1  # catalogue: status-unguarded-retry-reorders


def test_a_safe_retry_yields_to_a_newer_status_read_since(bench: Bench) -> None:
    bench.store.put_safe(TASK, value(Status.FAILED))
    bench.read(TASK, Status.RUNNING, "w1", 2)
    bench.fail()
    assert bench.reasons() == ["superseded"]


def test_the_retry_thread_asks_no_more(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.fail()
    bench.read(TASK, Status.DESTROYED)
    bench.store.run_retry()
    assert bench.store.in_flight == 1


def test_a_topic_status_is_retried_for_ever(bench: Bench) -> None:
    bench.store.put_topic(TopicValue("t", "c", 0, 1))
    bench.store.put(TASK, value(generation=7))
    bench.fail()
    assert bench.store.retries == 1
    bench.store.run_retry()
    bench.store.delete_topic(TopicKey("t", "c"))
    assert [sent.value is None for sent in bench.channel.waiting] == [False, False, True]


@pytest.mark.parametrize(
    ("cached", "incoming", "is_ignored"),
    [(3, 2, True), (3, 3, True), (3, 4, False)],
)
@pytest.mark.parametrize("worker", ["w0", "w1"])
def test_a_stale_unassigned_does_not_replace_running__whichever_worker_wrote_it(
    bench: Bench, cached: int, incoming: int, is_ignored: bool, worker: str
) -> None:
    bench.read(TASK, Status.RUNNING, "w1", cached)
    bench.read(TASK, Status.UNASSIGNED, worker, incoming)
    assert is_ignored == isinstance(bench.events[-1], StatusIgnored)


def test_only_a_task_that_runs_is_protected(bench: Bench) -> None:
    bench.read(CONNECTOR, Status.RUNNING, "w1", 3)
    bench.read(CONNECTOR, Status.UNASSIGNED, "w0", 1)
    bench.read(TASK, Status.FAILED, "w1", 3)
    bench.read(TASK, Status.UNASSIGNED, "w0", 1)
    assert not any(isinstance(event, StatusIgnored) for event in bench.events)


def test_the_tombstone_of_a_connector_takes_its_tasks_and_no_others(bench: Bench) -> None:
    for key in (CONNECTOR, TASK, OTHER_TASK, TaskKey("d", 0)):
        bench.read(key, Status.RUNNING)
    bench.read(CONNECTOR, Status.DESTROYED)
    assert (bench.store.cache.connectors(), bench.store.cache.tasks("c")) == ([], {})
    assert list(bench.store.cache.tasks("d")) == [0]


def test_what_cannot_be_read_changes_nothing_and_stops_nobody(bench: Bench) -> None:
    bench.read(TASK, Status.RUNNING)
    for key, data in [(str(TASK), b"{"), ("status-task-c", b"{}"), ("session-key", b"{}"), (str(TASK), b"")]:
        bench.raw(key, data)
    assert [event.reason for event in bench.events if isinstance(event, StatusIgnored)] == [
        "malformed", "malformed", "unknown key", "malformed",
    ]  # fmt: skip
    assert bench.store.get(TASK) == value(worker="w1")


def test_a_record_without_a_key_throws(bench: Bench) -> None:
    with pytest.raises(StatusStoreError, match="has no key"):
        bench.raw(None, b"{}")


def test_a_literal_destroyed_is_cached_like_any_other(bench: Bench) -> None:
    bench.raw(str(TASK), b'{"state":"DESTROYED","worker_id":"w1","generation":1}')
    read = bench.events[-1]
    assert isinstance(read, StatusRead)
    assert (read.status, read.literal) == ("DESTROYED", True)
    assert bench.store.get(TASK) is not None


def test_connectors_include_those_only_written_locally(bench: Bench) -> None:
    bench.store.put(CONNECTOR, value())
    assert bench.store.cache.connectors() == ["c"]
    assert bench.store.get(CONNECTOR) is None


def test_flush_waits_for_sends_before_it__and_for_nothing_else(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.store.flush()
    bench.store.put(OTHER_TASK, value())
    before = bench.store.flushing
    bench.fail()
    assert [before, bench.store.flushing] == [True, False]
    assert (bench.store.retries, bench.store.in_flight) == (1, 1)


def test_stop_drops_retries__answers_still_come__and_no_write_or_read_follows(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.store.put(OTHER_TASK, value())
    bench.fail()
    bench.store.stop()
    bench.fail()
    assert bench.reasons() == ["stopped", "stopped"]
    with pytest.raises(StatusStoreError, match="is stopped"):
        bench.store.put(TASK, value())
    with pytest.raises(StatusStoreError, match="is stopped"):
        bench.raw(str(TASK), None)


def test_two_threads_may_hand_over_in_another_order_than_they_were_admitted(bench: Bench) -> None:
    first = bench.store.admit(TASK, value(Status.RUNNING), safe=False)
    second = bench.store.admit(TASK, value(Status.PAUSED), safe=False)
    bench.store.hand_over(second)
    bench.store.hand_over(first)
    assert [sent.attempt for sent in bench.channel.waiting] == [1, 0]


def test_an_answer_that_alone_knows_the_offset_is_recorded_as_the_append(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.store.completed(0, 1, SendOutcome.OK, partition=3, offset=7)
    observed = [event for event in bench.events if isinstance(event, StatusAppended)]
    assert [(event.partition, event.offset) for event in observed] == [(3, 7)]
    with pytest.raises(StatusStoreError, match="not in flight"):
        bench.store.completed(0, 1, SendOutcome.OK)


def test_compaction_leaves_the_last_record_of_each_key(bench: Bench) -> None:
    for status in (Status.RUNNING, Status.PAUSED):
        bench.store.put(TASK, value(status))
        bench.channel.append()
        bench.channel.answer(SendOutcome.OK)
    bench.log.compact()
    assert [record.offset for record in bench.log.partitions[0]] == [1]
    assert bench.channel.read(0)
    assert not bench.channel.read(0)


def test_a_log_refuses_what_cannot_happen(bench: Bench) -> None:
    with pytest.raises(RebalanceCheckError, match="nothing in flight"):
        bench.channel.append()
    bench.store.put(TASK, value())
    with pytest.raises(RebalanceCheckError, match="cannot be ok"):
        bench.channel.answer(SendOutcome.OK)
    bench.channel.append()
    with pytest.raises(RebalanceCheckError, match="appended already"):
        bench.channel.append()
