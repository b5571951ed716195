"""A herder gives up, starts and keeps work over its rounds, and writes about that."""

from __future__ import annotations

import pytest

from rebalance_check.impl.client.generation import NO_MEMBERSHIP
from rebalance_check.impl.connect.config.values import RestartRequest, TargetState
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectMode, ConnectorTask
from rebalance_check.model.vocabulary.events import ConnectorStarted, StatusFlushed, TaskStarted, TaskStopped
from tests.impl.herder_bench import HerderBench

COOPERATIVE, EAGER = ConnectMode.SESSIONED, ConnectMode.EAGER


def last_of_each(bench: HerderBench) -> dict[str, tuple[str, int, bool]]:
    """Status, generation and safety that were written last, by key."""
    return {key: (status, generation, safe) for key, status, generation, safe in bench.statuses_written()}


# ---------------------------------------------------------------------------------------------------- revocation


@pytest.mark.parametrize("mode", [EAGER, COOPERATIVE])
def test_an_eager_worker_stops_nothing_that_it_has_not_started(mode: ConnectMode) -> None:
    """A cooperative one stops what is revoked also while its last assignment is not resolved (KAFKA-10763)."""
    bench = HerderBench({"c": 1}, mode=mode)
    bench.round("c c-0")
    bench.herder.resolved = False
    task = ConnectorTask("c", 0)
    assert bench.herder.on_revoked("other", (), (task,)) is (mode is EAGER)
    bench.go()
    while mode is COOPERATIVE and not bench.herder.on_revoked("other", (), (task,)):
        bench.go()
    assert (TaskKey("c", 0) in bench.herder.running) is False
    assert bench.runs == (["c", "c-0"] if mode is EAGER else ["c"])
    assert bool(bench.seen(StatusFlushed)) is (mode is COOPERATIVE)


def test_a_revocation_ends_with_a_flush_of_the_statuses__then_the_round_is_completed() -> None:
    bench = HerderBench({"c": 2})
    bench.round("c c-0 c-1")
    bench.took()
    bench.round("", revoked="c-0", generation=2)
    taken = bench.took()
    steps = ["TaskStopped", "StatusAttempted", "StatusFlushStarted", "StatusAnswered", "StatusFlushed"]
    assert list(dict.fromkeys(one for one in taken if one in [*steps, "AssignmentAccepted"])) == [
        *steps, "AssignmentAccepted",
    ]  # fmt: skip


def test_what_is_too_slow_counts_as_revoked_while_it_may_still_run() -> None:
    bench = HerderBench({"c": 1})
    bench.behaviours[TaskKey("c", 0)] = Behaviour(stop_ms=60_000)
    bench.round("c c-0")
    bench.round("", revoked="c-0", generation=2)
    bench.go(5_000)
    assert (bench.runs, bench.herder.generation) == (["c"], 2)
    assert bench.seen(TaskStopped) == []


def test_what_was_never_started_is_revoked_without_effect_and_leads_to_the_next_round() -> None:
    """Trace T: a candidate is to give up a task that it was dealt in the same round."""
    bench = HerderBench({"c": 1})
    bench.round("c")
    bench.took()
    bench.round("", revoked="c-0", generation=2)
    assert bench.seen(TaskStopped) == []
    assert "rejoin: work was revoked" in bench.took()


def test_a_revocation_is_announced_with_the_generation_before() -> None:
    bench = HerderBench({"c": 1})
    bench.round("c c-0", generation=4)
    bench.round("", revoked="c-0", generation=5)
    assert last_of_each(bench)["task-c-0"] == ("UNASSIGNED", 4, True)


# ---------------------------------------------------------------------------------------------------- start


def test_connectors_start_before_tasks() -> None:
    bench = HerderBench({"c": 1, "d": 1})
    bench.round("c-0 d-0 c d")
    started = [type(event) for event in bench.events if isinstance(event, ConnectorStarted | TaskStarted)]
    assert started == [ConnectorStarted, ConnectorStarted, TaskStarted, TaskStarted]


def test_a_cooperative_worker_starts_only_what_it_does_not_run__and_writes_nothing_about_the_rest() -> None:
    bench = HerderBench({"c": 2})
    bench.round("c c-0", generation=1)
    bench.round("c c-0 c-1", generation=2)
    assert [(event.task, event.generation) for event in bench.seen(TaskStarted)] == [("c-0", 1), ("c-1", 2)]
    assert {key: status[:2] for key, status in last_of_each(bench).items()} == {
        "connector-c": ("RUNNING", 1), "task-c-0": ("RUNNING", 1), "task-c-1": ("RUNNING", 2),
    }  # fmt: skip
    assert bench.herder.running == {ConnectorKey("c"), TaskKey("c", 0), TaskKey("c", 1)}


