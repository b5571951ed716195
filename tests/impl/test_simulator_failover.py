"""Coordinators that go away, refuse and are not found, and consumers that change their minds: all settle in the end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.impl.protocol.messages import SyncGroupRequest
from rebalance_check.impl.runtime.faults import FaultPlan, draw_plan
from rebalance_check.impl.runtime.options import ALL_FAULTS, FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import SimulatorSubject, simulate
from rebalance_check.impl.simulator.consumers import SUBSCRIBE_MORE, UNSUBSCRIBE
from rebalance_check.impl.simulator.environment import CRASH, CRASH_AND_LOAD, RESIGN, RESIGN_LATE, Environment
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    IncarnationStarted,
    MembershipLost,
    PartitionsAssigned,
    RequestAnswered,
    RunEnded,
)

UNCOMMON = (
    FaultKind.REFUSAL, FaultKind.LOOK_UP, FaultKind.WAKE_UP, FaultKind.SUBSCRIPTION, FaultKind.METADATA,
    FaultKind.PATTERN,
)  # fmt: skip
START = [
    Action(ActionKind.START_MEMBER, 0),
    Action(ActionKind.START_MEMBER, 1),
    Action(ActionKind.ADVANCE_CLOCK, 0, 20_000),
]
END = [Action(ActionKind.ADVANCE_CLOCK, 0, 5_000), Action(ActionKind.HEAL)]


def lived(
    *between: Action, protocol: SimulatedProtocol = SimulatedProtocol.EAGER, faults: tuple[FaultKind, ...] = ()
) -> list[object]:
    """What two members and their coordinator tell when this happens to a settled group; ``faults`` are all on."""
    options = SimulationOptions(protocol=protocol, faults=faults)
    seed = next(seed for seed in range(7, 1_000) if draw_plan(seed, options).kinds == faults)
    subject = SimulatorSubject(options)
    told: list[object] = [*subject.open(Bounds(members=2, partitions=2, generations=20), seed)]
    for action in (*START, *between, *END):
        told += subject.perform(action)
    return [*told, *subject.close()]


@pytest.mark.parametrize("choice", [CRASH, CRASH_AND_LOAD, RESIGN])
def test_a_group_survives_its_coordinator__in_another_incarnation(choice: int) -> None:
    told = lived(Action(ActionKind.FAIL_OVER, 0, choice))
    assert [event.incarnation for event in told if isinstance(event, IncarnationStarted)] == [0, 1]
    assert told[-1].pending == () if isinstance(told[-1], RunEnded) else False
    assert not [event for event in told if isinstance(event, MembershipLost)]


@pytest.mark.parametrize("named", [False, True])
def test_a_coordinator_that_loads_sends_a_sync_back_to_joining__unless_it_is_to_answer_as_kafkas_does(
    named: bool,
) -> None:
    plan = FaultPlan(kinds=(FaultKind.LOADING_SYNC,) if named else ())
    environment = Environment(1, plan, lambda _event: None)
    environment.fail_over(CRASH_AND_LOAD)
    sync = SyncGroupRequest(
        group_id="g", member_id="m", generation_id=1, protocol_type="consumer", protocol_name="range"
    )
    ((_, reply),) = environment.coordinator.handle(1, sync, 0)
    assert reply.error is (Error.COORDINATOR_LOAD_IN_PROGRESS if named else Error.REBALANCE_IN_PROGRESS)


def test_what_kafkas_java_coordinator_says_ends_a_member_that_does_as_kafkas_java_client_does() -> None:
    faults = (FaultKind.PAUSE, FaultKind.FAILOVER, FaultKind.SUBSCRIPTION)
    ends = [
        simulate(65, SimulationOptions(protocol=SimulatedProtocol.EAGER, partitions=1, faults=kinds))[-1]
        for kinds in (faults, (*faults, FaultKind.LOADING_SYNC))
    ]
    spared, ended = [end.pending for end in ends if isinstance(end, RunEnded)]
    assert spared == ()
    assert "SyncGroup failed with COORDINATOR_LOAD_IN_PROGRESS" in ended[0]


def test_what_kafkas_own_client_does_not_survive_is_drawn_only_where_it_is_named() -> None:
    assert set(FaultKind) - set(ALL_FAULTS) == {FaultKind.LOADING_SYNC, FaultKind.UNNOTICED_GROWTH}


def test_a_topic_that_grows_while_the_static_leader_is_away_is_shared_out_when_somebody_enforces_it() -> None:
    faults = (FaultKind.PAUSE, FaultKind.METADATA, FaultKind.COORDINATOR_PAUSE)
    options = SimulationOptions(
        protocol=SimulatedProtocol.EAGER, partitions=3, omit=tuple(set(range(28)) - {0, 1, 3, 7, 12, 15, 20})
    )
    ends = [
        simulate(523, replace(options, faults=kinds))[-1] for kinds in (faults, (*faults, FaultKind.UNNOTICED_GROWTH))
    ]
    enforced, left_alone = [end.pending for end in ends if isinstance(end, RunEnded)]
    assert enforced == ()
    assert left_alone == ("t-3 has no owner", "t-4 has no owner")


def test_a_late_resignation_changes_nothing() -> None:
    told = lived(Action(ActionKind.FAIL_OVER, 0, RESIGN_LATE))
    refused = {event.error for event in told if isinstance(event, RequestAnswered)} - {
        "NONE",
        "MEMBER_ID_REQUIRED",
        "REBALANCE_IN_PROGRESS",
    }
    assert refused == set()


def test_a_topic_that_grows_is_shared_out() -> None:
    told = lived(Action(ActionKind.CHANGE_CONFIG, 0, 4))
    assigned = {name for event in told if isinstance(event, PartitionsAssigned) for name in event.partitions}
    assert assigned == {"t-0", "t-1", "t-2", "t-3"}


def test_a_second_topic_is_owned_while_it_is_wanted() -> None:
    told = lived(Action(ActionKind.CHANGE_SUBSCRIPTION, 1, SUBSCRIBE_MORE), Action(ActionKind.ADVANCE_CLOCK, 0, 20_000))
    assigned = [name for event in told if isinstance(event, PartitionsAssigned) for name in event.partitions]
    assert "u-0" in assigned
    assert isinstance(told[-1], RunEnded)
    assert told[-1].pending == ()


@pytest.mark.parametrize("protocol", [SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE])
def test_topics_that_match_a_pattern_are_owned_while_they_exist(protocol: SimulatedProtocol) -> None:
    grow, shrink = Action(ActionKind.CHANGE_TOPICS, 0, 2), Action(ActionKind.CHANGE_TOPICS, 0, 1)
    later = Action(ActionKind.ADVANCE_CLOCK, 0, 20_000)
    told = lived(grow, later, shrink, later, protocol=protocol, faults=(FaultKind.PATTERN,))
    completed = [event for event in told if isinstance(event, AssignmentCompleted)]
    assert {name for event in completed for name in event.owned} == {"t-0", "t-1", "t1-0", "t2-0"}
    last = {event.member: event.owned for event in completed}
    assert sorted(name for owned in last.values() for name in owned) == ["t-0", "t-1", "t1-0"]
    assert isinstance(told[-1], RunEnded)
    assert told[-1].pending == ()


def test_who_unsubscribes_leaves__and_comes_back_when_it_subscribes_again() -> None:
    told = lived(Action(ActionKind.CHANGE_SUBSCRIPTION, 1, UNSUBSCRIBE))
    (lost,) = [event for event in told if isinstance(event, MembershipLost)]
    assert "unsubscribed" in lost.reason
    assert isinstance(told[-1], RunEnded)
    assert told[-1].pending == ()


@pytest.mark.parametrize("protocol", [SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE])
def test_healthy_groups_settle_after_uncommon_faults(protocol: SimulatedProtocol) -> None:
    for seed in range(30):
        *_, end = simulate(seed, SimulationOptions(protocol=protocol, faults=UNCOMMON))
        assert isinstance(end, RunEnded)
        assert end.pending == (), seed
