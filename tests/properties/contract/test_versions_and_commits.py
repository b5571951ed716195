"""Which JoinGroup needs a member id, of which generation claims are, and when a consumer commits by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ON_JOIN_COMPLETE,
    ON_LEAVE_PREPARE,
    AssignmentCompleted,
    CallbackEnded,
    CallbackStarted,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RecordsDelivered,
    RequestAnswered,
    RequestSent,
    RunStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
REQUIRED, CLAIMS = "member_ids_are_required_by_version", "claims_name_their_generation"
COMMITS: Final = "auto_commits_keep_the_interval"


def join(version: int = 4, member_id: str = "", claimed: int | None = None) -> RequestSent:
    return RequestSent(
        member="m0", api="JoinGroup", request=1, version=version, member_id=member_id, claimed_generation=claimed
    )


def answer(error: str | None = "NONE", request: int = 1) -> RequestAnswered:
    return RequestAnswered(member="m0", api="JoinGroup", request=request, error=error)


def started(interval_ms: int = 0, instance: str = "") -> MemberStarted:
    return MemberStarted(member="m0", auto_commit_interval_ms=interval_ms, group_instance_id=instance)


def joined(generation: int) -> MemberJoined:
    return MemberJoined(member="m0", generation=generation, member_id="a")


def commit(at_ms: int = 0) -> RequestSent:
    return RequestSent(member="m0", api="OffsetCommit", request=2, generation=1, time_ms=at_ms)


def call(callback: str) -> CallbackStarted:
    return CallbackStarted(member="m0", generation=1, callback=callback)


RUN: Final = RunStarted(subject="simulator", punctual=True)
CRASHED: Final = MemberCrashed(member="m0")
LOST: Final = MembershipLost(member="m0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
FOUND, FORGOT = CoordinatorFound(member="m0", node=0), CoordinatorLost(member="m0")
OWNS: Final = AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
READ: Final = RecordsDelivered(member="m0", partitions=("t-0",))
CLOSING, LEAVES = MemberClosing(member="m0"), call(ON_LEAVE_PREPARE)
RETURNED: Final = CallbackEnded(member="m0", callback=ON_JOIN_COMPLETE, outcome="finished")
BY_ITSELF: Final = (RUN, started(5_000), FOUND, OWNS)
BY_ITS_APPLICATION: Final = (RUN, started(0), FOUND, OWNS, READ)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it needs an id": (REQUIRED, (RUN, started(), join(), answer("MEMBER_ID_REQUIRED"))),
    "it has one": (REQUIRED, (RUN, started(), join(4, "a"), answer())),
    "an old one needs none": (REQUIRED, (RUN, started(), join(3), answer())),
    "a static one needs none": (REQUIRED, (RUN, started(instance="i"), join(9), answer())),
    "of its generation": (CLAIMS, (RUN, started(), joined(2), join(claimed=2))),
    "of none": (CLAIMS, (RUN, started(), join(claimed=-1))),
    "of none after a loss": (CLAIMS, (RUN, started(), joined(1), LOST, join(claimed=-1))),
    "of none in another process": (CLAIMS, (RUN, started(), joined(1), CRASHED, started(), join(claimed=-1))),
    "one interval after the assignment": (COMMITS, (*BY_ITSELF, commit(5_000), commit(10_000))),
    "inside a callback": (COMMITS, (*BY_ITSELF, call(ON_JOIN_COMPLETE), commit(1), RETURNED, commit(5_000))),
    "once more before it leaves": (COMMITS, (*BY_ITSELF, READ, CLOSING, commit(1), LEAVES)),
    "it read nothing": (COMMITS, (*BY_ITSELF, CLOSING, LEAVES)),
    "it knows no coordinator": (COMMITS, (*BY_ITSELF, FORGOT, READ, CLOSING, LEAVES)),
    "it joins again": (COMMITS, (*BY_ITSELF, join(), READ, CLOSING, LEAVES)),
    "it is no member": (COMMITS, (*BY_ITSELF, LOST, READ, CLOSING, LEAVES)),
    "its application commits": (COMMITS, (*BY_ITS_APPLICATION, commit(1), commit(2), CLOSING, LEAVES)),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "an old one is asked for an id": (REQUIRED, (RUN, started(), join(3), answer("MEMBER_ID_REQUIRED"))),
    "a static one is asked for an id": (REQUIRED, (RUN, started(instance="i"), join(9), answer("MEMBER_ID_REQUIRED"))),
    "it is admitted without one": (REQUIRED, (RUN, started(), join(), answer())),
    "of another generation": (CLAIMS, (RUN, started(), joined(2), join(claimed=1))),
    "of no generation": (CLAIMS, (RUN, started(), joined(2), join(claimed=-1))),
    "of one that it lost": (CLAIMS, (RUN, started(), joined(1), LOST, join(claimed=1))),
    "too soon after the assignment": (COMMITS, (*BY_ITSELF, commit(4_999))),
    "too soon after a commit": (COMMITS, (*BY_ITSELF, commit(5_000), commit(9_999))),
    "nothing before it leaves": (COMMITS, (*BY_ITSELF, READ, CLOSING, LEAVES)),
    "it is not to commit": (COMMITS, (*BY_ITS_APPLICATION, CLOSING, commit(1), LEAVES)),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_a_member_does_is_right(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_is_wrong_is_seen(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_in_a_run_that_is_not_simulated_nothing_is_claimed(
    history: History, claim: str, events: tuple[Event, ...]
) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
