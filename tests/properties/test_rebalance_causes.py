"""Events that excuse the coordinator for a rebalance, and events that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome, Violated

History = Callable[..., list[Event]]
CLAIM: Final = "rebalance_has_a_cause"


def added(member: str, instance: str = "") -> MemberAdded:
    return MemberAdded(incarnation=0, generation=0, member_id=member, instance_id=instance)


def removed(member: str, reason: str = "left") -> MemberRemoved:
    return MemberRemoved(incarnation=0, generation=1, member_id=member, reason=reason)


def parked(member: str, metadata: str = "x", api: str = "JoinGroup", at_ms: int = 0) -> RequestParked:
    return RequestParked(
        incarnation=0, generation=0, api=api, request=1, member_id=member, metadata=metadata, time_ms=at_ms,
        rebalance_timeout_ms=1_000, protocols=("range",),
    )  # fmt: skip


def started(*members: str, at_ms: int = 0) -> GenerationStarted:
    return GenerationStarted(incarnation=0, generation=1, members=members, leader=members[0], time_ms=at_ms)


def moved(from_: str, to: str = "PreparingRebalance", at_ms: int = 0) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=1, from_status=from_, to_status=to, time_ms=at_ms)


def synced(error: str) -> SyncGroupReplied:
    return SyncGroupReplied(incarnation=0, generation=1, request=2, error=error, member_id="a")


STABLE: Final = moved("CompletingRebalance", "Stable")
SETTLED: Final = (
    added("a"), parked("a"), added("b"), parked("b"), moved("Empty"), started("a", "b"),
    moved("PreparingRebalance", "CompletingRebalance"), STABLE,
)  # fmt: skip
HANDED_OUT: Final = JoinGroupReplied(
    incarnation=0, generation=1, request=3, error="MEMBER_ID_REQUIRED", assigned_member_id="c"
)
LEFT: Final = LeaveGroupReplied(incarnation=0, generation=1, request=4, error="NONE", member_id="c")
STATIC: Final = (
    added("a", "i"), parked("a"), added("b"), parked("b"), moved("Empty"), started("a", "b"),
    moved("PreparingRebalance", "CompletingRebalance"),
)  # fmt: skip
BACK: Final = (removed("a", "replaced"), added("c", "i"))

HELD: Final[dict[str, tuple[Event, ...]]] = {
    "a member that was not there before": (*SETTLED, added("c"), parked("c"), moved("Stable")),
    "a member that left": (*SETTLED, removed("b"), moved("Stable")),
    "a session that ended": (*SETTLED, removed("b", "session expired"), moved("Stable")),
    "other metadata": (*SETTLED, parked("b", "y"), moved("Stable")),
    "the leader": (*SETTLED, parked("a"), moved("Stable")),
    "metadata that nobody recorded": (*SETTLED, parked("b", ""), moved("Stable")),
    "an assignment that was not written": (*SETTLED[:-1], synced("NOT_COORDINATOR"), moved("CompletingRebalance")),
    "a handed-out id that left": (*SETTLED, HANDED_OUT, moved("Stable"), LEFT, parked("a")),
    "a handed-out id that left, whose LeaveGroup waits": (
        *SETTLED, HANDED_OUT, moved("Stable"), parked("", api="LeaveGroup"), parked("b"), moved("Stable", "Empty")
    ),
    "a group that was loaded too large": (
        IncarnationStarted(incarnation=0, generation=1, status="Stable", members=("a", "b"), leader="a", max_size=1),
        parked("a"), moved("Stable"),
    ),
    "a static restart before the group is Stable": (*STATIC, *BACK, parked("c"), moved("CompletingRebalance")),
    "the debt of a replaced member": (*STATIC, *BACK, STABLE, parked("c"), moved("Stable")),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "nothing": (*SETTLED, moved("Stable")),
    "a follower with what it had": (*SETTLED, parked("b"), moved("Stable")),
    "a leader that repeats itself before the group is Stable": (
        *SETTLED[:-1], parked("a"), moved("CompletingRebalance")
    ),
    "a refused SyncGroup": (*SETTLED[:-1], synced("ILLEGAL_GENERATION"), moved("CompletingRebalance")),
    "a cause that another rebalance used up": (*SETTLED, removed("b"), moved("Stable"), started("a"), moved("Stable")),
    "a static restart in a Stable group": (
        *STATIC, STABLE, RequestParked(incarnation=0, generation=1, api="SyncGroup", request=7, member_id="a"),
        *BACK, parked("c"), moved("Stable"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_a_rebalance_with_a_cause_is_excused(history: History, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([CLAIM])).verdict(CLAIM).outcome is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_a_rebalance_without_a_cause_is_none(history: History, events: tuple[Event, ...]) -> None:
    verdict = judge(history(*events), select([CLAIM])).verdict(CLAIM)
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.events[-1].__class__ is GroupStatusChanged


def test_a_coordinator_whose_requests_are_not_recorded_is_not_judged(history: History) -> None:
    events = [event for event in (*SETTLED, moved("Stable")) if not isinstance(event, RequestParked)]
    assert judge(history(*events), select([CLAIM])).verdict(CLAIM).outcome is Outcome.UNTESTED
