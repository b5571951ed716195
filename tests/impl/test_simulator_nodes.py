"""Faults of the nodes of a simulated cluster: killed, paused, moved, their log cut short; and who answers then."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import SimulatorSubject, simulate
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import (
    CoordinatorElected,
    Event,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LogTailLost,
    MemberJoined,
    NodeChanged,
    OffsetCommitReplied,
    RunEnded,
)
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

OF_NODES = (
    FaultKind.COORDINATOR_KILL,
    FaultKind.COORDINATOR_PAUSE,
    FaultKind.COORDINATOR_MOVE,
    FaultKind.LOG_TAIL,
)
KILL = Action(ActionKind.KILL_COORDINATOR)
PAUSE = Action(ActionKind.PAUSE_COORDINATOR)
RESUME = Action(ActionKind.RESUME_COORDINATOR)
ALL = 1_000
"""More records than any log here has."""
MOVE = Action(ActionKind.MOVE_COORDINATOR, 0, 1)


def wait(milliseconds: int) -> Action:
    return Action(ActionKind.ADVANCE_CLOCK, 0, milliseconds)


START = [Action(ActionKind.START_MEMBER, 0), Action(ActionKind.START_MEMBER, 1), wait(20_000)]
END = [wait(5_000), Action(ActionKind.HEAL)]


def lived(
    *between: Action, before: Sequence[Action] = START, protocol: SimulatedProtocol = SimulatedProtocol.EAGER
) -> list[Event]:
    """The events of two members and their cluster when this happens to them; all of it must be judged held."""
    subject = SimulatorSubject(SimulationOptions(protocol=protocol, faults=()))
    history = [*subject.open(Bounds(members=2, partitions=2, generations=20), 7)]
    for action in (*before, *between, *END):
        history += subject.perform(action)
    history += subject.close()
    end = history[-1]
    assert isinstance(end, RunEnded)
    assert end.pending == ()
    assert judge(history, CATALOGUE).outcome is Outcome.HELD
    return history


def incarnations(history: list[Event]) -> list[int]:
    return [event.incarnation for event in history if isinstance(event, IncarnationStarted)]


def changes(history: list[Event]) -> list[str]:
    return [event.change for event in history if isinstance(event, NodeChanged)]


def heartbeats_while_deposed(history: list[Event]) -> set[str]:
    """The replies of the first coordinator to heartbeats while it does not know that there is another one."""
    ends = [event for event in history if isinstance(event, IncarnationEnded) and event.incarnation == 0]
    assert [end.deposed for end in ends] == [True, False]
    meanwhile = history[history.index(ends[0]) : history.index(ends[1])]
    return {event.error for event in meanwhile if isinstance(event, HeartbeatReplied) and event.incarnation == 0}


def test_a_node_that_is_killed_is_succeeded__by_another_that_has_the_log() -> None:
    history = lived(KILL, wait(30_000))
    assert incarnations(history) == [0, 1]
    assert changes(history) == ["killed"]
    assert [event.node for event in history if isinstance(event, CoordinatorElected)] == [1]


def test_a_short_pause_deposes_nobody() -> None:
    history = lived(PAUSE, wait(2_000), RESUME)
    assert incarnations(history) == [0]
    assert changes(history) == ["paused", "resumed"]


def test_a_node_that_was_paused_for_long_answers_from_memory__until_it_learns_that_it_was_deposed() -> None:
    history = lived(PAUSE, wait(6_000), RESUME, protocol=SimulatedProtocol.CONNECT)
    assert "NONE" in heartbeats_while_deposed(history)
    assert incarnations(history) == [0, 1]


def test_what_comes_behind_a_write_of_a_deposed_node_waits__until_it_learns_of_it() -> None:
    history = lived(PAUSE, wait(6_000), RESUME)
    assert any(isinstance(event, OffsetCommitReplied) and event.error == "NOT_COORDINATOR" for event in history)
    assert heartbeats_while_deposed(history) == {"NOT_COORDINATOR"}


def test_who_waits_in_its_join_is_sent_away__when_the_group_moves_in_the_middle_of_a_rebalance() -> None:
    history = lived(Action(ActionKind.START_MEMBER, 1), wait(100), MOVE, before=[START[0], wait(20_000)])
    sent_away = [event for event in history if isinstance(event, JoinGroupReplied) and event.error == "NOT_COORDINATOR"]
    assert sent_away
    assert incarnations(history) == [0, 1]


def test_a_log_that_loses_its_end_takes_the_group_back__to_an_older_generation() -> None:
    history = lived(Action(ActionKind.KILL_COORDINATOR, 0, ALL), wait(30_000))
    (lost,) = [event for event in history if isinstance(event, LogTailLost)]
    reached = max(event.generation for event in history[: history.index(lost)] if isinstance(event, MemberJoined))
    loaded, *_ = [event for event in history[history.index(lost) :] if isinstance(event, IncarnationStarted)]
    assert loaded.generation < reached


@pytest.mark.parametrize(
    ("protocol", "seeds"),
    [
        (SimulatedProtocol.EAGER, range(8)),
        (SimulatedProtocol.COOPERATIVE, range(8)),
        (SimulatedProtocol.CONNECT, (0, 1, 11, 12, 14, 15)),
    ],
)
def test_a_seed_with_faults_of_nodes_tells_one_history__and_every_claim_holds(
    protocol: SimulatedProtocol, seeds: Sequence[int]
) -> None:
    options = SimulationOptions(protocol=protocol, faults=OF_NODES)
    changed: set[str] = set()
    for seed in seeds:
        history = simulate(seed, options)
        assert seed or history == simulate(seed, options)
        assert judge(history, CATALOGUE).outcome is Outcome.HELD, seed
        changed.update(changes(history))
    assert changed == {"killed", "paused", "resumed"}
