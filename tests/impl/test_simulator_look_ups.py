"""Simulated members find their coordinator by asking a node, and so notice when they lose it."""

from __future__ import annotations

import pytest

from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import SimulatorSubject, simulate
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import CoordinatorFound, Event, RunEnded
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

START = [Action(ActionKind.START_MEMBER, 0), Action(ActionKind.START_MEMBER, 1)]
HEAL = Action(ActionKind.HEAL)


def wait(milliseconds: int) -> Action:
    return Action(ActionKind.ADVANCE_CLOCK, 0, milliseconds)


def run(*actions: Action) -> list[Event]:
    subject = SimulatorSubject(SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=()))
    history = [*subject.open(Bounds(members=2, partitions=2, generations=20), 7)]
    for action in (*START, wait(20_000), *actions, HEAL):
        history += subject.perform(action)
    history += subject.close()
    assert isinstance(history[-1], RunEnded)
    assert history[-1].pending == ()
    assert judge(history, CATALOGUE).outcome is Outcome.HELD
    return history


def nodes(history: list[Event]) -> dict[str, list[int]]:
    found = [event for event in history if isinstance(event, CoordinatorFound)]
    return {member: [event.node for event in found if event.member == member] for member in ("m0", "m1")}


def test_each_member_finds_its_coordinator_once__where_nothing_happens() -> None:
    assert nodes(run()) == {"m0": [0], "m1": [0]}


def test_members_lose_a_coordinator_that_dies__and_find_its_successor() -> None:
    found = nodes(run(Action(ActionKind.KILL_COORDINATOR), wait(30_000)))
    assert {member: places[-1] for member, places in found.items()} == {"m0": 1, "m1": 1}
    # until another is elected the nodes still name the one that refuses connections
    assert all(set(places) == {0, 1} and len(places) > 2 for places in found.values())


def test_members_follow_a_group_that_moves() -> None:
    found = nodes(run(Action(ActionKind.MOVE_COORDINATOR, 0, 1), wait(30_000)))
    assert found == {"m0": [0, 1], "m1": [0, 1]}


@pytest.mark.parametrize("protocol", [SimulatedProtocol.COOPERATIVE, SimulatedProtocol.ELECTION])
def test_look_ups_that_fail_are_repeated__and_every_claim_holds(protocol: SimulatedProtocol) -> None:
    for seed in range(6):
        options = SimulationOptions(protocol=protocol, faults=(FaultKind.LOOK_UP, FaultKind.DROP))
        assert judge(simulate(seed, options), CATALOGUE).outcome is Outcome.HELD, seed
