"""The herder's thread in one round: its steps, in which order, and what ends it early (``DistributedHerder.tick``)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rebalance_check.impl.client.generation import NO_MEMBERSHIP
from rebalance_check.impl.connect.config.changes import ConnectorConfigRemove, TargetStateChange
from rebalance_check.impl.connect.config.errors import ConfigStoreError
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.values import RestartRequest
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.events import ConnectorStarted, ConnectorStopped, TaskStopped
from tests.impl.herder_bench import HerderBench
from tests.impl.scripted_worker import work

REJOINS = "rejoin: connectors or tasks were reconfigured"
COOPERATIVE, EAGER = ConnectMode.SESSIONED, ConnectMode.EAGER


def request(bench: HerderBench, delay_ms: int, name: str = "request") -> None:
    """A request that is noted when it is served, or refused."""

    def serve() -> Steps[None]:
        bench.order.append(name)
        yield from ()

    bench.herder.add_request(delay_ms, serve, lambda: bench.order.append(f"{name} is refused"))


def first_of_each(taken: list[str], *names: str) -> list[str]:
    """These in the order in which each was first seen."""
    return list(dict.fromkeys(name for name in taken if name in names))


# ---------------------------------------------------------------------------------------------------- the order


def test_the_steps_of_a_round_have_an_order(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = HerderBench({"c": 1}, exactly_once=ExactlyOnce.PREPARING)
    bench.round("c c-0", leads=True)
    bench.configs._drop_privileges()
    bench.herder._fenced = True
    bench.herder._key_expires_ms = 0
    bench.herder.on_config_change(RestartRequest("c", only_failed=False, include_tasks=True))
    bench.herder.on_config_change(TargetStateChange("c"))
    request(bench, 0)
    bench.took()

    def poll(_now_ms: int) -> None:
        if "poll" not in bench.order:
            bench.herder.resolved = False
        bench.order.append("poll")

    monkeypatch.setattr(bench.rounds, "poll", poll)
    bench.go()
    order = [
        "poll", "AssignmentAccepted", "ProducerInitialised", "SessionKeyWritten", "request", "RestartPlanned",
        "TargetStateChanged",
    ]  # fmt: skip
    taken = bench.took()
    assert first_of_each(taken, *order) == order
    assert taken[-1] == "poll"


def test_a_round_ends_where_what_was_assigned_needs_another_round() -> None:
    bench = HerderBench({"c": 1})
    request(bench, 0)
    bench.round("c", error=1)
    taken = bench.took()
    assert first_of_each(taken, "poll", "rejoin: the assignment failed", "request") == [
        "poll", "rejoin: the assignment failed",
    ]  # fmt: skip
    bench.round("c", generation=2)
    assert "request" in bench.took()


def test_a_worker_that_cannot_read_configs_does_not_join() -> None:
    bench = HerderBench({"c": 1})
    bench.config_log.readable = False
    bench.round("c", offset=99)
    bench.go(2_999)
    assert "leave: taking too long to read the log" not in bench.took(), "worker.sync.timeout.ms"
    bench.go(1)
    assert bench.took()[-1] == "leave: taking too long to read the log"
    bench.go(6_000)
    assert bench.took() == ["rejoin: the config topic could not be read", "ConfigCallStarted", "ConfigReadStarted"]
    bench.go(30_000)
    assert "poll" not in bench.took()
    bench.config_log.readable = True
    bench.go(60_000)
    assert "poll" in bench.took()


def test_requests_are_served_when_their_time_has_come() -> None:
    bench = HerderBench({"c": 0})
    bench.round("c")
    request(bench, 1_000, "later")
    request(bench, 0, "now")
    bench.go(999)
    assert first_of_each(bench.took(), "now", "later") == ["now"]
    bench.go(1)
    assert "later" in bench.took()


def test_a_wake_up_begins_another_round() -> None:
    bench = HerderBench({"c": 0})
    bench.round("c")
    bench.took()
    bench.go(10_000)
    assert set(bench.took()) == {"poll"}, "nothing is to be done: no round begins"
    bench.herder.resolved = False
    bench.herder.wake()
    bench.go()
    assert "AssignmentAccepted" in bench.took()


def test_a_scheduled_rebalance_bounds_the_poll() -> None:
    bench = HerderBench({"c": 0})
    bench.round("c", delay_ms=5_000)
    assert bench.runs == ["c"], "what is assigned starts at once"
    bench.go(4_999)
    assert "rejoin: the scheduled rebalance is due" not in bench.took()
    bench.go(1)
    assert "rejoin: the scheduled rebalance is due" in bench.took()
    assert bench.herder.scheduled_ms is None


def test_while_a_rebalance_is_scheduled_every_round_counts_as_a_completed_one() -> None:
    counts = []
    for delay_ms in (0, 5_000):
        bench = HerderBench({"c": 0})
        bench.round("c", delay_ms=delay_ms)
        before = bench.herder.metrics.completed.total
        for _ in range(3):
            bench.herder.wake()
            bench.go()
        counts.append(bench.herder.metrics.completed.total - before)
    assert counts[0] == 0
    assert counts[1] >= 3


# ---------------------------------------------------------------------------------------------------- leading


@pytest.mark.parametrize("leads", [True, False])
def test_a_leader_that_was_fenced_claims_the_topic_again__another_worker_forgets_it(leads: bool) -> None:
    bench = HerderBench({"c": 0}, exactly_once=ExactlyOnce.PREPARING)
    bench.round("c", leads=leads)
    bench.configs._drop_privileges()
    bench.herder._fenced = True
    bench.took()
    bench.herder.wake()
    bench.go()
    assert ("ProducerInitialised" in bench.took()) is leads
    assert not bench.herder._fenced


def test_a_leader_that_cannot_claim_the_topic_tries_again_every_250_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = HerderBench({"c": 0})
    tries: list[int] = []

    def claim() -> Any:
        tries.append(bench.clock.now_ms)
        return SimpleNamespace(done=True, error=ConfigStoreError("not now"), deadline_ms=None)

    monkeypatch.setattr(bench.configs, "claim_privileges", claim)
    bench.round("c", leads=True)
    request(bench, 0)
    bench.go(700)
    assert tries == [0, 0, 250, 500], "on the assignment, then in each round"
    assert "request" not in bench.took(), "such a round ends there"


# ---------------------------------------------------------------------------------------------------- config updates


@pytest.mark.parametrize(("connector", "ends"), [("d", True), ("c", False)], ids=["a rebalance", "a restart"])
def test_a_round_with_a_rebalance_for_configs_ends_there(connector: str, ends: bool) -> None:
    """Another connector needs a rebalance, another config of a known one does not."""
    bench = HerderBench({"c": 0})
    bench.round("c")
    bench.operator.put_connector(connector, {"version": "2"})
    bench.read_configs()
    bench.herder.worker.instances.clear()
    with pytest.raises(StopIteration) as end:
        next(bench.herder._apply_updates())
    assert end.value.value is ends


def test_a_connector_that_went_before_is_only_stopped() -> None:
    """Its removal is read when the herder's snapshot has it already."""
    bench = HerderBench()
    bench.round("gone")
    assert bench.runs == ["gone"]
    bench.herder.on_config_change(ConnectorConfigRemove("gone"))
    bench.took()
    bench.go()
    assert (bench.runs, REJOINS in bench.took()) == ([], False)


