"""When a member sends what: histories that hold, and some that do not. Times are in ms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    CallbackEnded,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
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
INTERVAL, SILENT = "heartbeats_keep_the_interval", "silent_coordinator_is_given_up"
ABSENT, AGAIN, BACKOFF = "absent_application_leaves", "refused_join_joins_again", "retries_wait_for_the_backoff"


def sent(api: str, at_ms: int) -> RequestSent:
    return RequestSent(member="m0", api=api, request=at_ms, generation=1, time_ms=at_ms)


def answered(api: str, error: str | None, at_ms: int) -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=at_ms, error=error, time_ms=at_ms)


def found(at_ms: int = 0) -> CoordinatorFound:
    return CoordinatorFound(member="m0", node=1, time_ms=at_ms)


def lost(at_ms: int) -> CoordinatorLost:
    return CoordinatorLost(member="m0", time_ms=at_ms)


def joined(at_ms: int = 0) -> MemberJoined:
    return MemberJoined(member="m0", generation=1, member_id="a", time_ms=at_ms)


def busy(at_ms: int, busy_ms: int = 40_000) -> ApplicationBusy:
    return ApplicationBusy(member="m0", polled_ms=at_ms, busy_ms=busy_ms, time_ms=at_ms)


def prepared(outcome: str, at_ms: int) -> CallbackEnded:
    return CallbackEnded(member="m0", callback="onJoinPrepare", outcome=outcome, time_ms=at_ms)


def paused(at_ms: int) -> MemberPaused:
    return MemberPaused(member="m0", time_ms=at_ms)


def resumed(at_ms: int) -> MemberResumed:
    return MemberResumed(member="m0", time_ms=at_ms)


def closing(at_ms: int) -> MemberClosing:
    return MemberClosing(member="m0", time_ms=at_ms)


def left_by_timeout(at_ms: int) -> MembershipLost:
    return MembershipLost(member="m0", generation=1, member_id="a", reason="poll timeout expired", time_ms=at_ms)


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
    "on time": (INTERVAL, (*MEMBER, BEAT, sent("Heartbeat", 6_000))),
    "sooner after a failure": (
        INTERVAL, (*MEMBER, BEAT, answered("Heartbeat", None, 3_500), sent("Heartbeat", 3_600))
    ),
    "later after the second failure": (
        INTERVAL, (*MEMBER, BEAT, answered("Heartbeat", None, 3_500), sent("Heartbeat", 3_600),
                   answered("Heartbeat", None, 3_700), sent("Heartbeat", 3_930))
    ),
    "late after a pause": (INTERVAL, (*MEMBER, paused(1), resumed(9_000), sent("Heartbeat", 9_001))),
    "late without a coordinator": (INTERVAL, (*MEMBER, lost(1), found(9_000), sent("Heartbeat", 9_001))),
    "none while it joins": (INTERVAL, (*MEMBER, sent("JoinGroup", 2_000), sent("OffsetCommit", 9_000))),
    "none after a loss": (INTERVAL, (*MEMBER, left_by_timeout(2_000), sent("JoinGroup", 9_000))),
    "none while it closes": (INTERVAL, (*MEMBER, closing(2_000), sent("LeaveGroup", 9_000))),
    "answered": (SILENT, (*MEMBER, answered("Heartbeat", "NONE", 6_000), sent("Heartbeat", 12_000))),
    "answered that it rebalances": (
        SILENT, (*MEMBER, answered("Heartbeat", "REBALANCE_IN_PROGRESS", 6_000), sent("Heartbeat", 12_000))
    ),
    "given up": (SILENT, (*MEMBER, lost(10_000), found(10_500), sent("Heartbeat", 12_000))),
    "it left in time": (ABSENT, (*MEMBER, busy(0), left_by_timeout(15_000), sent("Heartbeat", 18_000))),
    "it polled before the heartbeat": (ABSENT, (*MEMBER, busy(0, 16_000), sent("Heartbeat", 18_000))),
    "it was paused meanwhile": (ABSENT, (*MEMBER, busy(0), paused(1), resumed(17_000), sent("Heartbeat", 17_001))),
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
    "after the back-off": (BACKOFF, (*BEGAN, answered("JoinGroup", "NOT_COORDINATOR", 0), sent("JoinGroup", 100))),
    "at once where that is asked for": (
        BACKOFF, (*BEGAN, answered("JoinGroup", None, 0), sent("JoinGroup", 100),
                  answered("JoinGroup", "MEMBER_ID_REQUIRED", 101), sent("JoinGroup", 101))
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "sooner": (INTERVAL, (*MEMBER, BEAT, sent("Heartbeat", 5_000))),
    "sooner than a back-off": (
        INTERVAL, (*MEMBER, BEAT, answered("Heartbeat", None, 3_500), sent("Heartbeat", 3_550))
    ),
    "later": (INTERVAL, (*MEMBER, BEAT, sent("Heartbeat", 6_100))),
    "later than the first back-off": (
        INTERVAL, (*MEMBER, BEAT, answered("Heartbeat", None, 3_500), sent("Heartbeat", 3_630))
    ),
    "later than the longest back-off": (
        INTERVAL, (*MEMBER, BEAT, answered("Heartbeat", None, 3_500), sent("Heartbeat", 4_600))
    ),
    "later than the end of a pause": (INTERVAL, (*MEMBER, paused(1), resumed(9_000), sent("Heartbeat", 9_100))),
    "kept": (SILENT, (*MEMBER, answered("Heartbeat", "NONE", 1_000), sent("Heartbeat", 11_100))),
    "kept after an error": (SILENT, (*MEMBER, answered("Heartbeat", None, 6_000), sent("Heartbeat", 11_000))),
    "it stayed": (ABSENT, (*MEMBER, busy(0), answered("Heartbeat", "NONE", 16_000))),
    "after a pause": (AGAIN, (*BEGAN, answered("JoinGroup", "UNKNOWN_MEMBER_ID", 0), sent("JoinGroup", 100))),
    "not prepared for so long": (
        AGAIN, (*BEGAN, answered("JoinGroup", "UNKNOWN_MEMBER_ID", 0), prepared("finished", 100),
                sent("JoinGroup", 100))
    ),
    "before the back-off": (BACKOFF, (*BEGAN, answered("SyncGroup", "NOT_COORDINATOR", 0), sent("JoinGroup", 99))),
}  # fmt: skip


@pytest.mark.parametrize("case", HELD)
def test_what_comes_when_it_is_due__is_none_to_complain_of(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_what_comes_too_soon_or_too_late__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED


def test_a_history_without_virtual_time__says_nothing_about_times(history: History) -> None:
    started = RunStarted(subject="live")
    judged = judge(history(started, *MEMBER[1:], BEAT, sent("Heartbeat", 9_000)), select([INTERVAL]))
    assert judged.outcome is not Outcome.VIOLATED


def test_the_end_of_a_member__ends_what_is_due(history: History) -> None:
    left = MemberLeft(member="m0", time_ms=2_000)
    assert judge(history(*MEMBER, BEAT, left, sent("Heartbeat", 9_000)), select([SILENT])).outcome is Outcome.HELD
