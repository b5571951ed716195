"""Connectors and tasks in a worker: which status each writes when, what outlives its stop, and how long a stop lasts.

The statements are those of the status writes of ``DistributedHerder``, ``WorkerConnector`` and ``WorkerTask``.
"""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.worker import AlreadyRuns
from rebalance_check.impl.connect.status.codec import TaskKey
from rebalance_check.model.vocabulary.events import StatusAttempted
from tests.impl.herder_work import SINK, TASK, Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_connector_writes_running_when_it_started_and_asks_for_its_tasks(bench: Bench) -> None:
    bench.behaviours[SINK] = Behaviour(start_ms=50)
    bench.connector()
    bench.run(49)
    assert (bench.written(), bench.reached) == ([], [])
    bench.run(1)
    assert (bench.written(), bench.reached) == (["RUNNING"], ["sink"])


def test_a_task_writes_running_only_after_its_start_succeeded(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(start_ms=50)
    bench.task()
    bench.run(49)
    assert bench.written() == []
    bench.run(1)
    assert bench.written() == ["RUNNING"]


def test_a_connector_is_paused_and_resumed_by_its_target_state(bench: Bench) -> None:
    bench.connector()
    bench.run()
    for target in (TargetState.PAUSED, TargetState.STARTED, TargetState.STOPPED):
        bench.worker.transition("sink", target)
        bench.run()
    assert bench.written() == ["RUNNING", "PAUSED", "RUNNING", "STOPPED"]
    assert bench.reached == ["sink", "sink"]


def test_a_task_is_paused_and_resumed_by_the_target_state_of_its_connector(bench: Bench) -> None:
    bench.task()
    bench.run()
    bench.worker.transition("sink", TargetState.PAUSED)
    bench.worker.transition("sink", TargetState.STARTED)
    assert bench.written() == ["RUNNING", "PAUSED", "RUNNING"]


def test_a_task_born_paused_writes_paused_and_starts_only_when_it_is_resumed(bench: Bench) -> None:
    bench.task(TargetState.PAUSED)
    bench.run()
    assert bench.written() == ["PAUSED"]
    assert not bench.worker.is_running(TASK)
    bench.worker.transition("sink", TargetState.STARTED)
    bench.run()
    assert bench.written() == ["PAUSED", "RUNNING"]


def test_a_resumed_task_that_is_stopped_while_it_starts__starts_first(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(start_ms=50)
    bench.task(TargetState.PAUSED)
    bench.run()
    bench.worker.transition("sink", TargetState.STARTED)
    bench.run(10)
    bench.stop(TASK)
    bench.run()
    assert bench.written() == ["PAUSED", "RUNNING", "UNASSIGNED safe"]


def test_a_task_that_is_paused_and_resumed_while_it_starts__starts_once(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(start_ms=50)
    bench.task(TargetState.PAUSED)
    bench.run()
    for target in (TargetState.STARTED, TargetState.PAUSED, TargetState.STARTED):
        bench.worker.transition("sink", target)
        bench.run(10)
    bench.run(100)
    assert bench.written() == ["PAUSED", "RUNNING"]


def test_a_connector_whose_target_is_stopped_never_starts(bench: Bench) -> None:
    bench.connector(TargetState.STOPPED)
    bench.run()
    assert (bench.written(), bench.reached) == (["STOPPED"], [])


@pytest.mark.parametrize("key", [SINK, TASK])
def test_a_failed_start_writes_failed_with_a_safe_write(bench: Bench, key: object) -> None:
    bench.behaviours[SINK] = bench.behaviours[TASK] = Behaviour(fails_at_start=True)
    (bench.connector if key == SINK else bench.task)()
    bench.run()
    assert bench.written() == ["FAILED safe"]


@pytest.mark.parametrize("key", [SINK, TASK])
def test_a_failure_at_run_time_writes_failed_with_a_safe_write(bench: Bench, key: object) -> None:
    bench.behaviours[SINK] = bench.behaviours[TASK] = Behaviour(fails_after_ms=500)
    (bench.connector if key == SINK else bench.task)()
    bench.run(500)
    assert bench.written() == ["RUNNING", "FAILED safe"]


@pytest.mark.parametrize("key", [SINK, TASK])
def test_an_orderly_end_writes_unassigned_with_a_safe_write(bench: Bench, key: object) -> None:
    (bench.connector if key == SINK else bench.task)()
    bench.run()
    assert bench.stop(SINK, TASK) <= 100
    assert bench.written() == ["RUNNING", "UNASSIGNED safe"]


def test_a_task_that_fails_while_it_is_stopped_writes_unassigned(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(fails_after_ms=200, stop_ms=1_000)
    bench.task()
    bench.run(100)
    bench.stop(TASK)
    assert bench.written() == ["RUNNING", "UNASSIGNED safe"]


def test_a_connector_whose_stop_fails_writes_failed(bench: Bench) -> None:
    bench.behaviours[SINK] = Behaviour(fails_at_stop=True)
    bench.connector()
    bench.run()
    bench.stop(SINK)
    assert bench.written() == ["RUNNING", "FAILED safe"]


def test_a_task_stopped_before_its_thread_ran_never_starts(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(begin_ms=300)
    bench.task()
    bench.stop(TASK)
    assert bench.written() == ["UNASSIGNED safe"]


def test_a_slow_task_is_cancelled_after_its_time_and_writes_nothing_about_its_end(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(stop_ms=20_000)
    bench.task()
    bench.run()
    assert bench.stop(TASK) == 5_000
    assert bench.named()[-1] == "WorkCancelled"
    bench.run(20_000)
    assert bench.named()[-1] == "CancelledWorkEnded"
    assert bench.written() == ["RUNNING"]


def test_a_slow_connector_writes_unassigned_before_it_is_cancelled_and_nothing_after(bench: Bench) -> None:
    bench.behaviours[SINK] = Behaviour(stop_ms=20_000)
    bench.connector()
    bench.run()
    assert bench.stop(SINK) == 5_000
    bench.run(20_000)
    assert bench.written() == ["RUNNING", "UNASSIGNED safe"]
    assert bench.named()[-2:] == ["WorkCancelled", "CancelledWorkEnded"]


def test_a_cancelled_task_that_was_still_starting_writes_running_all_the_same(bench: Bench) -> None:
    """Race R20: nothing checks that the task was taken away meanwhile."""
    bench.behaviours[TASK] = Behaviour(start_ms=9_000)
    bench.task()
    bench.run(1_000)
    assert bench.stop(TASK) == 5_000
    bench.run(10_000)
    assert bench.written() == ["RUNNING"]


def test_what_was_cancelled_may_start_again_while_the_old_instance_goes_on(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(stop_ms=20_000)
    bench.task()
    bench.run()
    bench.stop(TASK)
    bench.task()
    bench.run()
    assert bench.worker.is_running(TASK)
    bench.run(20_000)
    assert bench.named() == ["TaskStarted", "WorkStateChanged", "WorkCancelled", "TaskStarted", "WorkStateChanged",
                             "CancelledWorkEnded"]  # fmt: skip


def test_what_exists_in_the_worker_cannot_be_started_again(bench: Bench) -> None:
    bench.task()
    with pytest.raises(AlreadyRuns, match="stop it before it is started again"):
        bench.task()


def test_a_failed_task_is_still_there_until_it_is_stopped(bench: Bench) -> None:
    bench.behaviours[TASK] = Behaviour(fails_at_start=True)
    bench.task()
    bench.run()
    assert bench.named() == ["TaskStarted", "WorkStateChanged"]
    assert bench.stop(TASK) == 0
    assert bench.named()[-1] == "TaskStopped"


def test_each_task_has_a_time_of_its_own_and_eight_stop_at_once(bench: Bench) -> None:
    tasks = [TaskKey("sink", number) for number in range(9)]
    for task in tasks:
        bench.behaviours[task] = Behaviour(stop_ms=60_000)
        bench.worker.start_task(task, TargetState.STARTED)
    bench.run()
    assert bench.stop(*tasks) == 10_000


def test_every_status_carries_the_generation_of_the_herder_at_the_time(bench: Bench) -> None:
    bench.task()
    bench.run()
    bench.generation = 4
    bench.stop(TASK)
    attempts = [event for event in bench.events if isinstance(event, StatusAttempted)]
    assert [event.generation for event in attempts] == [3, 4]
