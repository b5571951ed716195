"""A simulated Connect cluster as a whole: every mode converges and breaks no claim, and seeds repeat."""

from __future__ import annotations

from collections import Counter

import pytest

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.runtime.options import (
    ALL_FAULTS,
    COMMON_FAULTS,
    ClusterMode,
    FaultKind,
    SimulatedProtocol,
    SimulationOptions,
)
from rebalance_check.impl.simulator import churn_schedule, simulate
from rebalance_check.impl.simulator.connect.application import WorkerApplication
from rebalance_check.impl.simulator.connect.modes import mode_of
from rebalance_check.impl.simulator.subject import GroupRun
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.events import (
    CancelledWorkEnded,
    ConnectAssignmentReceived,
    Event,
    MemberLeft,
    ProducerInitialised,
    RequestAnswered,
    RequestSent,
    RestartPlanned,
    RunEnded,
    SessionKeyWritten,
    StatusAttempted,
    StatusStoreStopped,
    TargetStateChanged,
    TaskConfigsApplied,
    TaskConfigsGenerated,
    TaskStarted,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
    ZombieFencingEnded,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

PLAIN = (ClusterMode.EAGER, ClusterMode.COMPATIBLE, ClusterMode.SESSIONED)
OTHERS = (ClusterMode.MIXED, ClusterMode.UPGRADE, ClusterMode.EXACTLY_ONCE)
SEEDS = range(6)
MANY_SEEDS = 300
REACHED: tuple[type[Event], ...] = (
    WorkCancelled,
    CancelledWorkEnded,
    RestartPlanned,
    SessionKeyWritten,
    TargetStateChanged,
    TaskConfigsApplied,
    TaskConfigsGenerated,
    WorkStateChanged,
)


def run(seed: int, mode: ClusterMode, faults: tuple[FaultKind, ...] = COMMON_FAULTS) -> list[Event]:
    return simulate(seed, SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode, faults=faults))


def violated(history: list[Event]) -> list[str]:
    verdicts = judge(history).verdicts
    return sorted(invariant.name for invariant, verdict in verdicts.items() if isinstance(verdict, Violated))


def broken(seed: int, mode: ClusterMode) -> tuple[list[str], tuple[str, ...]]:
    """The claims that a run breaks, and what has not converged at its end; in one mode nothing runs unclaimed."""
    history = run(seed, mode)
    end = history[-1]
    assert isinstance(end, RunEnded)
    assert mode not in PLAIN or end.unclaimed == ()
    return violated(history), end.pending or ()


@pytest.mark.parametrize("mode", PLAIN)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_disturbed_cluster_converges_and_breaks_no_claim(mode: ClusterMode, seed: int) -> None:
    assert broken(seed, mode) == ([], ())


@pytest.mark.parametrize("mode", OTHERS)
@pytest.mark.parametrize("seed", [16, 24, 29, 49])
def test_so_does_one_whose_workers_differ_or_change_or_write_exactly_once(mode: ClusterMode, seed: int) -> None:
    assert broken(seed, mode) == ([], ())


@pytest.mark.nightly
@pytest.mark.parametrize("mode", [*PLAIN, *OTHERS, ClusterMode.ANY])
@pytest.mark.parametrize("first", range(0, MANY_SEEDS, 50))
def test_no_mode_breaks_a_claim_on_many_seeds(mode: ClusterMode, first: int) -> None:
    found = {seed: broken(seed, mode) for seed in range(first, first + 50)}
    assert {seed: what for seed, what in found.items() if what != ([], ())} == {}


@pytest.mark.parametrize("mode", PLAIN)
def test_without_faults_an_operator_alone_breaks_nothing(mode: ClusterMode) -> None:
    for seed in range(5):
        assert violated(run(seed, mode, faults=())) == []


@pytest.mark.parametrize("mode", PLAIN)
def test_coordinators_that_die_and_move_break_nothing(mode: ClusterMode) -> None:
    for seed in range(5, 10):
        assert violated(run(seed, mode, faults=ALL_FAULTS)) == []


def test_a_worker_that_a_new_coordinator_refuses_is_started_again() -> None:
    """After a failover the group knows one protocol of each member, and an eager worker offers another."""
    history = run(17, ClusterMode.MIXED, faults=ALL_FAULTS)
    refused = [e for e in history if isinstance(e, RequestAnswered) and e.error == "INCONSISTENT_GROUP_PROTOCOL"]
    assert refused
    assert violated(history) == []


def test_a_seed_repeats_its_history() -> None:
    assert run(3, ClusterMode.SESSIONED) == run(3, ClusterMode.SESSIONED)


def test_the_seeds_reach_what_a_herder_does() -> None:
    """A simulation in which nothing of this happened would hold every claim about it."""
    seen = Counter(type(event) for seed in range(15) for event in run(seed, ClusterMode.SESSIONED))
    seen.update(type(event) for event in run(121, ClusterMode.EAGER))
    assert [kind.__name__ for kind in REACHED if not seen[kind]] == []


def test_all_workers_of_a_plain_mode_select_its_protocol() -> None:
    for mode, protocol in zip(PLAIN, ("default", "compatible", "sessioned"), strict=True):
        received = [e for e in run(0, mode, faults=()) if isinstance(e, ConnectAssignmentReceived)]
        assert {event.protocol for event in received} == {protocol}


def test_one_eager_worker_makes_the_group_eager_in_that_round() -> None:
    modes, rounds = dict[str, str](), dict[int, dict[str, str]]()
    for event in run(2, ClusterMode.MIXED, faults=()):
        if isinstance(event, WorkerConfigured):
            modes[event.member] = event.mode
        elif isinstance(event, ConnectAssignmentReceived):
            rounds.setdefault(event.generation, {})[modes[event.member]] = event.protocol
    mixed = [protocols for protocols in rounds.values() if "eager" in protocols and len(protocols) > 1]
    assert mixed
    assert {protocol for protocols in mixed for protocol in protocols.values()} == {"default"}
    assert any(set(protocols.values()) - {"default"} for protocols in rounds.values()), "before it joined"


def test_an_upgrade_restarts_every_worker_twice_and_ends_sessioned() -> None:
    history = run(0, ClusterMode.UPGRADE, faults=())
    started = [(event.member, event.mode) for event in history if isinstance(event, WorkerConfigured)]
    for member in ("m0", "m1", "m2"):
        assert [mode for name, mode in started if name == member] == ["eager", "compatible", "sessioned"]
    received = [event for event in history if isinstance(event, ConnectAssignmentReceived)]
    assert received[-1].protocol == "sessioned"
    assert violated(history) == []


@pytest.mark.parametrize("seed", range(8))
def test_with_exactly_once_support_no_task_starts_before_its_predecessors_were_fenced(seed: int) -> None:
    history = run(seed, ClusterMode.EXACTLY_ONCE)
    assert violated(history) == []
    initialised = {event.work for event in history if isinstance(event, ProducerInitialised)}
    started = {event.task for event in history if isinstance(event, TaskStarted)}
    assert started <= initialised


def test_the_leader_fences_as_many_producers_as_the_last_count_record_says() -> None:
    """The first round finds no count record and fences nothing; later ones fence what was counted before."""
    ended = [e for seed in range(8) for e in run(seed, ClusterMode.EXACTLY_ONCE) if isinstance(e, ZombieFencingEnded)]
    assert {event.outcome for event in ended} >= {"ok"}
    assert any(event.transactional_ids == () for event in ended)
    assert any(len(event.transactional_ids) > 1 for event in ended)


def test_only_with_exactly_once_support_configs_are_read_when_they_are_committed() -> None:
    for mode, committed in ((ClusterMode.SESSIONED, False), (ClusterMode.EXACTLY_ONCE, True)):
        cluster = GroupRun(0, SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode), lambda _: None)
        cluster.perform(Action(ActionKind.START_MEMBER, 0, 0))
        application = cluster._environment.members[0].application
        assert isinstance(application, WorkerApplication)
        assert application.config_channel.committed is committed


def test_without_exactly_once_support_nothing_is_fenced() -> None:
    assert not any(isinstance(event, ZombieFencingEnded) for event in run(0, ClusterMode.SESSIONED))


def test_the_statuses_of_an_orderly_stop_precede_the_leave() -> None:
    """All work stops and is UNASSIGNED, then both stores stop, then the worker leaves its group."""
    stops = 0
    for seed in range(12):
        history = [e for e in run(seed, ClusterMode.SESSIONED, faults=()) if e.source.startswith("m")]
        for at, event in enumerate(history):
            if isinstance(event, MemberLeft):
                own = [e for e in history[:at] if e.source == event.source]
                stopped = max(i for i, e in enumerate(own) if isinstance(e, StatusStoreStopped))
                assert not any(isinstance(e, StatusAttempted) for e in own[stopped:])
                stops += any(isinstance(e, RequestSent) and e.api == "LeaveGroup" for e in own[stopped:])
    assert stops > 0


def test_a_mixed_cluster_shows_that_an_eager_worker_makes_tasks_run_twice() -> None:
    """KAFKA-13816: workers keep what an eager assignment leaves out after a cooperative one; the run names it."""
    ends = [end for seed in (18, 20, 31) if isinstance(end := run(seed, ClusterMode.MIXED)[-1], RunEnded)]
    assert any(end.unclaimed for end in ends)
    assert not any(end.pending for end in ends)


def test_the_seed_decides_the_mode_where_none_is_asked_for() -> None:
    modes = {mode_of(seed, ClusterMode.ANY, 0, 0) for seed in range(30)}
    assert modes == set(ConnectMode)
    schedules = [churn_schedule(seed, SimulationOptions(protocol=SimulatedProtocol.CONNECT)) for seed in range(3)]
    assert all(schedule.actions for schedule in schedules)
