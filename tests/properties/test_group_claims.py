"""Claims about what an application is called about, what is written of a group, and how long its members wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ON_JOIN_COMPLETE,
    ON_JOIN_PREPARE,
    ON_LEAVE_PREPARE,
    ON_PARTITIONS_ASSIGNED,
    ON_PARTITIONS_LOST,
    ON_PARTITIONS_REVOKED,
    UNFINISHED,
    CallbackEnded,
    CallbackStarted,
    Event,
    GenerationStarted,
    GroupMetadataWritten,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    ListenerCalled,
    MemberAdded,
    MemberCrashed,
    MembershipLost,
    MemberStarted,
    MetadataReceived,
    NodeChanged,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestParked,
    RequestSent,
    RunStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
LISTENER, WRITTEN = "listener_is_called_for_each_change", "emptied_groups_are_written"
ANSWERS, PATTERNS = "commit_answers_name_each_partition", "patterns_are_matched_before_joining"
COMMIT, LEAVING = "joins_wait_for_the_commit", "leaving_members_revoke_what_is_theirs"
PAUSE: Final = "commits_before_a_join_pause"
DELAY, LAST_JOIN = "initial_delay_ends_in_time", "last_join_ends_the_join_phase"
DELAY_MS: Final = 3_000


def called(callback: str, *partitions: str) -> ListenerCalled:
    return ListenerCalled(member="m0", callback=callback, partitions=partitions)


def gains(*partitions: str) -> PartitionsAssigned:
    return PartitionsAssigned(member="m0", generation=1, partitions=partitions)


def revokes(*partitions: str) -> PartitionsRevoked:
    return PartitionsRevoked(member="m0", generation=1, partitions=partitions)


def loses(*partitions: str) -> PartitionsLost:
    return PartitionsLost(member="m0", generation=1, partitions=partitions)


def call(callback: str, generation: int = 1, at: int = 0) -> CallbackStarted:
    return CallbackStarted(member="m0", callback=callback, generation=generation, time_ms=at)


def back(callback: str, outcome: str = "finished", at: int = 0) -> CallbackEnded:
    return CallbackEnded(member="m0", callback=callback, outcome=outcome, time_ms=at)


def sent(api: str, request: int, at: int = 0) -> RequestSent:
    return RequestSent(member="m0", api=api, request=request, generation=1, time_ms=at)


def answered(api: str, request: int, error: str | None = "NONE") -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=request, error=error)


def committed(error: str | None) -> OffsetCommitted:
    return OffsetCommitted(member="m0", generation=1, partition="t-0", offset=7, error=error)


def generation(number: int, *members: str, at: int = 0) -> GenerationStarted:
    return GenerationStarted(
        incarnation=0, generation=number, members=members, leader=members[0] if members else "", time_ms=at
    )


def written(number: int, *members: str) -> GroupMetadataWritten:
    return GroupMetadataWritten(incarnation=0, generation=number, members=members)


def added(member_id: str, at: int = 0) -> MemberAdded:
    return MemberAdded(incarnation=0, generation=0, member_id=member_id, time_ms=at)


def joins(member_id: str, at: int = 0) -> RequestParked:
    return RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id=member_id, time_ms=at)


def prepares(of: str, at: int = 0) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=0, from_status=of, to_status="PreparingRebalance", time_ms=at)


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(
    member="m0", auto_commit_interval_ms=5_000, rebalance_timeout_ms=15_000, retry_backoff_ms=100
)
RUNS: Final = (RUN, STARTED)
BY_PATTERN: Final = (RUN, replace(STARTED, by_pattern=True))
FAILED: Final = (
    *RUNS, call(ON_JOIN_PREPARE), sent("OffsetCommit", 1), back(ON_JOIN_PREPARE, UNFINISHED),
    answered("OffsetCommit", 1, "COORDINATOR_LOAD_IN_PROGRESS"),
)  # fmt: skip
CRASHED, METADATA = MemberCrashed(member="m0"), MetadataReceived(member="m0", partitions=("t-0",))
EMPTY: Final = IncarnationStarted(incarnation=0, generation=0, status="Empty", initial_rebalance_delay_ms=DELAY_MS)
FIRST: Final = (RUN, EMPTY, added("a"), joins("a"), prepares("Empty"))
SECOND: Final = (RUN, MemberStarted(member="m0", session_timeout_ms=10_000), generation(1, "a"))
UNUSED: Final = JoinGroupReplied(
    incarnation=0, generation=1, request=0, error="MEMBER_ID_REQUIRED", assigned_member_id="b", time_ms=1_000
)
REFUSED: Final = MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "after they came": (LISTENER, (*RUNS, gains("t-0"), called(ON_PARTITIONS_ASSIGNED, "t-0"))),
    "before they go": (LISTENER, (*RUNS, called(ON_PARTITIONS_REVOKED, "t-0"), revokes("t-0"))),
    "before they are lost": (LISTENER, (*RUNS, called(ON_PARTITIONS_LOST, "t-0"), loses("t-0"))),
    "also when none came": (LISTENER, (*RUNS, gains(), called(ON_PARTITIONS_ASSIGNED), back(ON_JOIN_COMPLETE))),
    "the process died in the call": (LISTENER, (*RUNS, called(ON_PARTITIONS_REVOKED, "t-0"), CRASHED, STARTED)),
    "its record is next": (WRITTEN, (RUN, generation(2), written(2), added("a"))),
    "it is not empty": (WRITTEN, (RUN, generation(2), written(2), generation(3, "a"), added("b"))),
    "what the answer says": (ANSWERS, (RUN, answered("OffsetCommit", 1), committed("NONE"))),
    "one partition is refused": (
        ANSWERS, (RUN, answered("OffsetCommit", 1, "OFFSET_METADATA_TOO_LARGE"), committed("NONE"))
    ),
    "no answer": (ANSWERS, (RUN, answered("OffsetCommit", 1, None), committed(None))),
    "it looks first": (PATTERNS, (*BY_PATTERN, call(ON_JOIN_PREPARE), METADATA, back(ON_JOIN_PREPARE))),
    "it looks before each call": (
        PATTERNS, (*BY_PATTERN, call(ON_JOIN_PREPARE), METADATA, back(ON_JOIN_PREPARE, UNFINISHED),
                   call(ON_JOIN_PREPARE), METADATA, back(ON_JOIN_PREPARE))
    ),
    "the commit is answered": (
        COMMIT, (*RUNS, call(ON_JOIN_PREPARE), sent("OffsetCommit", 1), back(ON_JOIN_PREPARE, UNFINISHED),
                 answered("OffsetCommit", 1), call(ON_JOIN_PREPARE), back(ON_JOIN_PREPARE))
    ),
    "it waits no longer than that": (
        COMMIT, (*RUNS, call(ON_JOIN_PREPARE), sent("OffsetCommit", 1), back(ON_JOIN_PREPARE, UNFINISHED),
                 call(ON_JOIN_PREPARE, at=15_000), back(ON_JOIN_PREPARE, at=15_000))
    ),
    "the application commits in its callback": (
        COMMIT, (*RUNS, call(ON_JOIN_PREPARE), called(ON_PARTITIONS_REVOKED), sent("OffsetCommit", 1),
                 back(ON_JOIN_PREPARE))
    ),
    "the commit is repeated": (
        COMMIT, (*FAILED, call(ON_JOIN_PREPARE), sent("OffsetCommit", 2), answered("OffsetCommit", 2),
                 back(ON_JOIN_PREPARE))
    ),
    "the commit is refused for good": (
        COMMIT, (*FAILED[:-1], answered("OffsetCommit", 1, "ILLEGAL_GENERATION"), call(ON_JOIN_PREPARE),
                 back(ON_JOIN_PREPARE))
    ),
    "there is no membership to repeat it in": (
        COMMIT, (*FAILED, REFUSED, call(ON_JOIN_PREPARE), back(ON_JOIN_PREPARE))
    ),
    "there is no time to repeat it": (
        COMMIT, (*FAILED, call(ON_JOIN_PREPARE, at=15_000), back(ON_JOIN_PREPARE, at=15_000))
    ),
    "another join needs another commit": (
        COMMIT, (*FAILED, call(ON_JOIN_PREPARE), back(ON_JOIN_PREPARE, "raised"), call(ON_JOIN_PREPARE),
                 back(ON_JOIN_PREPARE))
    ),
    "it pauses": (PAUSE, (*FAILED, call(ON_JOIN_PREPARE, at=100), sent("OffsetCommit", 2, at=100))),
    "settled, it revokes": (
        LEAVING, (*RUNS, sent("JoinGroup", 1), answered("JoinGroup", 1), sent("SyncGroup", 2),
                  answered("SyncGroup", 2), call(ON_LEAVE_PREPARE), revokes("t-0"))
    ),
    "while it joins, it loses": (LEAVING, (*RUNS, sent("JoinGroup", 1), call(ON_LEAVE_PREPARE), loses("t-0"))),
    "while it syncs, it loses": (
        LEAVING, (*RUNS, sent("JoinGroup", 1), answered("JoinGroup", 1), sent("SyncGroup", 2),
                  call(ON_LEAVE_PREPARE), loses("t-0"))
    ),
    "without a generation, it loses": (LEAVING, (*RUNS, REFUSED, call(ON_LEAVE_PREPARE, -1), loses("t-0"))),
    "one delay": (DELAY, (*FIRST, generation(1, "a", at=DELAY_MS))),
    "another delay": (
        DELAY, (*FIRST, added("b", DELAY_MS - 1), joins("b", DELAY_MS - 1), generation(1, "a", at=2 * DELAY_MS))
    ),
    "an id was not used": (
        LAST_JOIN, (*SECOND, UNUSED, prepares("Stable", 2_000), joins("a", 2_000), generation(2, "a", at=11_000))
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "not called when they came": (LISTENER, (*RUNS, gains("t-0"), back(ON_JOIN_COMPLETE))),
    "called with others": (LISTENER, (*RUNS, gains("t-0"), called(ON_PARTITIONS_ASSIGNED, "t-1"))),
    "called when they were gone": (LISTENER, (*RUNS, revokes("t-0"), called(ON_PARTITIONS_REVOKED, "t-0"))),
    "called about a loss": (LISTENER, (*RUNS, called(ON_PARTITIONS_LOST, "t-0"), revokes("t-0"))),
    "called about some": (LISTENER, (*RUNS, called(ON_PARTITIONS_REVOKED, "t-0"), revokes("t-0", "t-1"))),
    "called for nothing": (LISTENER, (*RUNS, called(ON_PARTITIONS_ASSIGNED, "t-0"))),
    "called, and nothing goes": (LISTENER, (*RUNS, called(ON_PARTITIONS_REVOKED, "t-0"), back(ON_JOIN_PREPARE))),
    "no record": (WRITTEN, (RUN, generation(2), added("a"))),
    "no record until the end": (WRITTEN, (RUN, generation(2))),
    "a record with members": (WRITTEN, (RUN, generation(2), written(2, "a"))),
    "a partition is not answered": (ANSWERS, (RUN, answered("OffsetCommit", 1), committed(None))),
    "a partition is refused in an answer that is accepted": (
        ANSWERS, (RUN, answered("OffsetCommit", 1), committed("ILLEGAL_GENERATION"))
    ),
    "an answer that did not come": (ANSWERS, (RUN, answered("OffsetCommit", 1, None), committed("NONE"))),
    "it does not look": (PATTERNS, (*BY_PATTERN, METADATA, call(ON_JOIN_PREPARE), back(ON_JOIN_PREPARE))),
    "the commit is under way": (
        COMMIT, (*RUNS, call(ON_JOIN_PREPARE), sent("OffsetCommit", 1), back(ON_JOIN_PREPARE, UNFINISHED),
                 call(ON_JOIN_PREPARE, at=14_999), back(ON_JOIN_PREPARE, at=14_999))
    ),
    "the commit is not repeated": (COMMIT, (*FAILED, call(ON_JOIN_PREPARE), back(ON_JOIN_PREPARE))),
    "the commit is not repeated after no answer": (
        COMMIT, (*FAILED[:-1], answered("OffsetCommit", 1, None), call(ON_JOIN_PREPARE),
                 called(ON_PARTITIONS_REVOKED), back(ON_JOIN_PREPARE))
    ),
    "it does not pause": (PAUSE, (*FAILED, call(ON_JOIN_PREPARE, at=99), sent("OffsetCommit", 2, at=99))),
    "it does not pause after no answer": (
        PAUSE, (*FAILED[:-1], answered("OffsetCommit", 1, None), call(ON_JOIN_PREPARE), sent("OffsetCommit", 2))
    ),
    "settled, it loses": (
        LEAVING, (*RUNS, sent("JoinGroup", 1), answered("JoinGroup", 1), sent("SyncGroup", 2),
                  answered("SyncGroup", 2), call(ON_LEAVE_PREPARE), loses("t-0"))
    ),
    "while it joins, it revokes": (LEAVING, (*RUNS, sent("JoinGroup", 1), call(ON_LEAVE_PREPARE), revokes("t-0"))),
    "it owns nothing": (LEAVING, (*RUNS, call(ON_LEAVE_PREPARE), revokes())),
    "a delay too many": (DELAY, (*FIRST, generation(1, "a", at=DELAY_MS + 1))),
    "two delays too many": (DELAY, (*FIRST, added("b", 1), joins("b", 1), generation(1, "a", at=3 * DELAY_MS))),
    "an id is waited for that is gone": (
        LAST_JOIN, (*SECOND, UNUSED, prepares("Stable", 2_000), joins("a", 2_000), generation(2, "a", at=11_001))
    ),
}  # fmt: skip

UNTESTED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "who subscribes by name": (PATTERNS, (*RUNS, call(ON_JOIN_PREPARE), back(ON_JOIN_PREPARE))),
    "the application commits when its consumer has committed": (
        PAUSE, (*FAILED[:-1], answered("OffsetCommit", 1), call(ON_JOIN_PREPARE), called(ON_PARTITIONS_REVOKED, "t-0"),
                sent("OffsetCommit", 2))
    ),
    "it commits for the next join": (
        PAUSE, (*FAILED, call(ON_JOIN_PREPARE), back(ON_JOIN_PREPARE), call(ON_JOIN_PREPARE), sent("OffsetCommit", 2))
    ),
    "an attempt that failed": (
        LEAVING, (*RUNS, sent("JoinGroup", 1), answered("JoinGroup", 1, None), call(ON_LEAVE_PREPARE), revokes("t-0"))
    ),
    "a paused node": (
        DELAY, (*FIRST, NodeChanged(node=0, change="paused"), generation(1, "a", at=2 * DELAY_MS))
    ),
    "an id that was not used when a node was paused": (
        LAST_JOIN, (*SECOND, UNUSED, prepares("Stable", 2_000), joins("a", 2_000),
                    NodeChanged(node=0, change="paused", time_ms=3_000), generation(2, "a", at=50_000))
    ),
    "a session that is not known": (
        LAST_JOIN, (RUN, generation(1, "a"), UNUSED, prepares("Stable"), joins("a"), generation(2, "a", at=50_000))
    ),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_is_right_holds(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_is_wrong_is_seen(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), UNTESTED.values(), ids=UNTESTED)
def test_what_a_claim_cannot_know_is_not_judged(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.UNTESTED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_observers_that_may_miss_something_are_not_judged(
    history: History, claim: str, events: tuple[Event, ...]
) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
