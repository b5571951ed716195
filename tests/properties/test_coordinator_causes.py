"""When the coordinator may begin a generation, and when it may take a member's silence for its end."""

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
    MemberAdded,
    MemberRemoved,
    RequestParked,
    RunStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
REMOVAL: Final = "member_removal_has_a_cause"
DELAY_MS, TIMEOUT_MS = 3_000, 15_000


def added(member: str) -> MemberAdded:
    return MemberAdded(incarnation=0, generation=0, member_id=member)


def parked(member: str, request: int = 1, api: str = "JoinGroup", timeout_ms: int = TIMEOUT_MS) -> RequestParked:
    return RequestParked(
        incarnation=0, generation=0, api=api, request=request, member_id=member, rebalance_timeout_ms=timeout_ms
    )


def replied(member: str, error: str = "NONE", request: int = 1) -> JoinGroupReplied:
    return JoinGroupReplied(
        incarnation=0, generation=1, request=request, error=error, member_id=member, assigned_member_id=member
    )


def removed(member: str, reason: str = "session expired") -> MemberRemoved:
    return MemberRemoved(incarnation=0, generation=1, member_id=member, reason=reason)


def preparing(from_: str = "Empty", at_ms: int = 0) -> GroupStatusChanged:
    return GroupStatusChanged(
        incarnation=0, generation=0, from_status=from_, to_status="PreparingRebalance", time_ms=at_ms
    )


def generation(*members: str, at_ms: int, number: int = 1) -> GenerationStarted:
    return GenerationStarted(incarnation=0, generation=number, members=members, leader=members[0], time_ms=at_ms)


RUN: Final = RunStarted(subject="simulator", punctual=True)
BEGUN: Final = IncarnationStarted(
    incarnation=0, generation=0, status="Empty", initial_rebalance_delay_ms=DELAY_MS
)  # fmt: skip
EMPTY: Final = (RUN, BEGUN, added("a"), parked("a"), preparing())
TWO: Final = (
    *EMPTY, added("b"), parked("b", 2), generation("a", "b", at_ms=DELAY_MS), replied("a"), replied("b", request=2)
)  # fmt: skip
AGAIN: Final = (*TWO, parked("a", 3), preparing("Stable", DELAY_MS))

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it waits for nothing": (REMOVAL, (*TWO, removed("a"))),
    "it left": (REMOVAL, (*AGAIN, removed("a", "left"), removed("b"))),
    "it is new": (REMOVAL, (*TWO, added("c"), parked("c", 5), removed("c"), removed("b"))),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it waits": (REMOVAL, (*AGAIN, removed("a"))),
    "it waits in SyncGroup": (REMOVAL, (*TWO, parked("a", 3, "SyncGroup"), removed("a"))),
    "it waited, and was answered that it is no member": (
        REMOVAL, (*AGAIN, replied("a", "UNKNOWN_MEMBER_ID", 3), removed("a"))
    ),
}  # fmt: skip


def outcome(history: History, claim: str, events: tuple[Event, ...]) -> Outcome:
    return judge(history(*events), select([claim])).verdict(claim).outcome


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_has_a_cause_is_excused(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert outcome(history, claim, events) is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_has_no_cause_is_not(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert outcome(history, claim, events) is Outcome.VIOLATED
