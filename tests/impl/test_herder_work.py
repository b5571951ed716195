"""Connectors and tasks in a worker: which status each writes when, what outlives its stop, and how long a stop lasts.

The statements are those of the status writes of ``DistributedHerder``, ``WorkerConnector`` and ``WorkerTask``.
"""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.worker import AlreadyRuns
from rebalance_check.impl.connect.status.codec import TaskKey
from rebalance_check.model.vocabulary.events import Event, StatusAttempted, WorkStateChanged
from tests.impl.herder_work import SINK, TASK, Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()


def trace(kind: str, behaviour: Behaviour, steps: str) -> str:
    """Each thing that happens in these steps behind its time in ms; a status is marked where its write was safe."""
    bench = Bench()
    key = SINK if kind == "connector" else TASK
    bench.behaviours[key] = behaviour
    for step in steps.split("; "):
        verb, _, rest = step.partition(" ")
        match verb:
            case "start":
                (bench.connector if key == SINK else bench.task)(TargetState[rest or "STARTED"])
            case "run":
                bench.run(int(rest or 0))
            case "to":
                bench.worker.transition("sink", TargetState[rest])
            case "stop":
                bench.stop(key)
    asked = f"; tasks asked for: {len(bench.reached)}" if bench.reached else ""
    return "; ".join(text for event in bench.events if (text := in_words(event))) + asked


def in_words(event: Event) -> str:
    """A status that is written, or the end of an instance."""
    if isinstance(event, StatusAttempted):
        return f"{event.time_ms} {event.status}{' safe' if event.safe else ''}"
    is_left_out = type(event).__name__.startswith("Status") or isinstance(event, WorkStateChanged)
    return "" if is_left_out else f"{event.time_ms} {type(event).__name__}"


CASES: dict[str, tuple[str, Behaviour, str, str]] = {
    "a connector writes running when it started and asks for its tasks": (
        "connector", Behaviour(start_ms=50), "start; run 49; run 1",
        "0 ConnectorStarted; 50 RUNNING; tasks asked for: 1",
    ),
    "a task writes running only after its start succeeded": (
        "task", Behaviour(start_ms=50), "start; run 49; run 1",
        "0 TaskStarted; 50 RUNNING",
    ),
    "a connector is paused and resumed by its target state": (
        "connector", Behaviour(), "start; run; to PAUSED; run; to STARTED; run; to STOPPED; run",
        "0 ConnectorStarted; 0 RUNNING; 0 PAUSED; 0 RUNNING; 0 STOPPED; tasks asked for: 2",
    ),
    "a task is paused and resumed by the target state of its connector": (
        "task", Behaviour(), "start; run; to PAUSED; to STARTED",
        "0 TaskStarted; 0 RUNNING; 0 PAUSED; 0 RUNNING",
    ),
    "a task born paused writes paused and starts only when it is resumed": (
        "task", Behaviour(), "start PAUSED; run; to STARTED; run",
        "0 TaskStarted; 0 PAUSED; 0 RUNNING",
    ),
    "a resumed task that is stopped while it starts, starts first": (
        "task", Behaviour(start_ms=50), "start PAUSED; run; to STARTED; run 10; stop; run",
        "0 TaskStarted; 0 PAUSED; 50 RUNNING; 50 TaskStopped; 50 UNASSIGNED safe",
    ),
    "a task that is paused and resumed while it starts, starts once": (
        "task", Behaviour(start_ms=50), "start PAUSED; run; to STARTED; run 10; to PAUSED; run 10; to STARTED; run 110",
        "0 TaskStarted; 0 PAUSED; 50 RUNNING",
    ),
    "a connector whose target is stopped never starts": (
        "connector", Behaviour(), "start STOPPED; run",
        "0 ConnectorStarted; 0 STOPPED",
    ),
    "a connector whose start fails": (
        "connector", Behaviour(fails_at_start=True), "start; run",
        "0 ConnectorStarted; 0 FAILED safe",
    ),
    "a task whose start fails is still there until it is stopped": (
        "task", Behaviour(fails_at_start=True), "start; run; stop",
        "0 TaskStarted; 0 FAILED safe; 0 TaskStopped",
    ),
    "a connector that fails at run time": (
        "connector", Behaviour(fails_after_ms=500), "start; run 500",
        "0 ConnectorStarted; 0 RUNNING; 500 FAILED safe; tasks asked for: 1",
    ),
    "a task that fails at run time": (
        "task", Behaviour(fails_after_ms=500), "start; run 500",
        "0 TaskStarted; 0 RUNNING; 500 FAILED safe",
    ),
    "an orderly end of a connector": (
        "connector", Behaviour(), "start; run; stop",
        "0 ConnectorStarted; 0 RUNNING; 0 ConnectorStopped; 0 UNASSIGNED safe; tasks asked for: 1",
    ),
    "an orderly end of a task": (
        "task", Behaviour(), "start; run; stop",
        "0 TaskStarted; 0 RUNNING; 0 TaskStopped; 0 UNASSIGNED safe",
    ),
    "a task that fails while it is stopped": (
        "task", Behaviour(fails_after_ms=200, stop_ms=1_000), "start; run 100; stop",
        "0 TaskStarted; 0 RUNNING; 1100 TaskStopped; 1100 UNASSIGNED safe",
    ),
    "a connector whose stop fails": (
        "connector", Behaviour(fails_at_stop=True), "start; run; stop",
        "0 ConnectorStarted; 0 RUNNING; 0 FAILED safe; 0 ConnectorStopped; tasks asked for: 1",
    ),
    "a task stopped before its thread ran never starts": (
        "task", Behaviour(begin_ms=300), "start; stop",
        "0 TaskStarted; 300 TaskStopped; 300 UNASSIGNED safe",
    ),
    "a slow task is cancelled after its time and writes nothing about its end": (
        "task", Behaviour(stop_ms=20_000), "start; run; stop; run 20000",
        "0 TaskStarted; 0 RUNNING; 5000 WorkCancelled; 20000 CancelledWorkEnded",
    ),
    "a slow connector writes unassigned before it is cancelled and nothing after": (
        "connector", Behaviour(stop_ms=20_000), "start; run; stop; run 20000",
        "0 ConnectorStarted; 0 RUNNING; 5000 WorkCancelled; 5000 UNASSIGNED safe; "
        "20000 CancelledWorkEnded; tasks asked for: 1",
    ),
    # Race R20: nothing checks that the task was taken away meanwhile.
    "a cancelled task that was still starting writes running all the same": (
        "task", Behaviour(start_ms=9_000), "start; run 1000; stop; run 10000",
        "0 TaskStarted; 6000 WorkCancelled; 9000 RUNNING; 9000 CancelledWorkEnded",
    ),
    "what was cancelled may start again while the old instance goes on": (
        "task", Behaviour(stop_ms=20_000), "start; run; stop; start; run; run 20000",
        "0 TaskStarted; 0 RUNNING; 5000 WorkCancelled; 5000 TaskStarted; 5000 RUNNING; 20000 CancelledWorkEnded",
    ),
}  # fmt: skip
"""The work, its behaviour, what happens to it, and the trace of that."""


@pytest.mark.parametrize("case", CASES)
def test_work_writes_its_statuses(case: str) -> None:
    kind, behaviour, steps, expected = CASES[case]
    assert trace(kind, behaviour, steps) == expected


def test_what_exists_in_the_worker_cannot_be_started_again(bench: Bench) -> None:
    bench.task()
    with pytest.raises(AlreadyRuns, match="stop it before it is started again"):
        bench.task()


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
