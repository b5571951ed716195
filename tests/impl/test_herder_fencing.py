"""Exactly-once support: what precedes the start of a task, and how the leader fences the tasks before (KIP-618)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.herder.peers import Answer, FenceZombies
from rebalance_check.impl.connect.herder.producers import SharedProducers
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.events import ProducerInitialised, TaskStarted, ZombieFencingEnded
from tests.impl.herder_bench import HerderBench


@pytest.fixture
def bench() -> HerderBench:
    return HerderBench({"c": 2}, mode=ConnectMode.COMPATIBLE, exactly_once=ExactlyOnce.ENABLED)


def answers_to_fencing(bench: HerderBench, count: int = 1) -> list[Answer]:
    """The worker's answers to so many requests to fence ``c``."""
    answers: list[Answer] = []
    for _ in range(count):
        bench.herder.receive_internal(FenceZombies("c"), None, answers.append)
    bench.go()
    return answers


def fenced(bench: HerderBench) -> list[tuple[tuple[str, ...], str]]:
    """The transactional ids of each fencing, and its outcome."""
    return [(event.transactional_ids, event.outcome) for event in bench.seen(ZombieFencingEnded)]


def lead_again(bench: HerderBench) -> None:
    """The worker reads what was committed, and leads the round that this asks for."""
    bench.read_configs()
    bench.configs._drop_privileges()
    bench.go()
    bench.round("c", leads=True, generation=2)


def record(bench: HerderBench) -> int | None:
    """The content of the last count record that the worker read."""
    bench.read_configs()
    return bench.configs.snapshot().of_connector("c").task_count_record


# ---------------------------------------------------------------------------------------------------- a task


def test_a_task_has_the_leader_fence__then_takes_its_epoch__then_starts(bench: HerderBench) -> None:
    bench.peers.answer = None
    bench.round("c c-0")
    ((_, url, request, _),) = bench.peers.sent
    assert (url, request) == ("http://other:8083/", FenceZombies("c"))
    assert bench.seen(ProducerInitialised) == []
    bench.peers.answer = Answer.OK
    bench.round("c c-0 c-1", generation=2)
    order = [one for one in bench.took() if one in ("ProducerInitialised", "TaskStarted")]
    assert order == ["ProducerInitialised", "TaskStarted"]
    (producer,) = bench.seen(ProducerInitialised)
    assert (producer.transactional_id, producer.work) == ("connect-c-1", "c-1")


def test_a_task_of_the_leader_asks_itself(bench: HerderBench) -> None:
    bench.round("c c-0", leads=True)
    assert bench.peers.sent == []
    assert fenced(bench) == [((), "ok")]
    assert [event.task for event in bench.seen(TaskStarted)] == ["c-0"]


@pytest.mark.parametrize("answer", [Answer.CONFLICT, Answer.FAILED])
def test_a_task_whose_fencing_fails__fails(bench: HerderBench, answer: Answer) -> None:
    bench.peers.answer = answer
    bench.round("c c-0")
    assert (bench.seen(TaskStarted), bench.seen(ProducerInitialised)) == ([], [])
    assert ("task-c-0", "FAILED", 1, True) in bench.statuses_written()


def test_a_task_that_is_stopped_before_the_fencing_is_over_never_starts(bench: HerderBench) -> None:
    bench.round("c")
    bench.peers.answer = None
    bench.round("c c-0", generation=2)
    bench.round("c", revoked="c-0", generation=3)
    bench.go(6_000)
    (on_answer,) = bench.peers.waiting
    on_answer(Answer.OK)
    bench.go()
    assert bench.seen(TaskStarted) == []


