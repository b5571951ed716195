"""What a member does in a poll as soon as it can, and what it may wait for. Times are in ms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    CallbackEnded,
    CallbackStarted,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    LookUpAnswered,
    LookUpSent,
    MemberClosing,
    MembershipLost,
    MemberStarted,
    RecordsDelivered,
    RequestAnswered,
    RequestSent,
    RunEnded,
    RunStarted,
    SubscriptionChanged,
    WorkerConfigured,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
ASKED, GOES_ON = "asked_member_joins_at_once", "accepted_member_goes_on_at_once"
REPEATS, LOOKS_UP = "failed_join_is_repeated_in_time", "coordinator_is_looked_up_in_time"
COMMITS = "periodic_commits_keep_the_interval"


def sent(api: str, at_ms: int, request: int = 1) -> RequestSent:
    return RequestSent(member="m0", api=api, request=request, generation=1, time_ms=at_ms)


def answered(api: str, at_ms: int, error: str | None = "NONE", request: int = 1) -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=request, error=error, time_ms=at_ms)


def begins(callback: str, at_ms: int = 0) -> CallbackStarted:
    return CallbackStarted(member="m0", generation=1, callback=callback, time_ms=at_ms)


def ends(callback: str, at_ms: int = 0, outcome: str = "finished") -> CallbackEnded:
    return CallbackEnded(member="m0", callback=callback, outcome=outcome, time_ms=at_ms)


def found(at_ms: int = 0) -> CoordinatorFound:
    return CoordinatorFound(member="m0", node=1, time_ms=at_ms)


def lost(at_ms: int = 0) -> CoordinatorLost:
    return CoordinatorLost(member="m0", time_ms=at_ms)


def fell_out(at_ms: int = 0) -> MembershipLost:
    return MembershipLost(member="m0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID", time_ms=at_ms)


def looked_up(at_ms: int, error: str | None = "COORDINATOR_NOT_AVAILABLE") -> LookUpAnswered:
    return LookUpAnswered(member="m0", request=1, error=error, time_ms=at_ms)


def looks_up(at_ms: int) -> LookUpSent:
    return LookUpSent(member="m0", request=1, time_ms=at_ms)


def busy(at_ms: int, busy_ms: int) -> ApplicationBusy:
    return ApplicationBusy(member="m0", polled_ms=at_ms, busy_ms=busy_ms, time_ms=at_ms)


def wants(at_ms: int) -> SubscriptionChanged:
    return SubscriptionChanged(member="m0", topics=("t",), time_ms=at_ms)


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(
    member="m0", retry_backoff_ms=100, retry_backoff_max_ms=1_000, poll_ms=10_000, auto_commit_interval_ms=5_000
)
POLLED_OFTEN: Final = replace(STARTED, poll_ms=0)
BEGAN: Final = (RUN, STARTED, found())
SETTLED: Final = (*BEGAN, begins("onJoinComplete"), ends("onJoinComplete"))
REFUSED: Final = answered("Heartbeat", 0, "REBALANCE_IN_PROGRESS")
COMMITS_FIRST: Final = (
    *SETTLED, REFUSED, begins("onJoinPrepare"), sent("OffsetCommit", 0, 7), ends("onJoinPrepare", 0, "unfinished")
)  # fmt: skip
JOINS: Final = sent("JoinGroup", 0)
SYNCS: Final = (*BEGAN, sent("SyncGroup", 0), answered("SyncGroup", 0))
LOADS: Final = answered("JoinGroup", 0, "COORDINATOR_LOAD_IN_PROGRESS")
READ: Final = RecordsDelivered(member="m0", partitions=("t-0",))
READ_LATER: Final = replace(READ, time_ms=2)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "asked to join": (ASKED, (*SETTLED, REFUSED, sent("JoinGroup", 2))),
    "out of its group": (ASKED, (*BEGAN, fell_out(), sent("JoinGroup", 2))),
    "asked while its application is away": (ASKED, (*SETTLED, busy(0, 900), REFUSED, sent("JoinGroup", 1_000))),
    "asked without a coordinator": (ASKED, (*SETTLED, REFUSED, lost(), found(500), sent("JoinGroup", 501))),
    "a commit comes first": (ASKED, (*COMMITS_FIRST, answered("OffsetCommit", 900, request=7), sent("JoinGroup", 901))),
    "a commit fails that comes first": (
        ASKED, (*COMMITS_FIRST, answered("OffsetCommit", 900, None, 7), ends("onJoinPrepare", 1_000),
                sent("JoinGroup", 1_001))
    ),
    "it wants other topics": (ASKED, (*BEGAN, fell_out(), wants(0), sent("JoinGroup", 900))),
    "its poll raised": (
        ASKED, (*SETTLED, ends("onJoinComplete", 0, "raised"), fell_out(), sent("JoinGroup", 100))
    ),
    "it leaves": (ASKED, (*BEGAN, fell_out(), sent("LeaveGroup", 1), sent("JoinGroup", 900))),
    "a request of a join is in flight": (
        ASKED, (*BEGAN, fell_out(), sent("JoinGroup", 1), fell_out(2), answered("JoinGroup", 900),
                sent("JoinGroup", 1_000))
    ),
    "accepted": (GOES_ON, (*BEGAN, JOINS, answered("JoinGroup", 9), sent("SyncGroup", 9))),
    "synced": (GOES_ON, (*SYNCS, begins("onJoinComplete", 1))),
    "accepted while away": (GOES_ON, (*SYNCS, busy(0, 900), begins("onJoinComplete", 901))),
    "accepted, and its coordinator is lost": (
        GOES_ON, (*BEGAN, JOINS, answered("JoinGroup", 0), lost(1), found(900), sent("Heartbeat", 2_000))
    ),
    "accepted, and out of its group": (GOES_ON, (*SYNCS, fell_out(), sent("Heartbeat", 2_000))),
    "accepted after it left": (
        GOES_ON, (*BEGAN, JOINS, begins("onLeavePrepare"), answered("JoinGroup", 5), sent("JoinGroup", 105),
                  answered("JoinGroup", 106), sent("SyncGroup", 106))
    ),
    "a leader whose assignor fails": (
        GOES_ON, (*BEGAN, JOINS, answered("JoinGroup", 0), ends("performAssignment", 0, "raised"),
                  sent("JoinGroup", 900))
    ),
    "repeated": (REPEATS, (*BEGAN, JOINS, LOADS, sent("JoinGroup", 100))),
    "repeated when it polls": (REPEATS, (*BEGAN, JOINS, busy(0, 900), LOADS, sent("JoinGroup", 1_000))),
    "repeated when its coordinator is known": (
        REPEATS, (*BEGAN, JOINS, answered("JoinGroup", 0, None), lost(), found(900), sent("JoinGroup", 901))
    ),
    "looked for": (LOOKS_UP, (RUN, STARTED, looks_up(0), looked_up(5), looks_up(125), looked_up(130, "NONE"))),
    "looked for after the second failure": (
        LOOKS_UP, (RUN, STARTED, looks_up(0), looked_up(5), looks_up(125), looked_up(130), looks_up(370))
    ),
    "looked for when it polls": (LOOKS_UP, (*BEGAN, busy(0, 900), lost(1), looks_up(1_000))),
    "not looked for by one that closes": (
        LOOKS_UP, (*BEGAN, lost(1), MemberClosing(member="m0", time_ms=2), RunEnded(time_ms=900))
    ),
    "committed": (COMMITS, (*SETTLED, READ, sent("OffsetCommit", 5_000), sent("OffsetCommit", 10_000))),
    "nothing committed by one that is asked to join": (
        COMMITS, (*SETTLED, READ, answered("Heartbeat", 3_000, "REBALANCE_IN_PROGRESS"), sent("Heartbeat", 6_000))
    ),
    "nothing committed by one that joins": (
        COMMITS, (*SETTLED, READ, sent("JoinGroup", 1), READ_LATER, sent("Heartbeat", 8_000))
    ),
    "nothing committed by one that prepares": (
        COMMITS, (*SETTLED, READ, begins("onJoinPrepare"), sent("Heartbeat", 6_000))
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "asked to join": (ASKED, (*SETTLED, REFUSED, sent("JoinGroup", 2_000))),
    "asked to join, and sends a heartbeat": (ASKED, (*SETTLED, REFUSED, sent("Heartbeat", 3_000))),
    "out of its group to the end": (ASKED, (*BEGAN, fell_out(), RunEnded(time_ms=900))),
    "a commit comes first, and is over": (
        ASKED, (*COMMITS_FIRST, answered("OffsetCommit", 100, request=7), ends("onJoinPrepare", 900),
                sent("JoinGroup", 900))
    ),
    "accepted": (GOES_ON, (*BEGAN, JOINS, answered("JoinGroup", 9), sent("SyncGroup", 900))),
    "synced": (GOES_ON, (*SYNCS, begins("onJoinComplete", 900))),
    "synced, and sends a heartbeat": (GOES_ON, (*SYNCS, sent("Heartbeat", 3_000))),
    "repeated": (REPEATS, (*BEGAN, JOINS, LOADS, sent("JoinGroup", 900))),
    "repeated late when its coordinator is known": (
        REPEATS, (*BEGAN, JOINS, answered("JoinGroup", 0, None), lost(), found(300), sent("JoinGroup", 900))
    ),
    "looked for when it starts": (LOOKS_UP, (RUN, STARTED, looks_up(900))),
    "looked for after a loss": (LOOKS_UP, (*BEGAN, lost(), looks_up(900))),
    "looked for after a failure": (LOOKS_UP, (RUN, STARTED, looks_up(0), looked_up(5), looks_up(900))),
    "not looked for to the end": (LOOKS_UP, (*BEGAN, lost(), RunEnded(time_ms=900))),
    "committed": (COMMITS, (*SETTLED, READ, sent("OffsetCommit", 6_000))),
    "committed late the second time": (
        COMMITS, (*SETTLED, READ, sent("OffsetCommit", 5_000), sent("Heartbeat", 11_000))
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HELD)
def test_what_a_member_does_as_soon_as_it_can__is_none_to_complain_of(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_what_a_member_could_have_done_before__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("case", [case for case, (name, _) in VIOLATED.items() if name in {REPEATS, LOOKS_UP, COMMITS}])
def test_an_application_that_polls_often__may_be_what_a_member_waits_for(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    often = [POLLED_OFTEN if event is STARTED else event for event in events]
    assert judge(history(*often), select([name])).outcome is not Outcome.VIOLATED


@pytest.mark.parametrize("case", [case for case, (name, _) in VIOLATED.items() if name != COMMITS])
def test_a_herder_may_wait_for_something_else(history: History, case: str) -> None:
    name, (run, started, *events) = VIOLATED[case]
    worker = WorkerConfigured(member="m0", mode="eager")
    assert judge(history(run, started, worker, *events), select([name])).outcome is not Outcome.VIOLATED
