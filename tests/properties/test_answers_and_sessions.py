"""What a coordinator owes that resigns or has written; when sessions began; what a consumer leaves with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    CoordinatorRested,
    Event,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    NodeChanged,
    OffsetCommitReplied,
    PartitionsLost,
    PartitionsRevoked,
    RequestParked,
    RunStarted,
    SyncGroupReplied,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
WAITS, SESSIONS, CLOSES = "what_waits_is_answered", "sessions_run_from_the_last_sign", "who_closes_owns_nothing"
WRITTEN: Final = "only_written_records_are_appended"
LOADS: Final = "load_restores_the_log"


def parked(api: str = "JoinGroup", at_ms: int = 0) -> RequestParked:
    return RequestParked(incarnation=0, generation=1, api=api, request=1, member_id="a", time_ms=at_ms)


def answered(error: str = "NOT_COORDINATOR", at_ms: int = 0) -> JoinGroupReplied:
    return JoinGroupReplied(incarnation=0, generation=1, request=1, error=error, assigned_member_id="a", time_ms=at_ms)


def synced(at_ms: int) -> SyncGroupReplied:
    return SyncGroupReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", time_ms=at_ms)


def moved(to: str, at_ms: int = 0) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=1, from_status="", to_status=to, time_ms=at_ms)


def beat(at_ms: int, error: str = "NONE") -> HeartbeatReplied:
    return HeartbeatReplied(incarnation=0, generation=1, request=2, error=error, member_id="a", time_ms=at_ms)


def committed(at_ms: int, error: str = "NONE") -> OffsetCommitReplied:
    return OffsetCommitReplied(incarnation=0, generation=1, request=3, error=error, member_id="a", time_ms=at_ms)


def appended(at_ms: int) -> GroupMetadataAppended:
    return GroupMetadataAppended(incarnation=0, generation=1, members=("a",), offset=0, time_ms=at_ms)


def rested(left_ms: int, at_ms: int = 5_000) -> CoordinatorRested:
    """A session of ten seconds."""
    return CoordinatorRested(
        incarnation=0, generation=1, timeouts=(("a", 10_000, 30_000),), timers=(("session", "a", left_ms),),
        time_ms=at_ms,
    )  # fmt: skip


def owns(*partitions: str) -> AssignmentCompleted:
    return AssignmentCompleted(member="m0", generation=1, owned=partitions)


RUN: Final = RunStarted(subject="simulator", punctual=True)
ENDED: Final = IncarnationEnded(incarnation=0, generation=1)
DEPOSED: Final = IncarnationEnded(incarnation=0, generation=1, deposed=True)
LOADED: Final = IncarnationStarted(incarnation=0, generation=1, status="Stable", members=("a",), time_ms=1_000)
ADDED: Final = MemberAdded(incarnation=0, generation=1, member_id="a", time_ms=1_000)
STARTED, LEFT, CRASHED = MemberStarted(member="m0"), MemberLeft(member="m0"), MemberCrashed(member="m0")
EMPTY: Final = IncarnationStarted(incarnation=1, generation=0, status="Empty")
REVOKED: Final = PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
LOST: Final = PartitionsLost(member="m0", generation=1, partitions=("t-1",))

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "answered when it resigns": (WAITS, (RUN, parked(), moved("Dead"), answered(), ENDED)),
    "it dies": (WAITS, (RUN, parked(), moved("PreparingRebalance"), ENDED)),
    "it is deposed": (WAITS, (RUN, parked(), moved("Dead"), DEPOSED)),
    "answered when it has written": (
        WAITS, (RUN, moved("Stable"), parked(), appended(1), answered("NONE", 1), beat(2))
    ),
    "answers of one time": (
        WAITS, (RUN, moved("Stable"), parked(), appended(1), beat(1), answered("NONE", 1), beat(2))
    ),
    "a rebalance comes between": (
        WAITS, (RUN, moved("Stable"), parked(), appended(1), moved("PreparingRebalance", 1), beat(2))
    ),
    "it comes after the record": (WAITS, (RUN, moved("Stable"), appended(1), parked(at_ms=2), answered("NONE", 2))),
    "since it was loaded": (SESSIONS, (RUN, LOADED, rested(6_000))),
    "since it came": (SESSIONS, (RUN, ADDED, rested(6_000))),
    "since its heartbeat": (SESSIONS, (RUN, LOADED, beat(2_000), rested(7_000))),
    "since its heartbeat arrived": (
        SESSIONS, (RUN, LOADED, RequestParked(incarnation=0, generation=1, api="Heartbeat", request=2, member_id="a",
                                              time_ms=1_500), beat(2_000), rested(6_500))
    ),
    "since a commit": (SESSIONS, (RUN, LOADED, committed(2_000), rested(7_000))),
    "since its sync": (SESSIONS, (RUN, LOADED, parked("SyncGroup", 1_500), synced(2_000), rested(7_000))),
    "a sync that is answered at once is none": (SESSIONS, (RUN, LOADED, synced(2_000), rested(6_000))),
    "a refusal is none": (
        SESSIONS, (RUN, LOADED, beat(2_000, "ILLEGAL_GENERATION"), committed(3_000, "X"), rested(6_000))
    ),
    "it gave all up": (CLOSES, (RUN, STARTED, owns("t-0", "t-1"), REVOKED, LOST, LEFT)),
    "it owned nothing": (CLOSES, (RUN, STARTED, owns(), LEFT)),
    "it was assigned something else": (CLOSES, (RUN, STARTED, owns("t-2"), owns("t-0"), REVOKED, LEFT)),
    "another process": (CLOSES, (RUN, STARTED, owns("t-2"), CRASHED, STARTED, owns(), LEFT)),
    "a node that was paused begins anew": (
        LOADS, (RUN, LOADED, appended(1), NodeChanged(node=0, change="paused"), EMPTY)
    ),
    "a deleted group begins anew": (
        LOADS, (RUN, LOADED, appended(1), GroupDeleted(incarnation=0, generation=1, status="Empty"), EMPTY)
    ),
    "it was written": (
        WRITTEN, (RUN, LOADED, GroupMetadataWritten(incarnation=0, generation=1, members=("a",)), appended(1))
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "no answer when it resigns": (WAITS, (RUN, parked(), moved("Dead"), ENDED)),
    "no answer to a sync": (WAITS, (RUN, parked("SyncGroup"), moved("Dead"), ENDED)),
    "no answer when it has written": (WAITS, (RUN, moved("Stable"), parked(), appended(1), beat(2))),
    "not since it was loaded": (SESSIONS, (RUN, LOADED, rested(6_001))),
    "not since its heartbeat": (SESSIONS, (RUN, LOADED, beat(2_000), rested(6_000))),
    "not since its commit": (SESSIONS, (RUN, LOADED, committed(2_000), rested(6_000))),
    "longer than it asked for": (SESSIONS, (RUN, LOADED, beat(2_000), rested(17_000))),
    "it keeps a partition": (CLOSES, (RUN, STARTED, owns("t-0", "t-1"), REVOKED, LEFT)),
    "it begins without its record": (LOADS, (RUN, LOADED, appended(1), EMPTY)),
    "it was not written, and no other": (WRITTEN, (RUN, LOADED, appended(1))),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_is_owed_is_given(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_is_owed_and_not_given_is_seen(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_in_real_time_nothing_is_claimed(history: History, claim: str, events: tuple[Event, ...]) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome in {Outcome.UNTESTED, Outcome.HELD}


def test_a_node_that_was_paused_is_late_with_its_timers(history: History) -> None:
    paused = history(RUN, NodeChanged(node=0, change="paused"), LOADED, rested(6_001))
    assert judge(paused, select([SESSIONS])).verdict(SESSIONS).outcome is Outcome.UNTESTED