@pytest.mark.parametrize("change", ["other task configs", "assigned elsewhere"])
def test_a_task_that_is_outdated_when_its_predecessors_are_fenced__fails(bench: HerderBench, change: str) -> None:
    bench.round("c")
    bench.peers.answer = None
    bench.round("c c-0", generation=2)
    if change == "other task configs":
        bench.commit("c", 2, version=2)
    else:
        bench.herder.assignment = None
    (on_answer,) = bench.peers.waiting
    on_answer(Answer.OK)
    bench.go()
    assert bench.seen(TaskStarted) == []
    assert [event.work for event in bench.seen(ProducerInitialised)] == ["c-0"], (
        "its predecessor is fenced all the same"
    )


# ---------------------------------------------------------------------------------------------------- the leader


def test_the_first_fencing_of_a_connector_only_writes_the_count(bench: HerderBench) -> None:
    bench.round("c", leads=True)
    assert answers_to_fencing(bench) == [Answer.OK]
    assert (fenced(bench), record(bench)) == ([((), "ok")], 2)


def test_nothing_is_fenced_while_the_count_is_newer_than_the_task_configs(bench: HerderBench) -> None:
    bench.round("c", leads=True)
    answers_to_fencing(bench)
    assert answers_to_fencing(bench) == [Answer.OK]
    assert len(fenced(bench)) == 1


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [(3, 2, ("connect-c-0", "connect-c-1", "connect-c-2")), (1, 2, ("connect-c-0",)), (1, 1, ())],
    ids=["fewer tasks", "more tasks", "one task as before"],
)
def test_the_tasks_that_were_counted_last_are_fenced(before: int, after: int, names: tuple[str, ...]) -> None:
    bench = HerderBench({"c": before}, mode=ConnectMode.COMPATIBLE, exactly_once=ExactlyOnce.ENABLED)
    bench.round("c", leads=True)
    answers_to_fencing(bench)
    bench.commit("c", after, version=2)
    lead_again(bench)
    assert answers_to_fencing(bench) == [Answer.OK]
    assert (fenced(bench)[-1], record(bench)) == ((names, "ok"), after)


def test_a_commit_during_the_fencing_makes_it_a_conflict(bench: HerderBench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.round("c", leads=True)
    answers_to_fencing(bench)
    bench.commit("c", 2, version=2)
    lead_again(bench)
    fence = SharedProducers.fence

    def slowly(producers: SharedProducers, connector: str, tasks: Iterable[int]) -> tuple[str, ...]:
        bench.commit("c", 2, version=3)
        return fence(producers, connector, tasks)

    monkeypatch.setattr(SharedProducers, "fence", slowly)
    assert answers_to_fencing(bench) == [Answer.CONFLICT]
    assert fenced(bench)[-1] == (("connect-c-0", "connect-c-1"), "conflict")


def test_a_worker_that_does_not_lead_fences_nothing(bench: HerderBench) -> None:
    bench.round("c")
    assert answers_to_fencing(bench) == [Answer.CONFLICT]
    assert fenced(bench) == []


def test_two_requests_to_fence_cost_one_fencing(bench: HerderBench) -> None:
    bench.round("c", leads=True)
    assert answers_to_fencing(bench, 2) == [Answer.OK, Answer.OK]
    assert len(fenced(bench)) == 1


def test_a_leader_whose_write_is_fenced_drops_its_producer_and_claims_again_while_it_leads(bench: HerderBench) -> None:
    bench.round("c", leads=True)
    epoch = bench.topic._epoch
    bench.fence()
    assert answers_to_fencing(bench) == [Answer.FAILED]
    assert (bench.configs.privileged, bench.topic._epoch) == (False, epoch + 1)
    bench.herder.wake()
    bench.go()
    assert (bench.configs.privileged, bench.topic._epoch) == (True, epoch + 2)
    assert answers_to_fencing(bench) == [Answer.OK]


def test_without_exactly_once_support_two_leaders_write_the_topic() -> None:
    bench = HerderBench({"c": 1})
    other, _ = bench.config_store("other leader", ExactlyOnce.DISABLED)
    other.start()
    for store in (bench.configs, other):
        assert store.claim_privileges().error is None
    assert [store.put_connector("d", {"v": "1"}).error for store in (bench.configs, other)] == [None, None]
