"""Histories with static members: slots that change hands and silent members break no claim, and excuse nothing else."""

from itertools import islice
from random import Random

import pytest

from rebalance_check.model.checker.walks import Graph, tour
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    GenerationStarted,
    IncarnationStarted,
    MemberJoined,
    MemberRemoved,
    MemberStarted,
    PartitionsAssigned,
    RequestAnswered,
)
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.generation import OneLeader
from rebalance_check.properties.laws.ownership import NoDoubleOwnership
from rebalance_check.properties.verdict import Outcome
from tests.model.model_run import ModelRun


def by_clients_alone(history: list[Event]) -> list[Event]:
    """The events that are left where the coordinator records only its replies."""
    return [event for event in history if event.source != "coordinator" or isinstance(event, RequestAnswered)]


@pytest.mark.parametrize(
    "address",
    [
        "eager?members=2&partitions=1&generations=2&leaves=1&expiries=1&initial_delay=off&timeouts&static_members=2&shared_instances=1",
        "cooperative?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off&timeouts&static_members=1",
    ],
)
def test_no_claim_is_violated__on_a_tour_of_restarts_shared_instances_and_silence__holds(address: str) -> None:
    for schedule in islice(tour(Graph(machine_for(Bounds.from_address(address)), shuffle=Random(1)), steps=60), 120):
        run = ModelRun(schedule.bounds)
        history = [*run.begin(), *(event for action in schedule.actions for event in run.step(action))]
        assert judge(history, CATALOGUE).counterexamples == ()
        assert judge(by_clients_alone(history), CATALOGUE).counterexamples == ()


def outcome(invariant: Invariant, history: list[Event]) -> Outcome:
    return judge(history, [invariant]).outcome


def silent_through_a_generation(instance: str, *rest: Event) -> list[Event]:
    """m0 gets t-0 in generation 1, m1 gets it in 2 without m0, and both are in 3 while both still hold it."""
    return [
        MemberStarted(member="m0", group_instance_id=instance),
        MemberStarted(member="m1"),
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",)),
        PartitionsAssigned(member="m1", generation=2, partitions=("t-0",)),
        MemberJoined(member="m1", generation=3),
        MemberJoined(member="m0", generation=3),
        *rest,
    ]


def test_no_double_ownership__a_silent_static_member_comes_back__holds() -> None:
    assert outcome(NoDoubleOwnership, silent_through_a_generation("i0")) is Outcome.HELD


def test_no_double_ownership__a_dynamic_member_skips_a_generation__is_violated() -> None:
    assert outcome(NoDoubleOwnership, silent_through_a_generation("")) is Outcome.VIOLATED


def test_no_double_ownership__a_silent_static_member_is_assigned_what_another_has__is_violated() -> None:
    regained = AssignmentCompleted(member="m0", generation=3, owned=("t-0",))
    assert outcome(NoDoubleOwnership, silent_through_a_generation("i0", regained)) is Outcome.VIOLATED


def two_with_one_instance_id(*, other: str = "i0") -> list[Event]:
    """m0 leads generation 1 with t-0, and m1 under the same instance id does, before m0 is fenced."""
    return [
        MemberStarted(member="m0", group_instance_id="i0"),
        MemberStarted(member="m1", group_instance_id=other),
        MemberJoined(member="m0", generation=1, member_id="i0-1", leader=True),
        PartitionsAssigned(member="m0", generation=1, member_id="i0-1", partitions=("t-0",)),
        MemberJoined(member="m1", generation=1, member_id="i0-2", leader=True),
        PartitionsAssigned(member="m1", generation=1, member_id="i0-2", partitions=("t-0",)),
    ]


@pytest.mark.parametrize("invariant", [NoDoubleOwnership, OneLeader], ids=lambda each: each.name)
def test_a_process_goes_on_in_the_place_of_another__clients_alone__holds(invariant: Invariant) -> None:
    assert outcome(invariant, two_with_one_instance_id()) is Outcome.HELD
    assert outcome(invariant, two_with_one_instance_id(other="i1")) is Outcome.VIOLATED


@pytest.mark.parametrize("invariant", [NoDoubleOwnership, OneLeader], ids=lambda each: each.name)
def test_a_process_goes_on_in_the_place_of_another__the_coordinator_keeps_both__is_violated(
    invariant: Invariant,
) -> None:
    kept: list[Event] = [
        IncarnationStarted(incarnation=0, generation=0),
        GenerationStarted(incarnation=0, generation=1, members=("i0-1", "i0-2"), leader="i0-1"),
    ]
    assert outcome(invariant, kept + two_with_one_instance_id()) is Outcome.VIOLATED
    replaced = MemberRemoved(incarnation=0, generation=1, member_id="i0-1", reason="replaced")
    assert outcome(invariant, [*kept, replaced, *two_with_one_instance_id()]) is Outcome.HELD