def test_callbacks_of_the_config_topic_only_note_and_wake() -> None:
    bench = HerderBench({"c": 1})
    bench.round("c c-0")
    bench.commit("c", 1, version=2)
    bench.commit("d", 1)
    bench.took()
    bench.read_configs()
    assert set(bench.took()) == {"ConfigRead", "ConfigCallbackCalled"}
    assert bench.runs == ["c", "c-0"]


# ---------------------------------------------------------------------------------------------------- assignments


def test_an_assignment_is_noted__and_nothing_is_started() -> None:
    bench = HerderBench({"c": 0})
    bench.rounds.mode = ConnectMode.COMPATIBLE
    bench.clock.run_until(500)
    assigned = work("c", delay_ms=70)
    bench.herder.on_assigned(assigned, 7)
    herder = bench.herder
    assert (herder.mode, herder.assignment, herder.generation) == (ConnectMode.COMPATIBLE, assigned, 7)
    assert (herder.scheduled_ms, herder.resolved, herder.running) == (570, False, set())
    assert herder.metrics._started_ms == 500, "the rebalance is measured from here"
    assert herder._woken
    assert bench.seen(ConnectorStarted) == []
    herder.on_assigned(work("c"), 8)
    assert herder.scheduled_ms is None


def removed(bench: HerderBench) -> list[tuple[str, int, bool]]:
    """Key, generation and safety of each tombstone that the worker wrote."""
    return [
        (key, generation, safe) for key, status, generation, safe in bench.statuses_written() if status == "DESTROYED"
    ]


@pytest.mark.parametrize("error", [0, 1], ids=["assigned", "failed"])
def test_the_leader_removes_statuses_of_deleted_connectors__tasks_first(error: int) -> None:
    bench = HerderBench({"c": 2, "d": 1})
    bench.round("c c-0 c-1 d d-0")
    bench.operator.remove_connector("c")
    bench.read_configs()
    bench.round("d d-0", generation=4, leads=True, error=error)
    tasks = [("task-c-0", 4, False), ("task-c-1", 4, False)]
    assert removed(bench) == [*tasks, ("connector-c", 4, False), *tasks], "its own tombstones are not read yet"


