"""The smallest history of each claim about coordinators and clients in which it says something, and holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    LogTailLost,
    MemberAdded,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    OffsetCommitReplied,
    OffsetCommitted,
    PartitionsRevoked,
    RequestParked,
    RequestSent,
    SyncGroupReplied,
)
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Held

History = Callable[..., list[Event]]
FAMILIES: Final = {"membership", "joining", "persistence", "gates"}


def began(max_size: int = 0) -> IncarnationStarted:
    return IncarnationStarted(incarnation=0, generation=0, status="Empty", max_size=max_size)


def moved(to: str, from_: str = "PreparingRebalance", generation: int = 1) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=generation, from_status=from_, to_status=to)


def added(member: str, instance: str = "") -> MemberAdded:
    return MemberAdded(incarnation=0, generation=0, member_id=member, instance_id=instance)


def removed(member: str, reason: str = "left") -> MemberRemoved:
    return MemberRemoved(incarnation=0, generation=1, member_id=member, reason=reason)


def left(member: str) -> LeaveGroupReplied:
    return LeaveGroupReplied(incarnation=0, generation=1, request=9, error="NONE", member_id=member)


def parked(member: str, request: int, api: str = "JoinGroup", *protocols: str) -> RequestParked:
    return RequestParked(incarnation=0, generation=0, api=api, request=request, member_id=member, protocols=protocols)


def started(*members: str, generation: int = 1, protocol: str = "") -> GenerationStarted:
    return GenerationStarted(
        incarnation=0, generation=generation, members=members, leader=members[0] if members else "", protocol=protocol
    )


def joined(member: str, request: int, leader: str = "a", shown: tuple[str, ...] = ()) -> JoinGroupReplied:
    return JoinGroupReplied(
        incarnation=0,
        generation=1,
        request=request,
        error="NONE",
        reply_generation=1,
        assigned_member_id=member,
        leader=leader,
        listed_members=shown,
    )


def synced(member: str, request: int, assignment: str = "", error: str = "NONE") -> SyncGroupReplied:
    return SyncGroupReplied(
        incarnation=0,
        generation=1,
        request=request,
        error=error,
        member_id=member,
        request_generation=1,
        assignment=assignment,
    )


def beat(member: str, request: int = 9, asked: int = 1, error: str = "NONE", instance: str = "") -> HeartbeatReplied:
    return HeartbeatReplied(
        incarnation=0,
        generation=1,
        request=request,
        error=error,
        member_id=member,
        request_generation=asked,
        instance_id=instance,
    )


def committed(member: str, asked: int = 1, request: int = 9) -> OffsetCommitReplied:
    return OffsetCommitReplied(
        incarnation=0, generation=1, request=request, error="NONE", member_id=member, request_generation=asked
    )


def on_record(generation: int, *members: str, assigned: str = "") -> GroupMetadataAppended:
    assignments = tuple((member, assigned) for member in members)
    return GroupMetadataAppended(
        incarnation=0, generation=generation, members=members, offset=0, assignments=assignments
    )


def loaded(generation: int, *members: str, max_size: int = 0) -> IncarnationStarted:
    leader = members[0] if members else ""
    return IncarnationStarted(
        incarnation=1, generation=generation, status="Stable" if members else "Empty", members=members, leader=leader,
        max_size=max_size,
    )  # fmt: skip


def accepted_commit(partition: str) -> OffsetCommitted:
    return OffsetCommitted(member="m0", generation=1, partition=partition, offset=5, error="NONE")


def loaded_with(*committed: tuple[str, int]) -> IncarnationStarted:
    return IncarnationStarted(incarnation=1, generation=1, status="Empty", committed=committed)


def owner(*partitions: str, generation: int = 1) -> AssignmentCompleted:
    return AssignmentCompleted(member="m0", member_id="a", generation=generation, owned=partitions)


def revoked(*partitions: str, generation: int = 1) -> PartitionsRevoked:
    return PartitionsRevoked(member="m0", generation=generation, partitions=partitions)


def sent(api: str, request: int, generation: int = -1) -> RequestSent:
    return RequestSent(member="m0", api=api, request=request, generation=generation)


IN_ONE: Final = (added("a"), parked("a", 1), started("a"), moved("CompletingRebalance"))
COOPERATIVE: Final = MemberStarted(member="m0", protocol="cooperative")
THROWN_OUT: Final = MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")

HOLDS: Final[dict[str, list[list[Event]]]] = {
    "legal_transitions": [
        [began(), moved("PreparingRebalance", "Empty"), moved("Empty")],
        [moved("Dead", "Stable")],
    ],
    "pending_ids_are_not_members": [
        [
            JoinGroupReplied(incarnation=0, generation=0, request=1, error="MEMBER_ID_REQUIRED",
                             assigned_member_id="a"),
            added("a"),
            started("a"),
        ],
    ],
    "one_member_per_instance": [[added("a", "i"), removed("a", "replaced"), added("b", "i"), added("c", "j")]],
    "leader_is_member": [
        [began(), *IN_ONE, joined("a", 1)],
        # Before JoinGroup v9 the successor learns its predecessor's id.
        [added("a", "i"), started("a"), removed("a", "replaced"), added("b", "i"), joined("b", 2, leader="a")],
    ],
    "empty_group_is_clean": [[began(), added("a"), removed("a"), moved("Empty")]],
    "only_laggards_time_out": [
        [began(), *IN_ONE, removed("a", "sync timeout")],
        [began(), *IN_ONE, parked("a", 2, "SyncGroup"), removed("a", "session expired")],
    ],
    "only_returning_leaders_skip": [
        [moved("Stable", "CompletingRebalance"), replace(joined("a", 1), skip_assignment=True)],
    ],
    "refusals_are_documented": [[HeartbeatReplied(incarnation=0, generation=1, request=1, error="NOT_COORDINATOR")]],
    "refusals_are_true": [
        [*IN_ONE, HeartbeatReplied(incarnation=0, generation=1, request=2, error="ILLEGAL_GENERATION", member_id="a",
                                   request_generation=0)],
    ],
    "generation_has_only_joined": [
        [began(), *IN_ONE],
        [added("s", "i"), added("a"), parked("a", 1), started("a", "s")],
        # Refused on account of a write, and still parked for the group.
        [added("a"), parked("a", 1),
         JoinGroupReplied(incarnation=0, generation=0, request=1, error="COORDINATOR_NOT_AVAILABLE"), started("a")],
    ],
    "selected_protocol_is_listed_by_all": [
        [parked("a", 1, "JoinGroup", "sticky", "range"), parked("b", 2, "JoinGroup", "range"),
         started("a", "b", protocol="range")],
    ],
    "group_size": [
        [began(max_size=1), added("s", "i"), added("a"), parked("a", 1), started("a", "s")],
        [loaded(1, "a", "b", max_size=1),
         RequestParked(incarnation=1, generation=1, api="JoinGroup", request=1, member_id="a"),
         RequestParked(incarnation=1, generation=1, api="JoinGroup", request=2, member_id="b"),
         GenerationStarted(incarnation=1, generation=2, members=("a", "b"), leader="a")],
    ],
    "members_go_to_the_leader": [
        [joined("a", 1, shown=("a", "b")), joined("b", 2), joined("a", 3, shown=("a", "b"))],
        [added("a", "i"), joined("a", 1, shown=("a",)), removed("a", "replaced"), added("b", "i"),
         joined("b", 2, leader="b", shown=("b",))],
    ],
    "join_answers_agree": [
        [joined("a", 1), joined("b", 2)],
        [added("a", "i"), joined("a", 1), removed("a", "replaced"), added("b", "i"), joined("b", 2, leader="b")],
    ],
    "persisted_before_propagated": [
        [on_record(1, "a", assigned="x"), synced("a", 1, "x")],
        [on_record(1, "a", assigned="x"), added("a", "i"), removed("a", "replaced"), added("b", "i"),
         synced("b", 1, "x")],
    ],
    "one_assignment_per_generation": [[synced("a", 1, "x"), synced("a", 2, "x"), synced("b", 3, "y")]],
    "stable_is_persisted": [[began(), *IN_ONE, on_record(1, "a"), moved("Stable", "CompletingRebalance")]],
    "load_restores_the_log": [
        [on_record(1, "a", "b"), loaded(1, "a", "b")],
        # A record whose commit nobody saw may be in the log.
        [on_record(1, "a"), GroupMetadataWritten(incarnation=0, generation=2, members=("b",)), loaded(2, "b")],
        [on_record(2, "a"), LogTailLost(records=1), loaded(1, "a")],
        # One that was deposed before there was a group creates it, and the log of the other has what it had.
        [on_record(1, "a"), IncarnationStarted(incarnation=2, generation=0, status="Empty"), loaded(1, "a")],
    ],
    "only_empty_groups_are_deleted": [[GroupDeleted(incarnation=0, generation=1, status="Empty")]],
    "sync_is_fenced": [
        [began(), *IN_ONE, moved("Stable", "CompletingRebalance"), synced("a", 2)],
        [began(), *IN_ONE, synced("b", 2, error="UNKNOWN_MEMBER_ID")],
    ],
    "heartbeat_is_fenced": [
        [began(), *IN_ONE, beat("a"), beat("b", error="UNKNOWN_MEMBER_ID")],
        # A loading coordinator believes every heartbeat.
        [began(), HeartbeatReplied(incarnation=-1, generation=-1, request=1, error="NONE", member_id="b",
                                   request_generation=1)],
        # It waited for earlier writes, and is judged by when it came.
        [began(), *IN_ONE,
         RequestParked(incarnation=0, generation=1, api="Heartbeat", request=9, member_id="a", request_generation=1),
         moved("PreparingRebalance", "CompletingRebalance"), beat("a", 9)],
    ],
    "commit_is_fenced": [
        [began(), *IN_ONE, moved("Stable", "CompletingRebalance"), committed("a")],
        [began(), *IN_ONE, moved("PreparingRebalance", "CompletingRebalance"), committed("a")],
        [began(), committed("", asked=-1)],
    ],
    "instance_is_exclusive": [
        [began(), added("a", "i"), beat("a", instance="i")],
        [began(), added("a", "i"), removed("a", "replaced"), added("b", "i"),
         beat("a", instance="i", error="FENCED_INSTANCE_ID"), removed("b", "replaced"), added("a", "i"),
         beat("a", instance="i")],
    ],
    "one_response_per_request": [[parked("a", 1), beat("b", request=2), joined("a", 1)]],
    "committed_offsets_survive": [
        [accepted_commit("t-0"), loaded_with(("t-0", 5))],
        [accepted_commit("t-0"), LogTailLost(records=1), accepted_commit("t-1"), loaded_with(("t-1", 5))],
        [accepted_commit("t-0"), GroupDeleted(incarnation=0, generation=0, status="Empty"), accepted_commit("t-1"),
         loaded_with(("t-1", 5))],
    ],
}  # fmt: skip


def test_every_claim_of_these_families_is_here() -> None:
    assert set(HOLDS) == {invariant.name for invariant in CATALOGUE if invariant.family in FAMILIES}


@pytest.mark.parametrize(
    ("name", "events"), [pytest.param(name, events, id=name) for name, each in HOLDS.items() for events in each]
)
def test_a_claim_holds__and_has_checked_events(history: History, name: str, events: list[Event]) -> None:
    verdict = judge(history(*events), select([name])).verdict(name)

    assert isinstance(verdict, Held), verdict
    assert verdict.checked_events
