"""A user's own invariants over each engine: they break, they hold, and they name an exemption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDescribed,
    MemberCrashed,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    RequestAnswered,
    RequestSent,
    RunEnded,
    StepStarted,
)
from rebalance_check.properties.engines import (
    ALL,
    CHECKED,
    Due,
    Effect,
    Step,
    broken,
    broken_step,
    cause,
    completion,
    deadline,
    eventually,
    order,
    scenario,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import Held, Undecided, Untested, Verdict, Violated
from rebalance_check.properties.views.recent import WAITING

History = Callable[..., list[Event]]


def verdict(fold: Callable[[Invariant], Fold], events: list[Event]) -> Verdict:
    invariant = Invariant(name="my_own", family="test", claim="c", source="a user", fold=fold)
    return judge(events, invariant).verdict("my_own")


def joined(generation: int) -> MemberJoined:
    return MemberJoined(member="m0", generation=generation)


UPWARDS = order(
    {MemberJoined: lambda e: Step(e.member, e.generation, f"{e.member} joined {e.generation} at {{step}}", e)},
    wrong=lambda last, step: "" if step.value > last.value else f"{step.key} went down to {step.value}",
    resets={MemberCrashed: lambda e: e.member},
)


def test_order__a_step_down_breaks__and_a_reset_begins_anew(history: History) -> None:
    assert isinstance(verdict(UPWARDS, history(joined(2), joined(1))), Violated)
    assert verdict(UPWARDS, history(joined(1), joined(2))) == Held(1)
    assert isinstance(verdict(UPWARDS, history(joined(2), MemberCrashed(member="m0"), joined(1))), Untested)


def refused(error: str) -> RequestAnswered:
    return RequestAnswered(member="m0", api="Heartbeat", request=0, error=error)


def loss(event: MembershipLost) -> Effect:
    excused = "left by itself" if event.reason == "unsubscribed" else ""
    return Effect(event.member, f"{event.member} lost it", f"{event.member} lost it at {{step}}", event, excused)


LOSSES = cause(
    {MembershipLost: loss},
    {RequestAnswered: lambda e: e.member if e.error == "UNKNOWN_MEMBER_ID" else None},
    lacks="no reply ended it",
)


def test_cause__an_effect_uses_its_cause_up__and_an_exemption_is_counted(history: History) -> None:
    lost = MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")
    again = MembershipLost(member="m0", generation=2, reason="UNKNOWN_MEMBER_ID")
    freely = MembershipLost(member="m0", generation=3, reason="unsubscribed")
    cause_of_one = refused("UNKNOWN_MEMBER_ID")
    assert verdict(LOSSES, history(cause_of_one, lost)) == Held(1)
    assert isinstance(verdict(LOSSES, history(refused("NONE"), lost)), Violated)
    assert isinstance(verdict(LOSSES, history(cause_of_one, lost, again)), Violated)
    assert verdict(LOSSES, history(cause_of_one, lost, freely)) == Held(1, (("left by itself", 1),))


def test_cause__one_that_may_be_forgotten_is_no_contradiction(history: History) -> None:
    waiting = [replace(refused("UNKNOWN_MEMBER_ID"), member=f"m{number}") for number in range(WAITING + 1)]
    lost = MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")
    assert isinstance(verdict(LOSSES, history(*waiting, lost)), Untested)


@pytest.mark.parametrize(("source", "time_ms", "expected"), [("w", 7, Held), ("w", 8, Violated), ("m0", 7, Violated)])
def test_cause__of_another_source_in_the_same_millisecond__may_stand_behind_its_effect(
    history: History, source: str, time_ms: int, expected: type[Verdict]
) -> None:
    lost = MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")
    first = (replace(refused("UNKNOWN_MEMBER_ID"), source="w", time_ms=5), replace(lost, time_ms=6))
    swapped = (replace(lost, time_ms=7), replace(refused("UNKNOWN_MEMBER_ID"), source=source, time_ms=time_ms))
    assert isinstance(verdict(LOSSES, history(*first, *swapped)), expected)


def due(event: Event) -> Due:
    return Due("m0", event, 100, "m0 started at {step}", "m0 does not join")


def at(event: type[Event], time_ms: int, **fields: Any) -> Event:
    return event(time_ms=time_ms, **fields)


STARTED = at(MemberStarted, 1, member="m0")


@pytest.mark.parametrize(("time_ms", "expected"), [(101, Held), (102, Violated)])
def test_deadline__the_last_millisecond_is_in_time(history: History, time_ms: int, expected: type[Verdict]) -> None:
    joins = deadline({MemberStarted: due}, {MemberJoined: lambda e: e.member})
    found = verdict(joins, history(STARTED, at(MemberJoined, time_ms, member="m0", generation=1)))
    assert isinstance(found, expected)


@pytest.mark.parametrize(("pending", "expected"), [(None, Untested), (("m0",), Untested), ((), Violated)])
def test_completion__is_asked_at_rest_alone(
    history: History, pending: tuple[str, ...] | None, expected: type[Verdict]
) -> None:
    never = completion(lambda e: broken("it ended", ("it ended at {step}.", e)))
    given = PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
    found = verdict(never, history(given, RunEnded(pending=pending), ended=False))
    assert isinstance(found, expected)


JOINS = eventually(
    {MemberStarted: lambda e: Due(e.member, e, 0, f"{e.member} does not join", "")},
    {MemberJoined: lambda e: e.member},
    cancels={MemberCrashed: lambda _e: ALL},
    allowed_ms=lambda: 100,
)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([at(MemberJoined, 101, member="m0", generation=1)], Held),
        ([at(MemberJoined, 102, member="m0", generation=1)], Violated),
        ([at(MemberCrashed, 50, member="m0")], Untested),
        ([at(RequestSent, 50, member="m0", api="JoinGroup", request=0)], Undecided),
    ],
)  # fmt: skip
def test_eventually__by_one_clock__and_a_wait_that_is_open_is_undecided(
    history: History, others: list[Event], expected: type[Verdict]
) -> None:
    assert isinstance(verdict(JOINS, history(STARTED, *others)), expected)


def test_scenario__a_rule_sees_whole_steps(history: History) -> None:
    grows = scenario(
        lambda step: CHECKED if step.after.generation > step.before.generation else broken_step(step, "no")
    )
    steps = [StepStarted(step="join a"), GroupDescribed(status="Stable", generation=2), StepStarted(step="advance 1")]
    assert verdict(grows, history(GroupDescribed(status="Stable", generation=1), *steps[:2])) == Held(1)
    assert isinstance(verdict(grows, history(*steps, GroupDescribed(status="Stable", generation=2))), Violated)
    assert isinstance(verdict(grows, history(GroupDescribed(status="Stable", generation=1))), Untested)
