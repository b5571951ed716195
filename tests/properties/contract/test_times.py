"""When a member sends what: histories that hold, and some that do not. Times are in ms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    CallbackEnded,
    CoordinatorFound,
    Event,
    MemberJoined,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
AGAIN: Final = "refused_join_joins_again"


def sent(api: str, at_ms: int) -> RequestSent:
    return RequestSent(member="m0", api=api, request=at_ms, generation=1, time_ms=at_ms)


def answered(api: str, error: str | None, at_ms: int) -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=at_ms, error=error, time_ms=at_ms)


def found(at_ms: int = 0) -> CoordinatorFound:
    return CoordinatorFound(member="m0", node=1, time_ms=at_ms)


def joined(at_ms: int = 0) -> MemberJoined:
    return MemberJoined(member="m0", generation=1, member_id="a", time_ms=at_ms)


def busy(at_ms: int, busy_ms: int = 40_000) -> ApplicationBusy:
    return ApplicationBusy(member="m0", polled_ms=at_ms, busy_ms=busy_ms, time_ms=at_ms)


def prepared(outcome: str, at_ms: int) -> CallbackEnded:
    return CallbackEnded(member="m0", callback="onJoinPrepare", outcome=outcome, time_ms=at_ms)


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(
    member="m0",
    rebalance_timeout_ms=15_000,
    session_timeout_ms=10_000,
    heartbeat_interval_ms=3_000,
    retry_backoff_ms=100,
    retry_backoff_max_ms=1_000,
)
BEGAN: Final = (RUN, STARTED, found())
MEMBER: Final = (*BEGAN, joined())
BEAT: Final = sent("Heartbeat", 3_000)
OTHER_TOPICS: Final = SubscriptionChanged(member="m0", topics=(), time_ms=1)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it joins again": (AGAIN, (*BEGAN, answered("SyncGroup", "REBALANCE_IN_PROGRESS", 5), sent("JoinGroup", 6))),
    "it joins again when it polls": (
        AGAIN, (*MEMBER, busy(1, 4_000), answered("SyncGroup", "ILLEGAL_GENERATION", 5), BEAT, sent("JoinGroup", 4_001))
    ),
    "its application has other wishes": (
        AGAIN, (*BEGAN, answered("JoinGroup", "UNKNOWN_MEMBER_ID", 0), OTHER_TOPICS, sent("JoinGroup", 5_000))
    ),
    "it prepares for long": (
        AGAIN, (*BEGAN, answered("JoinGroup", "UNKNOWN_MEMBER_ID", 0), prepared("unfinished", 0), sent("Heartbeat", 90),
                prepared("finished", 500), sent("JoinGroup", 500))
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "after a pause": (AGAIN, (*BEGAN, answered("JoinGroup", "UNKNOWN_MEMBER_ID", 0), sent("JoinGroup", 100))),
    "not prepared for so long": (
        AGAIN, (*BEGAN, answered("JoinGroup", "UNKNOWN_MEMBER_ID", 0), prepared("finished", 100),
                sent("JoinGroup", 100))
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HELD)
def test_what_comes_when_it_is_due__is_none_to_complain_of(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_what_comes_too_soon_or_too_late__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED
