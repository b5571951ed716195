"""A record that is complete and agrees with itself holds; one that leaves something out, or says two things, breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ON_JOIN_COMPLETE,
    ON_LEAVE_PREPARE,
    AssignmentCompleted,
    AssignmentComputed,
    CallbackEnded,
    CallbackStarted,
    ConnectAssignmentComputed,
    CoordinatorElected,
    CoordinatorFound,
    CoordinatorRested,
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupRested,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LookUpAnswered,
    LookUpSent,
    MemberClosing,
    MemberCrashed,
    MemberJoined,
    MemberRemoved,
    MemberRested,
    MembershipLost,
    MemberStarted,
    NodeChanged,
    OffsetCommitted,
    RequestAnswered,
    RequestParked,
    RequestSent,
    RestingStateRead,
    RunStarted,
    StatusAttempted,
    SubscriptionChanged,
    SyncGroupReplied,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
ANSWERS, REPLIES, NUMBERS = "answers_fit_the_record", "replies_repeat_their_requests", "numbers_have_no_gaps"
LOSSES, ASSIGNED, LOOKS = "losses_are_recorded_once", "assignments_are_recorded", "looks_are_whole"
NAMES, LEARNED, COMMON = "events_name_their_membership", "learned_topics_are_new", "rebalance_protocol_is_common"
WISHES: Final = "wanted_topics_are_recorded"


def began(incarnation: int = 0, generation: int = 0, protocol: str = "range") -> IncarnationStarted:
    members = ("a",) if generation else ()
    return IncarnationStarted(
        incarnation=incarnation, generation=generation, status="Stable" if members else "Empty", members=members,
        leader="a" if members else "", protocol=protocol if members else "",
        session_timeout_ms=10_000 if members else 0, rebalance_timeout_ms=30_000 if members else 0,
    )  # fmt: skip


def generation(number: int = 1, leader: str = "a", protocol: str = "range") -> GenerationStarted:
    return GenerationStarted(incarnation=0, generation=number, members=("a", "b"), leader=leader, protocol=protocol)


def accepted(number: int = 1, leader: str = "a", protocol: str = "range", error: str = "NONE") -> JoinGroupReplied:
    return JoinGroupReplied(
        incarnation=0, generation=1, request=1, error=error, member_id="b", assigned_member_id="b",
        reply_generation=number, leader=leader, protocol=protocol, protocols=("range",),
    )  # fmt: skip


def beat(incarnation: int = 0) -> HeartbeatReplied:
    return HeartbeatReplied(incarnation=incarnation, generation=1, request=2, error="NONE", member_id="a")


def ended(incarnation: int = 0, *, deposed: bool = False) -> IncarnationEnded:
    return IncarnationEnded(incarnation=incarnation, generation=1, deposed=deposed)


def parked(api: str = "JoinGroup", member_id: str = "b", protocols: tuple[str, ...] = ("range",)) -> RequestParked:
    return RequestParked(
        incarnation=0, generation=1, api=api, request=1, member_id=member_id, protocols=protocols,
        request_generation=1 if api == "SyncGroup" else -1,
    )  # fmt: skip


def synced(request_generation: int = 1) -> SyncGroupReplied:
    return SyncGroupReplied(
        incarnation=0, generation=1, request=1, error="NONE", member_id="b", request_generation=request_generation
    )


def sent(request: int, api: str = "Heartbeat", member_id: str = "a") -> RequestSent:
    return RequestSent(member="m0", api=api, request=request, generation=1, member_id=member_id)


def joins(*protocols: str) -> RequestSent:
    return RequestSent(member="m0", api="JoinGroup", request=1, protocols=protocols)


def look_up(request: int) -> LookUpSent:
    return LookUpSent(member="m0", request=request)


def wrote(attempt: int, worker: str = "w0") -> StatusAttempted:
    return StatusAttempted(worker=worker, key="k", attempt=attempt, status="RUNNING", generation=1, safe=True)


def joined(member_id: str = "a", number: int = 1) -> MemberJoined:
    return MemberJoined(member="m0", generation=number, member_id=member_id)


def lost(member_id: str = "a", number: int = 1) -> MembershipLost:
    return MembershipLost(member="m0", generation=number, member_id=member_id, reason="UNKNOWN_MEMBER_ID")


def left() -> MembershipLost:
    return replace(lost(), reason="poll timeout expired")


def answered(number: int) -> RequestAnswered:
    return RequestAnswered(member="m0", api="JoinGroup", request=1, error="NONE", generation=number, protocol="range")


def looked_up(node: int) -> LookUpAnswered:
    return LookUpAnswered(member="m0", request=0, error="NONE", node=node)


def computed(member_id: str = "a", *share: str, number: int = 1) -> AssignmentComputed:
    return AssignmentComputed(member="m1", generation=number, assignments=((member_id, share),))


def assigned(*share: str) -> RequestAnswered:
    return RequestAnswered(member="m0", api="SyncGroup", request=2, error="NONE", assignment=share)


def at_rest(*topics: str) -> MemberRested:
    return MemberRested(member="m0", generation=1, member_id="a", joined_topics=topics)


def group(status: str = "Stable", topics: tuple[str, ...] = ("t",)) -> GroupRested:
    return GroupRested(status=status, protocol="range", topics=(("a", topics),))


def read(subject: str, role: str, *, is_new: bool = False) -> RestingStateRead:
    return RestingStateRead(subject=subject, role=role, state=(), is_new=is_new)


def arrived(number: int) -> HeartbeatReplied:
    return replace(beat(), request=number)


def committed(member_id: str, number: int = 1) -> OffsetCommitted:
    return OffsetCommitted(member="m0", generation=number, member_id=member_id, partition="t-0", offset=1, error="NONE")


def wants(*topics: str) -> SubscriptionChanged:
    return SubscriptionChanged(member="m0", topics=topics)


def takes_over(*partitions: str) -> AssignmentCompleted:
    return AssignmentCompleted(member="m0", generation=1, member_id="a", owned=partitions)


def looked_at(*topics: str) -> MemberRested:
    return MemberRested(member="m0", generation=1, member_id="a", topics=topics)


def consumer(protocol: str, *assignors: str) -> MemberStarted:
    return MemberStarted(member="m0", protocol=protocol, assignors=assignors, topics=("t",))


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED, CRASHED = MemberStarted(member="m0"), MemberCrashed(member="m0")
PAUSED: Final = NodeChanged(node=0, change="paused")
ELECTED: Final = CoordinatorElected(node=1, incarnation=1)
KEPT: Final = CoordinatorRested(incarnation=0, generation=1)
APPLIES: Final = CallbackStarted(member="m0", generation=1, callback=ON_JOIN_COMPLETE)
APPLIED: Final = CallbackEnded(member="m0", callback=ON_JOIN_COMPLETE, outcome="finished")
WANTED: Final = (RUN, consumer("eager", "range"))
LEAVES: Final = CallbackStarted(member="m0", generation=1, callback=ON_LEAVE_PREPARE)
SERVES: Final = (RUN, began(), generation())
DEALT: Final = ConnectAssignmentComputed(
    member="m1", generation=1, protocol="default", leader="a", leader_url="", config_offset=1, assigned=(("a", ("c",)),)
)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "what began is in the answer": (ANSWERS, (*SERVES, accepted())),
    "a loaded generation is in the answer": (ANSWERS, (RUN, began(0, 1), accepted())),
    "a refusal says nothing": (ANSWERS, (*SERVES, accepted(-1, "", "", "MEMBER_ID_REQUIRED"))),
    "a leader came back under another id": (
        ANSWERS, (*SERVES, MemberRemoved(incarnation=0, generation=1, member_id="a", reason="replaced"),
                  accepted(1, "a-2"))
    ),
    "a deposed one answers": (ANSWERS, (*SERVES, ended(deposed=True), beat())),
    "no coordinator leads": (ANSWERS, (*SERVES, ended(), beat(-1))),
    "it has ended before another is elected": (ANSWERS, (*SERVES, ended(), ELECTED, began(1, 1))),
    "the group was deleted": (
        ANSWERS, (*SERVES, GroupDeleted(incarnation=0, generation=1, status="Empty"), ELECTED, began(1))
    ),
    "a paused node begins late": (ANSWERS, (RUN, PAUSED, began(), generation(), ELECTED)),
    "a paused one is deposed": (ANSWERS, (*SERVES, PAUSED, ended(deposed=True), ELECTED)),
    "kept and answered": (REPLIES, (RUN, joins("range"), parked(), accepted())),
    "kept under a new id": (REPLIES, (RUN, joins("range"), parked(member_id="b"), accepted())),
    "a sync that was kept": (REPLIES, (RUN, parked("SyncGroup", protocols=()), synced())),
    "requests and look-ups": (NUMBERS, (RUN, STARTED, look_up(0), sent(1), sent(2))),
    "another process counts anew": (NUMBERS, (RUN, STARTED, look_up(0), sent(1), CRASHED, STARTED, look_up(0))),
    "each store counts for itself": (NUMBERS, (RUN, wrote(0), wrote(1), wrote(0, "w0/2"))),
    "what arrives": (NUMBERS, (RUN, parked(), arrived(2), accepted(), arrived(3))),
    "what it was answered": (
        NAMES, (RUN, answered(1), replace(joined(), protocol="range"), looked_up(2),
                CoordinatorFound(member="m0", node=2))
    ),
    "its own id": (NAMES, (RUN, joined(), committed("a"))),
    "of the generation before": (NAMES, (RUN, joined(), joined("b", 2), committed("a"), committed("b", 2))),
    "a generation that came again": (NAMES, (RUN, joined(), joined("b"), committed("a"))),
    "a topic is new": (LEARNED, (*WANTED, APPLIES, wants("t", "u"), APPLIED)),
    "its assignors are eager": (COMMON, (RUN, consumer("eager", "cooperative-sticky", "range"))),
    "all its assignors are cooperative": (COMMON, (RUN, consumer("cooperative", "cooperative-sticky"))),
    "lost, then joined anew": (LOSSES, (RUN, STARTED, joined(), lost(), sent(3, "JoinGroup", ""))),
    "it joins again": (LOSSES, (RUN, STARTED, joined(), sent(3, "JoinGroup"), joined(number=2), lost(number=2))),
    "it left, and joins anew": (LOSSES, (RUN, STARTED, joined(), left(), sent(3, "JoinGroup", ""))),
    "another process": (LOSSES, (RUN, STARTED, joined(), CRASHED, STARTED, sent(0, "JoinGroup", ""))),
    "it loses it while it closes": (LOSSES, (RUN, STARTED, joined(), MemberClosing(member="m0"), lost(), LEAVES)),
    "what was computed": (ASSIGNED, (RUN, joined(), computed("a", "t-0"), assigned("t-0"))),
    "by a worker": (ASSIGNED, (RUN, joined(), DEALT, assigned("c"))),
    "by one of two leaders": (
        ASSIGNED, (RUN, joined(), computed("a", "t-0"), computed("a", "t-1"), assigned("t-0"))
    ),
    "under the id before": (ASSIGNED, (RUN, joined("a-2"), computed("a", "t-0"), assigned("t-0"))),
    "a whole look": (LOOKS, (RUN, at_rest("t"), group(), KEPT)),
    "a pattern learned more": (LOOKS, (RUN, at_rest("t", "u"), group(), KEPT)),
    "in another order": (LOOKS, (RUN, group(), KEPT, at_rest("t"))),
    "an empty group": (LOOKS, (RUN, at_rest("t"), group(), KEPT, replace(at_rest(), time_ms=7_000), group("Dead"))),
    "all were read": (
        LOOKS, (RUN, at_rest("t"), group(), KEPT, read("m0", "leader"), read("coordinator", "coordinator"))
    ),
    "it wants what it said": (WISHES, (*WANTED, takes_over("t-0"), wants("u"), takes_over("u-1"), looked_at("u"))),
    "it gets none of what it wants": (WISHES, (*WANTED, wants("t", "u"), takes_over("t-0"), looked_at("u", "t"))),
    "it wants nothing": (WISHES, (*WANTED, wants(), looked_at())),
    "it read its log anew, and took it for empty": (
        ANSWERS, (*SERVES, replace(PAUSED, change="load-failed"), ELECTED)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "no begin of the generation": (ANSWERS, (RUN, began(), accepted())),
    "another generation is in the answer": (ANSWERS, (*SERVES, accepted(2))),
    "another leader is in the answer": (ANSWERS, (*SERVES, accepted(1, "b"))),
    "another protocol is in the answer": (ANSWERS, (*SERVES, accepted(1, "a", "roundrobin"))),
    "a generation without a protocol": (ANSWERS, (RUN, began(), generation(protocol=""))),
    "a generation without a leader": (ANSWERS, (RUN, began(), generation(leader=""))),
    "a group without a protocol": (ANSWERS, (RUN, began(0, 1, ""))),
    "no begin of the incarnation": (ANSWERS, (*SERVES, beat(1))),
    "it answers after its end": (ANSWERS, (*SERVES, ended(), beat())),
    "a deposed one answers after its end": (ANSWERS, (*SERVES, ended(deposed=True), ended(), beat())),
    "no end of the incarnation": (ANSWERS, (*SERVES, ELECTED)),
    "a paused one is not deposed": (ANSWERS, (*SERVES, PAUSED, ELECTED)),
    "a member learns no id": (ANSWERS, (*SERVES, replace(accepted(), assigned_member_id=""))),
    "protocols are missing": (
        REPLIES, (RUN, joins("range", "sticky"), parked(protocols=("range", "sticky")), accepted())
    ),
    "no member sent it": (REPLIES, (RUN, joins("sticky"), parked(), accepted())),
    "another member": (REPLIES, (RUN, joins("range"), parked(member_id="c"), accepted())),
    "another generation is named": (REPLIES, (RUN, parked("SyncGroup", protocols=()), synced(2))),
    "a request is left out": (NUMBERS, (RUN, STARTED, look_up(0), sent(2))),
    "a number comes twice": (NUMBERS, (RUN, STARTED, look_up(0), sent(0))),
    "the first number": (NUMBERS, (RUN, STARTED, look_up(1))),
    "what arrived is left out": (NUMBERS, (RUN, arrived(1), arrived(3))),
    "what arrived first": (NUMBERS, (RUN, arrived(2))),
    "another id": (NAMES, (RUN, joined(), committed("b"))),
    "another generation than was answered": (NAMES, (RUN, answered(2), replace(joined(), protocol="range"))),
    "another protocol than was answered": (NAMES, (RUN, answered(1), joined())),
    "another node": (NAMES, (RUN, joined(), looked_up(1), CoordinatorFound(member="m0", node=2))),
    "a node that no answer named": (NAMES, (RUN, joined(), CoordinatorFound(member="m0", node=2))),
    "no id": (NAMES, (RUN, joined(), committed(""))),
    "no topic is new": (LEARNED, (*WANTED, APPLIES, wants("t"))),
    "topics are gone": (LEARNED, (*WANTED, APPLIES, wants())),
    "not the highest": (COMMON, (RUN, consumer("eager", "cooperative-sticky"))),
    "not of all": (COMMON, (RUN, consumer("cooperative", "cooperative-sticky", "range"))),
    "timeouts without members": (ANSWERS, (RUN, replace(began(), session_timeout_ms=1))),
    "less than no time": (ANSWERS, (RUN, replace(began(), session_timeout_ms=-1))),
    "a write is left out": (NUMBERS, (RUN, wrote(0), wrote(2))),
    "the first write": (NUMBERS, (RUN, wrote(1))),
    "no loss": (LOSSES, (RUN, STARTED, joined(), sent(3, "JoinGroup", ""))),
    "it joins under the id with which it left": (LOSSES, (RUN, STARTED, joined(), left(), sent(3, "JoinGroup", "a"))),
    "lost twice": (LOSSES, (RUN, STARTED, joined(), lost(), lost())),
    "another generation is lost": (LOSSES, (RUN, STARTED, joined(), lost(number=2))),
    "lost after it left": (LOSSES, (RUN, STARTED, joined(), MemberClosing(member="m0"), LEAVES, lost())),
    "nothing was computed": (ASSIGNED, (RUN, joined(), assigned("t-0"))),
    "of another generation": (ASSIGNED, (RUN, joined(), computed("a", "t-0", number=2), assigned("t-0"))),
    "another share": (ASSIGNED, (RUN, joined(), computed("a", "t-1"), assigned("t-0"))),
    "no coordinator": (LOOKS, (RUN, at_rest("t"), group())),
    "only one look has its coordinator": (LOOKS, (RUN, at_rest("t"), group(), KEPT, replace(group(), time_ms=7_000))),
    "joined for nothing": (LOOKS, (RUN, at_rest(), group(), KEPT)),
    "its coordinator was not read": (
        LOOKS, (RUN, at_rest("t"), group(), KEPT, read("m0", "leader"),
                read("coordinator", "coordinator", is_new=True))
    ),
    "it takes what it does not want": (WISHES, (*WANTED, takes_over("t-0", "u-0"))),
    "it takes what it wanted before": (WISHES, (*WANTED, wants("u"), takes_over("t-0"))),
    "it wants more": (WISHES, (*WANTED, looked_at("t", "u"))),
    "it wants less": (WISHES, (*WANTED, wants("t", "u"), looked_at("t"))),
    "it wants something again": (WISHES, (*WANTED, wants(), looked_at("t"))),
    "another process wants what it is started with": (WISHES, (*WANTED, wants("u"), WANTED[1], looked_at("u"))),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_a_complete_record_holds(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_is_left_out_is_seen(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_observers_that_may_miss_something_are_not_judged(
    history: History, claim: str, events: tuple[Event, ...]
) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
