"""The simulator: one seed in, one byte-identical history out, disturbed first, healed and settled in the end."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.faults import draw_plan
from rebalance_check.impl.runtime.options import (
    ALL_FAULTS,
    ClusterMode,
    FaultKind,
    SimulatedProtocol,
    SimulationOptions,
)
from rebalance_check.impl.simulator import SimulatorSubject, churn_schedule, simulate, simulate_into
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    ConnectorStarted,
    Event,
    GenerationStarted,
    MemberCrashed,
    MemberPaused,
    MembershipLost,
    OffsetCommitted,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RunEnded,
    RunStarted,
    TaskStarted,
    TaskStopped,
)
from rebalance_check.model.vocabulary.schedule import run

GROUPS = (SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE, SimulatedProtocol.CONNECT, SimulatedProtocol.ELECTION)
ALL = (*GROUPS, SimulatedProtocol.STATUS)

DIGEST = """
import hashlib
from rebalance_check.impl.simulator import SimulationOptions, simulate
for protocol in ("eager", "cooperative", "connect", "election", "status"):
    text = repr([simulate(seed, SimulationOptions(protocol=protocol)) for seed in range(3)])
    print(hashlib.sha256(text.encode()).hexdigest())
"""


def ended(history: Iterable[Event]) -> RunEnded:
    *_, last = history
    assert isinstance(last, RunEnded)
    return last


def test_one_seed_gives_one_history__under_any_hash_seed() -> None:
    command = [sys.executable, "-c", DIGEST]
    digests = {
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    }
    here = [
        hashlib.sha256(repr([simulate(seed, SimulationOptions(protocol=p)) for seed in range(3)]).encode()).hexdigest()
        for p in ALL
    ]

    assert digests == {("\n".join(here) + "\n").encode()}


@pytest.mark.parametrize("protocol", ALL)
def test_a_history_does_not_depend_on_what_ran_before(protocol: SimulatedProtocol) -> None:
    options = SimulationOptions(protocol=protocol)

    forwards = [simulate(seed, options) for seed in range(4)]
    backwards = [simulate(seed, options) for seed in reversed(range(4))]

    assert forwards == backwards[::-1]
    assert len({len(history) for history in forwards}) > 1


@pytest.mark.parametrize("protocol", GROUPS)
def test_simulating_a_seed_is_running_its_schedule_on_the_subject(protocol: SimulatedProtocol) -> None:
    options = SimulationOptions(protocol=protocol)

    for seed in range(5):
        assert simulate(seed, options) == list(run(SimulatorSubject(options), churn_schedule(seed, options)))


@pytest.mark.parametrize("protocol", ALL)
def test_a_history_starts_and_ends__and_numbers_the_events_of_each_source(protocol: SimulatedProtocol) -> None:
    history = simulate(3, SimulationOptions(protocol=protocol))

    first = history[0]
    assert isinstance(first, RunStarted)
    assert (first.subject, first.seed) == ("simulator", 3)
    ended(history)
    seen = Counter[str]()
    for event in history:
        assert event.seq == seen[event.source]
        seen[event.source] += 1
    assert [event.time_ms for event in history] == sorted(event.time_ms for event in history)


def test_the_first_event_tells_which_faults_were_drawn() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER)

    for seed in range(20):
        first = simulate(seed, options)[0]
        assert isinstance(first, RunStarted)
        assert first.bounds.endswith(f"faults drawn: {draw_plan(seed, options)}")


def test_a_listener_hears_the_same_events() -> None:
    observed: list[Event] = []
    options = SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE)

    simulate_into(5, options, observed.append)

    assert observed == simulate(5, options)


@pytest.mark.parametrize("protocol", ALL)
def test_every_healed_run_becomes_stable(protocol: SimulatedProtocol) -> None:
    options = SimulationOptions(protocol=protocol)

    pending = {seed: ended(simulate(seed, options)).pending for seed in range(10)}

    assert {seed: what for seed, what in pending.items() if what} == {}


def test_nine_workers_of_connect_have_time_to_become_stable() -> None:
    options = SimulationOptions(
        protocol=SimulatedProtocol.CONNECT, members=9, partitions=9, steps=15, mode=ClusterMode.SESSIONED,
        faults=ALL_FAULTS,
    )  # fmt: skip
    assert ended(simulate(950_217, options)).pending == ()


def test_the_runs_are_not_vacuous__every_kind_of_trouble_occurs() -> None:
    events = Counter[type[Event]]()
    errors = Counter[str | None]()
    for protocol in GROUPS:
        for seed in range(20):
            for event in simulate(seed, SimulationOptions(protocol=protocol)):
                events[type(event)] += 1
                if isinstance(event, RequestAnswered):
                    errors[event.error] += 1

    wanted = {
        GenerationStarted, MemberCrashed, MemberPaused, MembershipLost, PartitionsLost, PartitionsRevoked,
        AssignmentCompleted, OffsetCommitted, ConnectorStarted, TaskStarted, TaskStopped,
    }  # fmt: skip
    assert wanted - events.keys() == set()
    assert {
        None, "NONE", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "MEMBER_ID_REQUIRED",
    } - errors.keys() == set()  # fmt: skip


def test_without_faults_and_churn_a_group_needs_few_generations() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, steps=0, faults=())

    for seed in range(20):
        history = simulate(seed, options)
        assert ended(history).pending == ()
        assert sum(isinstance(event, GenerationStarted) for event in history) <= options.members


def test_a_member_paused_for_longer_than_its_session_is_removed_and_comes_back() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, faults=(FaultKind.PAUSE,), members=2)
    subject = SimulatorSubject(options)
    schedule = churn_schedule(0, replace(options, steps=0))
    wait, long = Action(ActionKind.ADVANCE_CLOCK, 0, 30_000), Action(ActionKind.ADVANCE_CLOCK, 0, 60_000)
    pause, resume = Action(ActionKind.PAUSE_MEMBER, 1), Action(ActionKind.RESUME_MEMBER, 1)
    actions = (*schedule.actions[:-1], wait, pause, long, resume, Action(ActionKind.HEAL))

    history = list(run(subject, replace(schedule, actions=actions)))

    lost = [event for event in history if isinstance(event, MembershipLost | PartitionsLost)]
    assert {event.member for event in lost} == {"m1"}
    assert ended(history).pending == ()


def test_an_action_before_open_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="open the simulator first"):
        SimulatorSubject(SimulationOptions()).perform(Action(ActionKind.START_MEMBER, 0))


def test_an_unknown_mutant_is_refused__by_name() -> None:
    with pytest.raises(RebalanceCheckError, match="no mutant is called 'nonsense'"):
        simulate(0, SimulationOptions(protocol=SimulatedProtocol.EAGER, mutant="nonsense"))
