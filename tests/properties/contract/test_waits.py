"""What a member waits for before it asks again, goes on with a coordinator, or leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ON_LEAVE_PREPARE,
    CallbackStarted,
    CoordinatorLost,
    Event,
    LookUpAnswered,
    LookUpSent,
    MemberClosing,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
LEAVES_LAST: Final = "closing_ends_with_leaving"
LOOK_UP, MOVED, LAST = "look_ups_keep_the_backoff", "moved_coordinator_is_given_up", "last_commit_is_waited_for"


def failed(at_ms: int = 0, error: str | None = "COORDINATOR_NOT_AVAILABLE") -> LookUpAnswered:
    return LookUpAnswered(member="m0", request=0, error=error, time_ms=at_ms)


def look_up(at_ms: int) -> LookUpSent:
    return LookUpSent(member="m0", request=1, time_ms=at_ms)


def sent(api: str, request: int = 1) -> RequestSent:
    return RequestSent(member="m0", api=api, request=request, generation=1)


def answered(api: str, error: str | None = "NOT_COORDINATOR", request: int = 0) -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=request, error=error)


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(member="m0", retry_backoff_ms=100, retry_backoff_max_ms=1_000)
BEGAN: Final = (RUN, STARTED)
LOST, CRASHED = CoordinatorLost(member="m0"), MemberCrashed(member="m0")
CLOSING: Final = (RUN, MemberClosing(member="m0"))
LEAVES: Final = CallbackStarted(member="m0", generation=1, callback=ON_LEAVE_PREPARE)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "after the shortest back-off": (LOOK_UP, (*BEGAN, failed(), look_up(80))),
    "after the second one": (LOOK_UP, (*BEGAN, failed(), look_up(80), failed(81, None), look_up(241))),
    "after the longest one": (
        LOOK_UP, (*BEGAN, *(failed(at) for at in range(10)), look_up(809))
    ),
    "after one that succeeded": (
        LOOK_UP, (*BEGAN, failed(), look_up(80), failed(81, "NONE"), look_up(82), failed(83), look_up(163))
    ),
    "after the loss of its coordinator": (LOOK_UP, (*BEGAN, LOST, look_up(100))),
    "another process": (LOOK_UP, (*BEGAN, failed(), CRASHED, STARTED, look_up(1))),
    "a refusal is for the application": (
        LOOK_UP, (*BEGAN, failed(), look_up(80), failed(81, "GROUP_AUTHORIZATION_FAILED"), look_up(82))
    ),
    "it is given up": (MOVED, (RUN, answered("Heartbeat"), LOST, sent("JoinGroup"))),
    "it was asked to wait": (MOVED, (RUN, answered("Heartbeat"), LOST, answered("SyncGroup", None), sent("JoinGroup"))),
    "the process ends": (MOVED, (RUN, answered("SyncGroup"), CRASHED, STARTED, sent("JoinGroup"))),
    "it has left": (LEAVES_LAST, (*CLOSING, MemberLeft(member="m0"), STARTED)),
    "it died while it closed": (LEAVES_LAST, (*CLOSING, CRASHED, STARTED)),
    "it is answered": (LAST, (*CLOSING, sent("OffsetCommit"), answered("OffsetCommit", "NONE", 1), LEAVES)),
    "its answer is lost": (LAST, (*CLOSING, sent("OffsetCommit"), answered("OffsetCommit", None, 1), LEAVES)),
    "what it sent before is no last commit": (
        LAST, (RUN, sent("OffsetCommit", 0), MemberClosing(member="m0"), sent("OffsetCommit"),
               answered("OffsetCommit", "NONE", 1), LEAVES)
    ),
    "what is committed while it leaves": (
        LAST, (*CLOSING, sent("OffsetCommit"), answered("OffsetCommit", "NONE", 1), LEAVES, sent("OffsetCommit", 2),
               LEAVES)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "at once": (LOOK_UP, (*BEGAN, failed(), look_up(79))),
    "the second one is as short as the first": (
        LOOK_UP, (*BEGAN, failed(), look_up(80), failed(81, None), look_up(240))
    ),
    "at once after the loss of its coordinator": (LOOK_UP, (*BEGAN, LOST, look_up(99))),
    "a first one after a success": (
        LOOK_UP, (*BEGAN, failed(), failed(1), failed(2, "NONE"), failed(3), look_up(82))
    ),
    "it goes on with its heartbeats": (MOVED, (RUN, answered("Heartbeat"), sent("Heartbeat"))),
    "it joins there": (MOVED, (RUN, LOST, answered("OffsetCommit", "COORDINATOR_NOT_AVAILABLE"), sent("JoinGroup"))),
    "it ends and has not left": (LEAVES_LAST, (*CLOSING, STARTED)),
    "it leaves": (LAST, (*CLOSING, sent("OffsetCommit"), LEAVES)),
    "another commit is answered": (
        LAST, (*CLOSING, sent("OffsetCommit"), answered("OffsetCommit", "NONE", 0), LEAVES)
    ),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_is_waited_for_is_right(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_is_not_waited_for_is_seen(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_in_real_time_nothing_is_claimed(history: History, claim: str, events: tuple[Event, ...]) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
