"""The smallest history of each claim about coordinators and clients in which it says something, and holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    LogTailLost,
    MemberAdded,
    MemberRemoved,
    OffsetCommitReplied,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Held, Untested

History = Callable[..., list[Event]]


def began(max_size: int = 0) -> IncarnationStarted:
    return IncarnationStarted(incarnation=0, generation=0, status="Empty", max_size=max_size)


def moved(to: str, from_: str = "PreparingRebalance", generation: int = 1) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=generation, from_status=from_, to_status=to)


def added(member: str, instance: str = "") -> MemberAdded:
    return MemberAdded(incarnation=0, generation=0, member_id=member, instance_id=instance)


def removed(member: str, reason: str = "left") -> MemberRemoved:
    return MemberRemoved(incarnation=0, generation=1, member_id=member, reason=reason)


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


IN_ONE: Final = (added("a"), parked("a", 1), started("a"), moved("CompletingRebalance"))

HOLDS: Final[dict[str, list[list[Event]]]] = {
    "one_member_per_instance": [[added("a", "i"), removed("a", "replaced"), added("b", "i"), added("c", "j")]],
    "leader_is_member": [
        # Before JoinGroup v9 the successor learns its predecessor's id.
        [added("a", "i"), started("a"), removed("a", "replaced"), added("b", "i"), joined("b", 2, leader="a")],
    ],
    "member_removal_has_a_cause": [
        [began(), *IN_ONE, removed("a", "sync timeout")],
        [began(), *IN_ONE, parked("a", 2, "SyncGroup"), synced("a", 2), removed("a", "session expired")],
    ],
    "generation_has_only_joined": [
        # Refused on account of a write, and still parked for the group.
        [added("a"), parked("a", 1),
         JoinGroupReplied(incarnation=0, generation=0, request=1, error="COORDINATOR_NOT_AVAILABLE"), started("a")],
    ],
    "selected_protocol_is_listed_by_all": [
        [parked("a", 1, "JoinGroup", "sticky", "range"), parked("b", 2, "JoinGroup", "range"),
         started("a", "b", protocol="range")],
    ],
    "one_leader": [
        [joined("a", 1, shown=("a", "b")), joined("b", 2), joined("a", 3, shown=("a", "b"))],
        [moved("Stable", "CompletingRebalance"), replace(joined("a", 1), skip_assignment=True)],
        [added("a", "i"), joined("a", 1, shown=("a",)), removed("a", "replaced"), added("b", "i"),
         joined("b", 2, leader="b", shown=("b",))],
    ],
    "persisted_before_propagated": [
        [on_record(1, "a", assigned="x"), synced("a", 1, "x")],
        [on_record(1, "a", assigned="x"), added("a", "i"), removed("a", "replaced"), added("b", "i"),
         synced("b", 1, "x")],
    ],
    "load_restores_the_log": [
        # A record whose commit nobody saw may be in the log.
        [on_record(1, "a"), GroupMetadataWritten(incarnation=0, generation=2, members=("b",)), loaded(2, "b")],
        # One that was deposed before there was a group creates it, and the log of the other has what it had.
        [on_record(1, "a"), IncarnationStarted(incarnation=2, generation=0, status="Empty"), loaded(1, "a")],
        # So do two.
        [on_record(1, "a"), *(IncarnationStarted(incarnation=one, generation=0, status="Empty") for one in (2, 3)),
         loaded(1, "a")],
    ],
    "requests_are_fenced": [
        [began(), *IN_ONE, moved("Stable", "CompletingRebalance"), synced("a", 2)],
        [began(), *IN_ONE, beat("a"), beat("b", error="UNKNOWN_MEMBER_ID")],
        # It waited for earlier writes, and is judged by when it came.
        [began(), *IN_ONE,
         RequestParked(incarnation=0, generation=1, api="Heartbeat", request=9, member_id="a", request_generation=1),
         moved("PreparingRebalance", "CompletingRebalance"), beat("a", 9)],
        [began(), *IN_ONE, moved("Stable", "CompletingRebalance"), committed("a")],
        [began(), *IN_ONE, moved("PreparingRebalance", "CompletingRebalance"), committed("a")],
        [began(), committed("", asked=-1)],
        [began(), added("a", "i"), moved("Stable", "CompletingRebalance"), removed("a", "replaced"), added("b", "i"),
         beat("a", 8, instance="i", error="FENCED_INSTANCE_ID"), removed("b", "replaced"), added("a", "i"),
         beat("a", 10, instance="i")],
    ],
}  # fmt: skip

UNTOUCHED: Final[dict[str, list[Event]]] = {
    # After LogTailLost nothing is known of the log.
    "load_restores_the_log": [on_record(2, "a"), LogTailLost(records=1), loaded(1, "a")],
    # A loading coordinator believes every heartbeat.
    "requests_are_fenced": [
        began(), HeartbeatReplied(incarnation=-1, generation=-1, request=1, error="NONE", member_id="b",
                                  request_generation=1),
    ],
}  # fmt: skip
"""Events that show nothing about an invariant."""


@pytest.mark.parametrize(
    ("name", "events"), [pytest.param(name, events, id=name) for name, each in HOLDS.items() for events in each]
)
def test_an_invariant_holds__and_could_have_failed(history: History, name: str, events: list[Event]) -> None:
    verdict = judge(history(*events), select([name])).verdict(name)

    assert isinstance(verdict, Held), verdict
    assert verdict.checked_events


@pytest.mark.parametrize("name", UNTOUCHED)
def test_an_invariant_is_untested__where_nothing_could_have_failed(history: History, name: str) -> None:
    assert isinstance(judge(history(*UNTOUCHED[name]), select([name])).verdict(name), Untested)
