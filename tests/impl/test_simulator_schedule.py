"""Churn schedules: one seed gives one, every action applies, faults and omitted actions are left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.faults import draw_plan
from rebalance_check.impl.runtime.options import (
    ALL_FAULTS,
    COMMON_FAULTS,
    FaultKind,
    SimulatedProtocol,
    SimulationOptions,
)
from rebalance_check.impl.simulator.member_state import CHURN_STEPS, MemberState, applicable
from rebalance_check.impl.simulator.schedule import churn_schedule, drawn_protocol
from rebalance_check.model.vocabulary.actions import (
    CHURN,
    CONFIG_CHURN,
    CONNECT_CHURN,
    COORDINATOR_FAULTS,
    STATUS_CHURN,
    UNUSUAL_CHURN,
    Action,
    ActionKind,
)
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.schedule import Schedule

SEEDS = range(200)


STORES = {RebalanceProtocol.STATUS: STATUS_CHURN, RebalanceProtocol.CONNECT_CONFIG: CONFIG_CHURN}
GROUP_CHURN = CHURN | CONNECT_CHURN | UNUSUAL_CHURN | COORDINATOR_FAULTS


def is_of_stores(schedule: Schedule) -> bool:
    return schedule.bounds.protocol in STORES


def condition_after(schedule: Schedule) -> dict[int, MemberState]:
    """Every action checked against the state its member is in; the states at the end."""
    at_first = MemberState.RUNNING if is_of_stores(schedule) else MemberState.DOWN
    members: dict[int, MemberState] = {}
    for action in schedule.actions:
        if action.kind in CHURN_STEPS:
            before, after = CHURN_STEPS[action.kind]
            assert members.get(action.member, at_first) is before, action
            members[action.member] = after
    return members


def test_one_seed_gives_one_schedule__and_another_seed_another() -> None:
    options = SimulationOptions()
    schedules = [churn_schedule(seed, options) for seed in SEEDS]

    assert schedules == [churn_schedule(seed, options) for seed in SEEDS]
    assert len({schedule.actions for schedule in schedules}) == len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_every_action_applies__and_somebody_is_left_to_heal(seed: int) -> None:
    schedule = churn_schedule(seed, SimulationOptions(steps=30))

    members = condition_after(schedule)

    assert is_of_stores(schedule) or any(state is not MemberState.DOWN for state in members.values())
    assert {action.kind for action in schedule.actions} <= STORES.get(schedule.bounds.protocol, GROUP_CHURN)
    assert [action.kind for action in schedule.actions].index(ActionKind.HEAL) == len(schedule.actions) - 1


def test_all_kinds_of_churn_occur() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT)

    kinds = Counter(action.kind for seed in SEEDS for action in churn_schedule(seed, options).actions)

    of_consumers = {ActionKind.CHANGE_SUBSCRIPTION, ActionKind.CHANGE_TOPICS}
    of_upgrades = {ActionKind.AWAIT_GROUP}  # see test_upgrade_fuzz
    assert kinds.keys() == GROUP_CHURN - of_consumers - of_upgrades


def test_all_kinds_of_churn_of_status_stores_occur__and_each_applies() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.STATUS, steps=10)
    schedules = [churn_schedule(seed, options) for seed in range(30)]

    for schedule in schedules:
        condition_after(schedule)
        assert tuple(applicable(schedule.actions, MemberState.RUNNING)) == schedule.actions
    assert {action.kind for schedule in schedules for action in schedule.actions} == STATUS_CHURN


def test_unusual_churn_occurs_on_request() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=ALL_FAULTS)

    kinds = {action.kind for seed in SEEDS for action in churn_schedule(seed, options).actions}

    assert kinds >= UNUSUAL_CHURN


@pytest.mark.parametrize(
    ("kind", "fault"),
    [(ActionKind.CRASH_MEMBER, FaultKind.CRASH), (ActionKind.PAUSE_MEMBER, FaultKind.PAUSE)],
)
def test_a_fault_that_is_switched_off_does_not_occur(kind: ActionKind, fault: FaultKind) -> None:
    options = SimulationOptions(steps=30)

    occurs = {seed: any(a.kind is kind for a in churn_schedule(seed, options).actions) for seed in SEEDS}

    assert any(occurs.values())
    assert all(draw_plan(seed, options).has(fault) for seed, seen in occurs.items() if seen)
    rest = tuple(other for other in COMMON_FAULTS if other is not fault)
    assert not any(
        a.kind is kind for seed in SEEDS for a in churn_schedule(seed, replace(options, faults=rest)).actions
    )


def test_omitting_an_action_leaves_out_what_depends_on_it__and_nothing_else_changes() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, steps=30)
    seed = next(s for s in SEEDS if FaultKind.PAUSE in draw_plan(s, options).kinds)
    whole = churn_schedule(seed, options).actions
    pause = next(index for index, action in enumerate(whole) if action.kind is ActionKind.PAUSE_MEMBER)

    shorter = churn_schedule(seed, replace(options, omit=(pause,)))

    condition_after(shorter)
    assert shorter.actions[:pause] == whole[:pause]
    assert len(shorter.actions) < len(whole)


def test_omitting_everything_leaves_one_member_and_the_heal() -> None:
    schedule = churn_schedule(3, SimulationOptions(protocol=SimulatedProtocol.EAGER, omit=tuple(range(1_000))))

    assert schedule.actions == (Action(ActionKind.START_MEMBER, 0), Action(ActionKind.HEAL))


def test_mixed_draws_each_of_the_others__and_a_named_one_is_kept() -> None:
    drawn = Counter(drawn_protocol(seed, SimulationOptions()) for seed in SEEDS)

    assert set(drawn) == set(SimulatedProtocol) - {SimulatedProtocol.MIXED}
    named = SimulationOptions(protocol=SimulatedProtocol.CONNECT)
    assert {drawn_protocol(seed, named) for seed in SEEDS} == {SimulatedProtocol.CONNECT}
