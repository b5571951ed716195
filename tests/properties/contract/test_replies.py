"""What a member does with the replies that it waits for: histories that hold, and some that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberClosing,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
APPLIED, ONE, WHERE = "accepted_join_is_applied", "one_commit_precedes_a_join", "revoked_where_committed"


def sent(api: str, request: int) -> RequestSent:
    return RequestSent(member="m0", api=api, request=request)


def answered(api: str, request: int, error: str | None = "NONE") -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=request, error=error, generation=1)


def committed(offset: int, error: str = "NONE", partition: str = "t-0") -> OffsetCommitted:
    return OffsetCommitted(member="m0", generation=1, partition=partition, offset=offset, error=error)


def revoked(position: int) -> PartitionsRevoked:
    return PartitionsRevoked(member="m0", generation=1, partitions=("t-0",), positions=(("t-0", position),))


def called(callback: str = "onJoinPrepare") -> CallbackStarted:
    return CallbackStarted(member="m0", callback=callback, generation=1)


def started(protocol: str = "eager") -> MemberStarted:
    return MemberStarted(member="m0", protocol=protocol)


UNFINISHED: Final = CallbackEnded(member="m0", callback="onJoinPrepare", outcome="unfinished")
FINISHED: Final = CallbackEnded(member="m0", callback="onJoinPrepare")
JOINED: Final = MemberJoined(member="m0", generation=1, member_id="a")
LOST: Final = MembershipLost(member="m0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
CLOSING: Final = MemberClosing(member="m0")
JOIN, ACCEPTED = sent("JoinGroup", 1), answered("JoinGroup", 1)
AGAIN: Final = sent("JoinGroup", 2)
COMMIT, SECOND = sent("OffsetCommit", 3), sent("OffsetCommit", 4)
PREPARES: Final = (started(), called(), COMMIT, UNFINISHED)
COMMITTED: Final = (*PREPARES, answered("OffsetCommit", 3), committed(5))

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it enters": (APPLIED, (JOINED, JOIN, ACCEPTED, JOINED, AGAIN)),
    "it was refused": (APPLIED, (JOINED, JOIN, answered("JoinGroup", 1, "UNKNOWN_MEMBER_ID"), AGAIN)),
    "it was lost meanwhile": (APPLIED, (JOINED, JOIN, LOST, ACCEPTED, AGAIN)),
    "it left meanwhile": (APPLIED, (JOINED, JOIN, called("onLeavePrepare"), ACCEPTED, AGAIN)),
    "an answer to the one before": (APPLIED, (JOINED, JOIN, AGAIN, ACCEPTED, sent("JoinGroup", 3))),
    "it closes": (APPLIED, (JOINED, JOIN, ACCEPTED, CLOSING, started(), AGAIN)),
    "it waits": (ONE, (*PREPARES, called(), UNFINISHED)),
    "answered, and once more": (
        ONE, (*PREPARES, answered("OffsetCommit", 3, None), called(), SECOND, UNFINISHED)
    ),
    "in the callback that follows": (ONE, (*PREPARES, called(), SECOND, FINISHED)),
    "in the next preparation": (ONE, (*PREPARES, called(), FINISHED, called(), SECOND, UNFINISHED)),
    "where it committed": (WHERE, (*COMMITTED, called(), revoked(5), FINISHED)),
    "another position, COOPERATIVE": (
        WHERE, (*COMMITTED, called(), revoked(5), FINISHED, started("cooperative"), *COMMITTED[1:], called(),
                revoked(7))
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it does not enter": (APPLIED, (JOINED, JOIN, ACCEPTED, AGAIN)),
    "a second commit": (ONE, (*PREPARES, called(), SECOND, UNFINISHED)),
    "a second commit, another was answered": (
        ONE, (*PREPARES, answered("OffsetCommit", 9), called(), SECOND, UNFINISHED)
    ),
    "it read on": (WHERE, (*COMMITTED, called(), revoked(7))),
    "it read on, and another partition was refused": (
        WHERE, (*COMMITTED, committed(5, "UNKNOWN_TOPIC_OR_PARTITION", "t-1"), called(), revoked(7))
    ),
}  # fmt: skip

UNTESTED: Final[dict[str, tuple[Event, ...]]] = {
    "it committed nothing": (*PREPARES, called(), committed(5), revoked(7)),
    "the commit was refused": (*PREPARES, answered("OffsetCommit", 3), committed(5, "REQUEST_TIMED_OUT"), revoked(7)),
    "another commit was answered": (*PREPARES, answered("OffsetCommit", 9), committed(5), called(), revoked(7)),
}


@pytest.mark.parametrize("case", HELD)
def test_what_follows_a_reply__is_none_to_complain_of(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_what_does_not_follow_from_a_reply__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("case", UNTESTED)
def test_where_no_commit_succeeded__the_position_says_nothing(history: History, case: str) -> None:
    assert judge(history(*UNTESTED[case]), select([WHERE])).outcome is Outcome.UNDECIDED
