"""Coordinators that go away, refuse and are not found, and consumers that change their minds: all settle in the end."""

from __future__ import annotations

import pytest

from rebalance_check.impl.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import SimulatorSubject, simulate
from rebalance_check.impl.simulator.consumers import SUBSCRIBE_MORE, UNSUBSCRIBE
from rebalance_check.impl.simulator.world import CRASH, CRASH_AND_LOAD, RESIGN, RESIGN_LATE
from rebalance_check.model.actions import Action, ActionKind
from rebalance_check.model.bounds import Bounds
from rebalance_check.model.events import (
    IncarnationStarted,
    MembershipLost,
    PartitionsAssigned,
    RequestAnswered,
    RunEnded,
)

UNCOMMON = (
    FaultKind.REFUSAL, FaultKind.LOOK_UP, FaultKind.WAKE_UP, FaultKind.SUBSCRIPTION, FaultKind.METADATA,
)  # fmt: skip
START = [
    Action(ActionKind.START_MEMBER, 0),
    Action(ActionKind.START_MEMBER, 1),
    Action(ActionKind.ADVANCE_CLOCK, 0, 20_000),
]
END = [Action(ActionKind.ADVANCE_CLOCK, 0, 5_000), Action(ActionKind.HEAL)]


def lived(*between: Action, protocol: SimulatedProtocol = SimulatedProtocol.EAGER) -> list[object]:
    """What two members and their coordinator tell when this happens to a settled group."""
    subject = SimulatorSubject(SimulationOptions(protocol=protocol, faults=()))
    told: list[object] = [*subject.open(Bounds(members=2, partitions=2, generations=20), 7)]
    for action in (*START, *between, *END):
        told += subject.perform(action)
    return [*told, *subject.close()]


@pytest.mark.parametrize("choice", [CRASH, CRASH_AND_LOAD, RESIGN])
def test_a_group_survives_its_coordinator__in_another_incarnation(choice: int) -> None:
    told = lived(Action(ActionKind.FAIL_OVER, 0, choice))
    assert [event.incarnation for event in told if isinstance(event, IncarnationStarted)] == [0, 1]
    assert told[-1].pending == () if isinstance(told[-1], RunEnded) else False
    assert not [event for event in told if isinstance(event, MembershipLost)]


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