def test_an_eager_worker_starts_everything_anew_in_each_generation() -> None:
    bench = HerderBench({"c": 1}, mode=EAGER)
    for generation in (1, 2):
        if generation > 1:
            while not bench.herder.on_revoked("other", ("c",), (ConnectorTask("c", 0),)):
                bench.go()
        bench.round("c c-0", generation=generation)
        assert bench.herder.running == set()
    assert [event.task for event in bench.seen(TaskStarted)] == ["c-0", "c-0"]


def test_what_exists_already_fails_when_it_is_started__with_a_status() -> None:
    """After a downgrade an eager round assigns what was never stopped."""
    bench = HerderBench({"c": 1}, mode=EAGER)
    bench.round("c c-0", generation=1)
    bench.round("c c-0", generation=2)
    assert last_of_each(bench) == {"connector-c": ("FAILED", 2, True), "task-c-0": ("FAILED", 2, True)}
    assert bench.runs == ["c", "c-0"], "the first instances go on"


def test_a_start_that_fails_is_written_and_keeps_nothing_else_from_starting() -> None:
    bench = HerderBench({"c": 2})
    bench.round("c c-7 c-1")
    assert last_of_each(bench)["task-c-7"] == ("FAILED", 1, True)
    assert bench.runs == ["c", "c-1"]


def test_what_is_assigned_at_another_offset_is_claimed_and_does_not_run() -> None:
    bench = HerderBench({"c": 1})
    bench.round("c c-0", offset=1)
    assert bench.herder.assignment is not None
    assert (bench.herder.assignment.names, bench.runs, bench.herder.running) == (("c", "c-0"), [], set())


# ---------------------------------------------------------------------------------------------------- statuses


def test_a_restart_writes_restarting_when_the_old_instance_has_stopped() -> None:
    bench = HerderBench({"c": 1})
    bench.round("c c-0")
    before = len(bench.statuses_written())
    bench.herder.on_config_change(RestartRequest("c", only_failed=False, include_tasks=True))
    bench.go()
    assert bench.statuses_written()[before:] == [
        ("connector-c", "UNASSIGNED", 1, True), ("connector-c", "RESTARTING", 1, False),
        ("task-c-0", "UNASSIGNED", 1, True), ("task-c-0", "RESTARTING", 1, False),
        ("connector-c", "RUNNING", 1, False), ("task-c-0", "RUNNING", 1, False),
    ]  # fmt: skip


def test_running_paused_and_stopped_are_written_with_put() -> None:
    bench = HerderBench({"c": 1})
    bench.round("c c-0")
    for state in (TargetState.PAUSED, TargetState.STARTED, TargetState.STOPPED):
        bench.operator.put_target_state("c", state)
        bench.read_configs()
        bench.go()
    written = bench.statuses_written()
    assert [(status, safe) for key, status, _, safe in written if key == "connector-c"] == [
        ("RUNNING", False), ("PAUSED", False), ("RUNNING", False), ("STOPPED", False),
    ]  # fmt: skip
    assert [(status, safe) for key, status, _, safe in written if key == "task-c-0"] == [
        ("RUNNING", False), ("PAUSED", False), ("RUNNING", False),
    ]  # fmt: skip


def test_failed_is_written_with_a_trace() -> None:
    bench = HerderBench({"c": 1})
    bench.behaviours[TaskKey("c", 0)] = Behaviour(fails_at_start=True)
    bench.round("c c-0")
    values = {key: bench.statuses.get(key) for key in (ConnectorKey("c"), TaskKey("c", 0))}
    assert {key: value and value.trace for key, value in values.items()} == {
        ConnectorKey("c"): None, TaskKey("c", 0): "java.lang.RuntimeException: boom",
    }  # fmt: skip


def test_a_removed_worker_writes_with_its_old_generation() -> None:
    """A status tells which assignment its writer had, and not that the writer is a member."""
    bench = HerderBench({"c": 1})
    bench.round("c c-0", generation=4)
    bench.rounds.completed = NO_MEMBERSHIP
    bench.operator.put_target_state("c", TargetState.PAUSED)
    bench.read_configs()
    bench.go()
    assert last_of_each(bench)["task-c-0"] == ("PAUSED", 4, False)
