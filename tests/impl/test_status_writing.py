"""What a status store writes: checks of safe writes, retries, and which writes nothing stands against."""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.status.attempts import StatusStoreError
from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, StatusValue, TaskKey, TopicKey, TopicValue
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.impl.test_status_store import CONNECTOR, OTHER_TASK, TASK, Bench, value


@pytest.fixture
def bench() -> Bench:
    return Bench()


def succeed(bench: Bench) -> None:
    """What is in flight is appended and answered."""
    while bench.channel.head is not None:
        bench.channel.append()
        bench.channel.answer(SendOutcome.OK)


def keys(bench: Bench) -> list[str]:
    """The keys in flight."""
    return [sent.key for sent in bench.channel.waiting]


def test_destroyed_is_written_as_a_tombstone(bench: Bench) -> None:
    bench.store.put(TASK, value(Status.DESTROYED))
    assert [sent.value for sent in bench.channel.waiting] == [None]


def test_one_request_is_in_flight(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.store.put(OTHER_TASK, value())
    bench.channel.append()
    with pytest.raises(RebalanceCheckError, match="appended already"):
        bench.channel.append()
    bench.channel.answer(SendOutcome.OK)
    bench.channel.append()
    assert [record.key for record in bench.log.partitions[0]] == [str(TASK), str(OTHER_TASK)]


def test_a_success_has_nothing_follow(bench: Bench) -> None:
    bench.store.put_safe(TASK, value())
    succeed(bench)
    assert (bench.store.retries, bench.store.in_flight, bench.reasons()) == (0, 0, [])
    assert bench.store.get(TASK) is None


def test_a_safe_write_is_checked_against_what_was_read_back__not_against_what_was_sent(bench: Bench) -> None:
    bench.read(TASK, Status.RUNNING, "w1", 9)
    bench.store.put(TASK, value(generation=1))  # its own, in flight
    bench.store.put_safe(TASK, value(Status.FAILED, 1))
    assert bench.store.in_flight == 1


@pytest.mark.parametrize("status", [Status.UNASSIGNED, Status.DESTROYED, Status.FAILED, Status.RUNNING])
def test_the_check_of_a_safe_write_does_not_look_at_its_status(bench: Bench, status: Status) -> None:
    bench.read(TASK, Status.RUNNING, "w1", 9)
    bench.store.put_safe(TASK, value(status, 1))
    assert bench.store.in_flight == 0


def test_a_safe_write_of_what_is_not_cached_is_sent(bench: Bench) -> None:
    bench.store.put_safe(TASK, value(generation=0))
    assert bench.store.in_flight == 1


def test_a_first_send_does_not_ask_whether_its_entry_was_removed(bench: Bench) -> None:
    """A tombstone that is read between the check and the send cancels the retry, not the first attempt."""
    attempt = bench.store.admit(TASK, value(), safe=True)
    bench.read(TASK, Status.DESTROYED)
    bench.store.hand_over(attempt)
    assert bench.store.in_flight == 1
    bench.fail()
    assert bench.reasons() == ["deleted"]
    bench.store.put(TASK, value())
    assert bench.store.cache.entry(TASK).sequence == 1


def test_an_unsafe_retry_goes_on_while_a_newer_status_of_another_worker_is_cached(bench: Bench) -> None:
    bench.store.put(TASK, value(generation=1))
    bench.read(TASK, Status.RUNNING, "w1", 9)
    bench.fail()
    assert bench.store.retries == 1


def test_a_retry_draws_no_sequence_number(bench: Bench) -> None:
    bench.store.put_safe(TASK, value())
    for _ in range(3):
        bench.fail()
        bench.store.run_retry()
    assert bench.store.cache.entry(TASK).sequence == 1
    assert bench.reasons() == []


def test_each_admitted_write_draws_one_sequence_number(bench: Bench) -> None:
    for write in (bench.store.put, bench.store.put_safe):
        write(TASK, value())
    assert bench.store.cache.entry(TASK).sequence == 2


def test_a_suppressed_write_moves_the_generation__so_that_a_retry_of_another_is_given_up(bench: Bench) -> None:
    bench.read(OTHER_TASK, Status.RUNNING, "w1", 9)
    bench.store.put(TASK, value(generation=1))
    bench.store.put_safe(OTHER_TASK, value(Status.UNASSIGNED, 2))
    bench.fail()
    assert bench.reasons() == ["other generation"]


def test_what_a_failed_check_of_a_retry_throws_is_swallowed(bench: Bench) -> None:
    bench.store.put_safe(TASK, value())
    bench.read(TASK, Status.RUNNING, worker=None)
    bench.fail()
    assert (bench.store.retries, bench.reasons()) == (0, ["exception"])


def test_one_thread_retries__in_the_order_of_failures(bench: Bench) -> None:
    for key in (TASK, OTHER_TASK):
        bench.store.put(key, value())
    for _ in range(2):
        bench.fail()
    assert bench.store.retries == 2
    bench.store.run_retry()
    assert keys(bench) == [str(TASK)]
    bench.store.run_retry()
    assert keys(bench) == [str(TASK), str(OTHER_TASK)]


def test_topics_have_neither_check_nor_generation(bench: Bench) -> None:
    bench.store.put(TASK, value(generation=5))
    bench.store.put_topic(TopicValue("t", "c", 0, 1))
    bench.store.put_topic(TopicValue("t", "c", 0, 1))  # nothing was read back: it is written again
    bench.store.delete_topic(TopicKey("t", "c"))
    assert bench.store.generation == 5
    assert keys(bench)[1:] == ["status-topic-t:connector-c"] * 3
    assert [key for key, _entry in bench.store.cache.entries()] == [TASK]


def test_a_topic_that_cannot_be_written_is_given_up_only_for_a_fatal_error_or_at_the_end(bench: Bench) -> None:
    bench.store.put_topic(TopicValue("t", "c", 0, 1))
    bench.channel.answer(SendOutcome.FATAL)
    assert (bench.store.retries, bench.reasons()) == (0, ["fatal"])


def test_a_flush_does_not_wait_for_what_was_sent_to_be_read(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.store.flush()
    succeed(bench)
    assert not bench.store.flushing
    assert bench.store.get(TASK) is None
    assert len(bench.log.partitions[0]) == 1


def test_a_flush_of_nothing_is_over_at_once(bench: Bench) -> None:
    bench.store.flush()
    assert not bench.store.flushing


def test_the_removal_of_a_connector_writes_nothing__and_the_topic_keeps_its_tasks(bench: Bench) -> None:
    for key in (CONNECTOR, TASK):
        bench.store.put(key, value())
    bench.store.put(CONNECTOR, value(Status.DESTROYED))
    succeed(bench)
    while bench.channel.read(0):
        pass
    assert bench.store.in_flight == 0
    assert [record.key for record in bench.log.partitions[0]] == [str(CONNECTOR), str(TASK), str(CONNECTOR)]
    assert bench.store.cache.tasks("c") == {}


def test_get_all_leaves_out_tasks_that_were_only_written(bench: Bench) -> None:
    bench.read(OTHER_TASK, Status.RUNNING)
    bench.store.put(TASK, value())
    assert list(bench.store.cache.tasks("c")) == [1]
    assert bench.store.get(ConnectorKey("unknown")) is None
    assert bench.store.get(TaskKey("unknown", 0)) is None


def test_a_retry_at_a_stopped_store_is_given_up(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.fail()
    assert bench.store.retries == 1
    bench.store.stop()
    bench.store.run_retry()
    assert (bench.store.retries, bench.store.in_flight, bench.reasons()) == (0, 0, ["stopped"])
    with pytest.raises(StatusStoreError, match="is stopped"):
        bench.store.put_safe(TASK, value(generation=1))


def test_with_one_thread_and_no_failures_the_log_has_the_order_of_the_calls(bench: Bench) -> None:
    states = [Status.RUNNING, Status.PAUSED, Status.RUNNING, Status.UNASSIGNED]
    for state in states:
        bench.store.put(TASK, value(state))
    succeed(bench)
    written = [StatusValue(state, "w0", 1) for state in states]
    assert [bench.store.cache.read(*record[1:]).value for record in bench.log.partitions[0]] == written