def test_the_leader_claims_the_topic_after_its_clean_up() -> None:
    bench = HerderBench({"c": 0}, exactly_once=ExactlyOnce.PREPARING)
    bench.round("c")
    bench.operator.remove_connector("c")
    bench.read_configs()
    bench.took()
    bench.round("", generation=2, leads=True)
    assert first_of_each(bench.took(), "StatusAttempted", "ProducerInitialised") == [
        "StatusAttempted", "ProducerInitialised",
    ]  # fmt: skip


def test_a_revocation_and_the_loss_of_the_membership_leave_generation_and_assignment_as_they_are() -> None:
    """A worker runs, and routes requests by, the work that it was assigned last."""
    bench = HerderBench({"c": 0})
    bench.round("c", generation=6)
    while not bench.herder.on_revoked("other", ("c",), ()):
        bench.go()
    bench.rounds.completed = NO_MEMBERSHIP
    assert (bench.runs, bench.herder.running) == ([], set())
    assert (bench.herder.assignment or work()).names == ("c",)
    assert (bench.herder.generation, bench.herder.leader_url) == (6, "http://other:8083/")


# ---------------------------------------------------------------------------------------------------- the end


def test_an_orderly_end_stops_connectors_then_tasks_then_the_stores_then_leaves() -> None:
    bench = HerderBench({"c": 1, "d": 1})
    bench.behaviours[ConnectorKey("d")] = Behaviour(stop_ms=2_000)
    bench.round("c c-0")
    bench.round("c c-0 d d-0", generation=2)
    request(bench, 9_000)
    bench.took()
    bench.herder.request_stop()
    bench.go(1_999)
    assert [event.connector for event in bench.seen(ConnectorStopped)] == ["c"]
    assert bench.seen(TaskStopped) == [], "tasks stop when all connectors have"
    bench.go(1)
    steps = ["ConnectorStopped", "TaskStopped", "request is refused", "StatusStoreStopped", "close"]
    assert first_of_each(bench.took(), *steps) == steps
    assert [status for _, status, _, _ in bench.statuses_written()[-4:]] == ["UNASSIGNED"] * 4
    assert (bench.config_log.closed, bench.herder.halted) == (True, True)


def test_a_revocation_that_a_poll_began_is_over_before_the_worker_leaves() -> None:
    bench = HerderBench({"c": 1})
    bench.behaviours[TaskKey("c", 0)] = Behaviour(stop_ms=2_000)
    bench.round("c c-0")
    bench.rounds.waits = (work("c", "c-0", leader="other", offset=bench.configs.snapshot().offset), 2)
    bench.go()
    bench.took()
    bench.herder.request_stop()
    bench.go(1_999)
    assert "close" not in bench.took(), "its task is still on its way out"
    bench.go(1)
    assert first_of_each(bench.took(), "TaskStopped", "close") == ["TaskStopped", "close"]
    assert bench.herder.halted


def test_a_wake_up_does_not_end_the_poll_that_revokes() -> None:
    bench = HerderBench({"c": 1})
    bench.behaviours[TaskKey("c", 0)] = Behaviour(stop_ms=2_000)
    bench.round("c c-0")
    bench.rounds.waits = (work("c", "c-0", leader="other", offset=bench.configs.snapshot().offset), 2)
    bench.go()
    bench.took()
    bench.herder.resolved = False
    bench.herder.wake()
    bench.go(1_999)
    assert "AssignmentAccepted" not in bench.took(), "its task is still on its way out"
    bench.go(1)
    assert first_of_each(bench.took(), "TaskStopped", "AssignmentAccepted") == ["TaskStopped", "AssignmentAccepted"]


def test_at_the_end_all_tasks_stop_at_once_each_within_its_time() -> None:
    bench = HerderBench({"c": 9})
    for number in range(9):
        bench.behaviours[TaskKey("c", number)] = Behaviour(stop_ms=60_000)
    bench.round("c " + " ".join(f"c-{number}" for number in range(9)))
    bench.herder.request_stop()
    bench.go(4_999)
    assert not bench.herder.halted
    bench.go(1)
    assert bench.herder.halted


def test_the_end_comes_in_time_whatever_is_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most worker.sync.timeout.ms (3 s), the tasks' 5 s and 15 s; here 5 s, 5 s, and 10 s for the statuses."""
    bench = HerderBench({"c": 1})
    for key in (ConnectorKey("c"), TaskKey("c", 0)):
        bench.behaviours[key] = Behaviour(stop_ms=60_000)
    bench.round("c c-0")
    monkeypatch.setattr(bench, "_deliver_statuses", lambda: None)
    bench.herder.request_stop()
    bench.go(3_000 + 5_000 + 15_000)
    assert bench.herder.halted
