"""Claims that random edits asked for: the smallest histories in which each says something and holds, and breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    Event,
    GenerationStarted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberJoined,
    OffsetCommitReplied,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsRevoked,
    RequestParked,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]

UNAVAILABLE: Final = "COORDINATOR_NOT_AVAILABLE"
BEGAN: Final = IncarnationStarted(incarnation=0, generation=0, status="Empty", initial_rebalance_delay_ms=3_000)
GENERATION: Final = GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")


def moved(to: str, from_: str = "Stable", generation: int = 1) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=generation, from_status=from_, to_status=to)


def parked(member: str, api: str = "JoinGroup", at: int = 0, request: int = 1) -> RequestParked:
    return RequestParked(incarnation=0, generation=0, api=api, request=request, member_id=member, time_ms=at,
                         rebalance_timeout_ms=60_000)  # fmt: skip


def began(generation: int, *members: str, at: int = 0) -> GenerationStarted:
    return GenerationStarted(incarnation=0, generation=generation, members=members, leader=members[0], time_ms=at)


def commit(error: str, generation: int = 1) -> OffsetCommitReplied:
    return OffsetCommitReplied(
        incarnation=0, generation=1, request=1, error=error, member_id="a", request_generation=generation
    )


def left(error: str = "NONE", member: str = "a", at: int = 0) -> LeaveGroupReplied:
    return LeaveGroupReplied(incarnation=0, generation=1, request=1, error=error, member_id=member, time_ms=at)


def beat(error: str = "NONE", incarnation: int = 0, at: int = 0) -> HeartbeatReplied:
    return HeartbeatReplied(
        incarnation=incarnation, generation=incarnation, request=9, error=error, member_id="b", time_ms=at
    )


def dealt(protocol: str, *shares: tuple[str, ...], owned: tuple[tuple[str, ...], ...] = ()) -> AssignmentComputed:
    members = [chr(ord("a") + number) for number in range(len(shares))]
    return AssignmentComputed(
        member="m0", generation=2, protocol=protocol, assignments=tuple(zip(members, shares, strict=True)),
        owned_partitions=tuple(zip(members, owned, strict=False)),
        owned_generations=tuple((member, 1) for member, _ in zip(members, owned, strict=False)),
    )  # fmt: skip


RECORD: Final = GroupMetadataAppended(incarnation=0, generation=1, members=("a",), offset=0)
WRITTEN: Final = GroupMetadataWritten(incarnation=0, generation=1, members=("a",))
REVOKED: Final = PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
JOINED: Final = MemberJoined(member="m0", generation=2, member_id="a")
COMMITTED: Final = OffsetCommitted(member="m0", generation=2, partition="t-0", offset=5, error="NONE")


def wanted(**topics: str) -> AssignmentComputed:
    """Two members that list these topics; the first is assigned t-0, the other u-0."""
    return replace(
        dealt("sticky", ("t-0",), ("u-0",)), wanted_topics=tuple((one, tuple(each)) for one, each in topics.items())
    )


HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "an error of its message": ("refusals_are_documented", (beat("REBALANCE_IN_PROGRESS"), left("NOT_COORDINATOR"))),
    "the generation completes": (
        "refusals_are_true",
        (GENERATION, moved("CompletingRebalance", "PreparingRebalance"), commit("REBALANCE_IN_PROGRESS")),
    ),
    "another generation": ("refusals_are_true", (GENERATION, moved("Stable"), commit("ILLEGAL_GENERATION", 0))),
    "a commit that waited": (
        "refusals_are_true",
        (GENERATION, moved("Stable"), parked("a", "OffsetCommit"), commit("UNKNOWN_MEMBER_ID"), commit("NONE")),
    ),
    "it was no member": (
        "refusals_are_true", (began(1, "b"), moved("Stable"), commit("UNKNOWN_MEMBER_ID"))
    ),
    "the group was Dead": ("refusals_are_true", (GENERATION, moved("Dead"), left(UNAVAILABLE))),
    "its record was not written": ("refusals_are_true", (GENERATION, moved("Empty"), WRITTEN, left(UNAVAILABLE))),
    "a leave that waited": (
        "refusals_are_true", (GENERATION, moved("Stable"), parked("", "LeaveGroup"), left(UNAVAILABLE), left())
    ),
    "no event tells whether a commit was written": (
        "refusals_are_true", (GENERATION, moved("Stable"), commit(UNAVAILABLE))
    ),
    "each gets what it wants": ("assigned_topics_are_wanted", (wanted(a="t", b="tu"),)),
    "some subscriptions are not known": ("assigned_topics_are_wanted", (wanted(a="t"),)),
    "it is assigned again": (
        "revoked_is_not_committed",
        (REVOKED, JOINED, PartitionsAssigned(member="m0", generation=2, partitions=("t-0",)), COMMITTED),
    ),
    "it is revoked once more": (
        "revoked_is_not_committed",
        (REVOKED, JOINED, PartitionsAssigned(member="m0", generation=2, partitions=("t-0",)),
         replace(REVOKED, generation=2), COMMITTED),
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "a follower skips": (
        "one_leader",
        (GENERATION, moved("Stable"),
         JoinGroupReplied(incarnation=0, generation=1, request=1, error="NONE", reply_generation=1,
                          assigned_member_id="b", leader="a", skip_assignment=True)),
    ),
    "another wants it": ("assigned_topics_are_wanted", (wanted(a="tu", b="t"),)),
    "it wants nothing": ("assigned_topics_are_wanted", (wanted(a="t", b=""),)),
    "a heartbeat while it loads": ("refusals_are_documented", (beat("COORDINATOR_LOAD_IN_PROGRESS"),)),
    "an instance id of no member": (
        "refusals_are_true",
        (BEGAN, GENERATION, moved("Stable"), replace(commit("FENCED_INSTANCE_ID"), instance_id="i")),
    ),
    "the same generation": ("refusals_are_true", (GENERATION, moved("Stable"), commit("ILLEGAL_GENERATION"))),
    "a member": ("refusals_are_true", (GENERATION, moved("Stable"), commit("UNKNOWN_MEMBER_ID"))),
    "a group that is left": ("refusals_are_true", (GENERATION, moved("Stable"), left(UNAVAILABLE))),
    "a group that is joined": (
        "refusals_are_true",
        (GENERATION, moved("Stable"), JoinGroupReplied(incarnation=0, generation=1, request=1, error=UNAVAILABLE)),
    ),
    "its record was written": (
        "refusals_are_true", (GENERATION, moved("Empty"), WRITTEN, RECORD, left(UNAVAILABLE))
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HELD)
def test_what_a_claim_allows__holds(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_what_a_claim_forbids__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED
