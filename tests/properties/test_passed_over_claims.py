"""Claims that random edits asked for: the smallest histories in which each says something and holds, and breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CancelledWorkEnded,
    ConfigAppended,
    ConfigCompacted,
    ConnectAssignmentComputed,
    CoordinatorRested,
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupRested,
    GroupStatusChanged,
    HeartbeatReplied,
    HerderAsked,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MemberRested,
    MemberStarted,
    NodeChanged,
    OffsetCommitReplied,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsRevoked,
    RequestParked,
    RunStarted,
    SubscriptionChanged,
    SyncGroupReplied,
    TaskStarted,
    TaskStopped,
    TopicUsed,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]

PUNCTUAL: Final = RunStarted(subject="simulator", punctual=True)
UNAVAILABLE: Final = "COORDINATOR_NOT_AVAILABLE"
BEGAN: Final = IncarnationStarted(incarnation=0, generation=0, status="Empty", initial_rebalance_delay_ms=3_000)
GENERATION: Final = GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
STARTED: Final = MemberStarted(member="m0", topics=("t",), rebalance_timeout_ms=60_000, session_timeout_ms=10_000)


def moved(to: str, from_: str = "Stable", generation: int = 1) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=generation, from_status=from_, to_status=to)


def added(member: str, at: int = 0) -> MemberAdded:
    return MemberAdded(incarnation=0, generation=0, member_id=member, time_ms=at)


def parked(member: str, api: str = "JoinGroup", at: int = 0, request: int = 1) -> RequestParked:
    return RequestParked(incarnation=0, generation=0, api=api, request=request, member_id=member, time_ms=at,
                         rebalance_timeout_ms=60_000)  # fmt: skip


def began(generation: int, *members: str, at: int = 0) -> GenerationStarted:
    return GenerationStarted(incarnation=0, generation=generation, members=members, leader=members[0], time_ms=at)


def commit(error: str, generation: int = 1) -> OffsetCommitReplied:
    return OffsetCommitReplied(
        incarnation=0, generation=1, request=1, error=error, member_id="a", request_generation=generation
    )


def removed(member: str, at: int, reason: str = "left") -> MemberRemoved:
    return MemberRemoved(incarnation=0, generation=1, member_id=member, reason=reason, time_ms=at)


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


def completed(member: str, *owned: str) -> AssignmentCompleted:
    return AssignmentCompleted(member=f"m-{member}", generation=1, member_id=member, owned=owned)


DEALT: Final = dealt("sticky", ("t-0", "t-1"))
RECORD: Final = GroupMetadataAppended(incarnation=0, generation=1, members=("a",), offset=0)
WRITTEN: Final = GroupMetadataWritten(incarnation=0, generation=1, members=("a",))
ENDED: Final = IncarnationEnded(incarnation=0, generation=1)
ASSIGNING: Final = (
    PUNCTUAL, moved("CompletingRebalance", "PreparingRebalance"), GENERATION,
    RequestParked(incarnation=0, generation=1, api="SyncGroup", request=2, member_id="a"),
)  # fmt: skip
FAILED_SYNC: Final = SyncGroupReplied(
    incarnation=0, generation=1, request=2, error="COORDINATOR_NOT_AVAILABLE", member_id="a"
)
FIRST_PHASE: Final = (
    PUNCTUAL, BEGAN, added("a"), parked("a"), moved("PreparingRebalance", "Empty", 0),
)  # fmt: skip
NEXT_PHASE: Final = (PUNCTUAL, began(1, "a", "b"), moved("PreparingRebalance"), parked("a"))
RESTED: Final = (
    MemberRested(member="m0", generation=1, member_id="a", joined_topics=("t",)),
    GroupRested(status="Stable", instances=(("a", ""),), topics=(("a", ("t",)),)),
    CoordinatorRested(incarnation=0, generation=1, timeouts=(("a", 6_000, 0),), subscribed=("t",)),
)
WORKER: Final = WorkerConfigured(member="w0", mode="eager")
TASK: Final = TaskStarted(member="w0", generation=1, task="c-0")
STOPPED: Final = TaskStopped(member="w0", generation=1, task="c-0")
CANCELLED: Final = WorkCancelled(member="w0", generation=1, work="c-0")
USED: Final = TopicUsed(member="w0", generation=1, task="c-0", topic="t")
CONFIG: Final = ConfigAppended(writer="w0", offset=0, key="connector-c", value="{}")
TARGET: Final = ConfigAppended(writer="w0", offset=0, key="target-state-c", value=None)
REVOKED: Final = PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
JOINED: Final = MemberJoined(member="m0", generation=2, member_id="a")
COMMITTED: Final = OffsetCommitted(member="m0", generation=2, partition="t-0", offset=5, error="NONE")


def state(name: str) -> WorkStateChanged:
    return WorkStateChanged(member="w0", generation=1, work="c-0", state=name)


def round_of(
    protocol: str,
    claims: tuple[tuple[str, tuple[str, ...]], ...],
    assigned: tuple[tuple[str, tuple[str, ...]], ...],
) -> ConnectAssignmentComputed:
    return ConnectAssignmentComputed(
        member="w0", generation=2, protocol=protocol, leader="a", leader_url="u", config_offset=1, claims=claims,
        assigned=assigned, configured=("c", "c-0", "c-1", "d", "d-0"),
    )  # fmt: skip


def asked(operation: str) -> HerderAsked:
    return HerderAsked(member="w0", request=0, operation=operation, work="c")


def wanted(**topics: str) -> AssignmentComputed:
    """Two members that list these topics; the first is assigned t-0, the other u-0."""
    return replace(
        dealt("sticky", ("t-0",), ("u-0",)), wanted_topics=tuple((one, tuple(each)) for one, each in topics.items())
    )


HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "the topics are counted": (
        "offsets_of_its_topics_are_held", (*RESTED, *(replace(each, time_ms=7_000) for each in RESTED))
    ),
    "the last join ends the phase": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE, parked("b", at=5, request=2), began(2, "a", "b", at=5))
    ),
    "a member was waited for": ("last_join_ends_the_join_phase", (*NEXT_PHASE, began(2, "a", at=9))),
    "the delay was prolonged": (
        "new_members_prolong_the_initial_delay", (*FIRST_PHASE, added("b", 1_000), began(1, "a", "b", at=6_000))
    ),
    "the delay lasted as long as it may": (
        "new_members_prolong_the_initial_delay", (*FIRST_PHASE, added("b", 59_000), began(1, "a", "b", at=60_000))
    ),
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
    "its SyncGroup waits when its session ends": (
        "removed_member_is_answered", (parked("a", "SyncGroup"), removed("a", 1, "session expired"))
    ),
    "one more": ("shares_are_of_one_size", (PUNCTUAL, STARTED, dealt("roundrobin", ("t-0", "t-1"), ("t-2",)))),
    "each gets what it wants": ("assigned_topics_are_wanted", (wanted(a="t", b="tu"),)),
    "some subscriptions are not known": ("assigned_topics_are_wanted", (wanted(a="t"),)),
    "one more of each topic": (
        "shares_are_of_one_size", (PUNCTUAL, STARTED, dealt("range", ("t-0", "t-1", "u-0"), ("t-2",)))
    ),
    "it keeps a share": (
        "sticky_members_keep_their_share",
        (PUNCTUAL, STARTED, DEALT, completed("a", "t-0", "t-1"), dealt("sticky", ("t-0",), ("t-1",))),
    ),
    "what two claim belongs to neither": (
        "sticky_members_keep_their_share",
        (PUNCTUAL, STARTED,
         dealt("cooperative-sticky", ("t-1",), ("t-2",), owned=(("t-0", "t-1"), ("t-0",)))),
    ),
    "an id that it has": ("leave_names_a_member", (PUNCTUAL, STARTED, left())),
    "it was written": ("only_written_records_are_appended", (BEGAN, WRITTEN, RECORD)),
    "it loads": ("recorded_group_is_not_denied", (PUNCTUAL, BEGAN, RECORD, ENDED, beat(incarnation=-1))),
    "it was read": (
        "recorded_group_is_not_denied",
        (PUNCTUAL, BEGAN, RECORD, ENDED, beat(incarnation=-1), replace(BEGAN, incarnation=1),
         beat("UNKNOWN_MEMBER_ID", -1)),
    ),
    "a deposed one answers": (
        "recorded_group_is_not_denied",
        (PUNCTUAL, BEGAN, RECORD, ENDED, beat(incarnation=-1), replace(ENDED, deposed=True),
         beat("UNKNOWN_MEMBER_ID", -1)),
    ),
    "the write has ended": (
        "writes_are_answered", (STARTED, parked("a", "LeaveGroup"), left(at=5_000), beat(at=30_000))
    ),
    "it waits, then it is answered": ("only_open_requests_wait", (parked("a", "LeaveGroup"), left())),
    "a generation that it joined": (
        "claims_are_of_a_joined_generation",
        (PUNCTUAL, replace(JOINED, generation=1), dealt("sticky", ("t-0",), owned=(("t-0",),))),
    ),
    "it is assigned again": (
        "revoked_is_not_committed",
        (REVOKED, JOINED, PartitionsAssigned(member="m0", generation=2, partitions=("t-0",)), COMMITTED),
    ),
    "it is revoked once more": (
        "revoked_is_not_committed",
        (REVOKED, JOINED, PartitionsAssigned(member="m0", generation=2, partitions=("t-0",)),
         replace(REVOKED, generation=2), COMMITTED),
    ),
    "what it claims counts": (
        "workers_get_shares_of_one_size",
        (PUNCTUAL, round_of("sessioned", (("a", ("c", "c-0")), ("b", ("d",))), (("a", ()), ("b", ("d-0", "c-1")))),),
    ),
    "an eager round deals all": (
        "workers_get_shares_of_one_size",
        (PUNCTUAL, round_of("default", (("a", ("c", "d")), ("b", ())), (("a", ("c", "c-0", "c-1")), ("b", ("d",
         "d-0")))),),
    ),
    "it has stopped": ("worker_leaves_when_its_work_has_stopped", (PUNCTUAL, TASK, STOPPED, MemberLeft(member="w0"))),
    "it was waited for": ("worker_leaves_when_its_work_has_stopped", (PUNCTUAL, TASK, CANCELLED,
    MemberLeft(member="w0"))),
    "it runs": ("only_running_tasks_use_topics", (PUNCTUAL, TASK, state("PAUSED"), state("RUNNING"), USED)),
    "it was started anew": ("only_running_tasks_use_topics", (PUNCTUAL, TASK, state("FAILED"), STOPPED, TASK, USED)),
    "it was asked to pause": ("target_states_are_asked_for", (PUNCTUAL, WORKER, asked("pause"), TARGET)),
    "no event says what its writer was asked": (
        "target_states_are_asked_for", (PUNCTUAL, WORKER, asked("pause"), replace(TARGET, writer="operator"), TARGET)
    ),
    "a later record stays": (
        "compaction_keeps_the_last", (CONFIG, replace(CONFIG, offset=1), ConfigCompacted(removed=(0,)))
    ),
    "a tombstone goes": ("compaction_keeps_the_last", (TARGET, ConfigCompacted(removed=(0,)))),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "the coordinator waits for a member that left": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE, removed("b", 5), left(member="b", at=5), began(2, "a", at=9))
    ),
    "the coordinator ends before the join phase": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE, parked("b", at=5, request=2), replace(ENDED, time_ms=9))
    ),
    "the coordinator is deposed": (
        "last_join_ends_the_join_phase",
        (*NEXT_PHASE, parked("b", at=5, request=2), replace(ENDED, time_ms=9, deposed=True)),
    ),
    "the coordinator resigns": (
        "last_join_ends_the_join_phase",
        (*NEXT_PHASE, parked("b", at=5, request=2), replace(moved("Dead", "PreparingRebalance"), time_ms=9)),
    ),
    "an eager member": (
        "sticky_members_keep_their_share",
        (PUNCTUAL, STARTED, DEALT, completed("a", "t-0", "t-1"), dealt("sticky", ("t-2",), ("t-1", "t-0"))),
    ),
    "an assignment is awaited": (
        "only_returning_leaders_skip",
        (GENERATION, moved("CompletingRebalance", "PreparingRebalance"),
         JoinGroupReplied(incarnation=0, generation=1, request=1, error="NONE", reply_generation=1,
                          assigned_member_id="a", leader="a", skip_assignment=True)),
    ),
    "a worker with all tasks": (
        "workers_get_shares_of_one_size",
        (PUNCTUAL, round_of("sessioned", (("a", ("c", "c-0", "c-1")), ("b", ("d",))), (("a", ("d-0",)), ("b", ()))),),
    ),
    "another wants it": ("assigned_topics_are_wanted", (wanted(a="tu", b="t"),)),
    "it wants nothing": ("assigned_topics_are_wanted", (wanted(a="t", b=""),)),
    "no range of one topic": (
        "shares_are_of_one_size", (PUNCTUAL, STARTED, dealt("range", ("t-0", "t-1", "u-0"), ("u-1",)))
    ),
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
    "its JoinGroup waits when its session ends": (
        "removed_member_is_answered", (parked("a"), removed("a", 1, "session expired"))
    ),
    "its SyncGroup waits when it is replaced": (
        "removed_member_is_answered", (parked("a", "SyncGroup"), removed("a", 1, "replaced"))
    ),
    "a cooperative member": (
        "sticky_members_keep_their_share",
        (PUNCTUAL, STARTED, dealt("cooperative-sticky", ("t-1",), ("t-0",), owned=(("t-0",), ("t-1",)))),
    ),
    "a record that was written once": ("only_written_records_are_appended", (BEGAN, WRITTEN, RECORD, RECORD)),
    "a coordinator that resigns begins no rebalance": (
        "unwritten_assignment_begins_a_rebalance",
        (*ASSIGNING, replace(FAILED_SYNC, error="NOT_COORDINATOR"), moved("Dead", "CompletingRebalance")),
    ),
    "a member joins again": ("unwritten_assignment_begins_a_rebalance", (*ASSIGNING, FAILED_SYNC, parked("a"))),
    "what was not written is handed out": (
        "unwritten_assignment_begins_a_rebalance",
        (*ASSIGNING, FAILED_SYNC, moved("Stable", "CompletingRebalance")),
    ),
    "another SyncGroup is answered later": (
        "unwritten_assignment_begins_a_rebalance",
        (*ASSIGNING, FAILED_SYNC, replace(FAILED_SYNC, request=3, member_id="b", error="NONE", time_ms=9)),
    ),
    "a task that failed": ("only_running_tasks_use_topics", (PUNCTUAL, TASK, state("FAILED"), USED)),
}  # fmt: skip

SILENT: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "another assignor dealt it out": (
        "sticky_members_keep_their_share",
        (PUNCTUAL, STARTED, DEALT, dealt("range", ("t-0", "t-1")), completed("a", "t-0", "t-1"),
         dealt("sticky", ("t-2",), ("t-1",))),
    ),
    "work waits": (
        "workers_get_shares_of_one_size", (PUNCTUAL, round_of("sessioned", (("a", ("c", "c-0", "c-1")), ("b",
        ())), ()),)
    ),
    "a member that left ends the phase": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE, parked("b", at=5, request=2), left(), began(2, "a", at=9))
    ),
    "the coordinator ends with the last join": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE, parked("b", at=9, request=2), replace(ENDED, time_ms=9))
    ),
    "a member is waited for when the coordinator ends": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE, replace(ENDED, time_ms=9))
    ),
    "an id is waited for when the coordinator ends": (
        "last_join_ends_the_join_phase",
        (*NEXT_PHASE, JoinGroupReplied(incarnation=0, generation=1, request=3, error="MEMBER_ID_REQUIRED",
                                       assigned_member_id="c"),
         parked("b", at=5, request=2), replace(ENDED, time_ms=9)),
    ),
    "the phase ends with a member that was waited for": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE, removed("b", 9), left(member="b", at=9), began(2, "a", at=9))
    ),
    "some want more": (
        "shares_are_of_one_size",
        (PUNCTUAL, STARTED, SubscriptionChanged(member="m1", topics=("t", "u")), dealt("sticky", ("t-0", "t-1"), ())),
    ),
    "time is real": (
        "last_join_ends_the_join_phase", (*NEXT_PHASE[1:], parked("b", request=2), began(2, "a", "b", at=9))
    ),
    "the log cannot be read": (
        "recorded_group_is_not_denied",
        (PUNCTUAL, BEGAN, RECORD, ENDED, NodeChanged(node=1, change="load-failed"), beat("UNKNOWN_MEMBER_ID", -1)),
    ),
    "the group was deleted": (
        "recorded_group_is_not_denied",
        (PUNCTUAL, BEGAN, RECORD, GroupDeleted(incarnation=0, generation=1, status="Empty"), ENDED,
         beat("UNKNOWN_MEMBER_ID", -1)),
    ),
    "a follower is refused": (
        "unwritten_assignment_begins_a_rebalance",
        (*ASSIGNING, replace(FAILED_SYNC, request=3, member_id="b"), beat()),
    ),
    "the next rebalance had begun": (
        "unwritten_assignment_begins_a_rebalance",
        (*ASSIGNING, moved("PreparingRebalance", "CompletingRebalance"), FAILED_SYNC, beat()),
    ),
    "its process crashed": ("cancelled_work_ends", (PUNCTUAL, TASK, CANCELLED, MemberCrashed(member="w0"))),
    "it ended at last": (
        "cancelled_work_ends", (PUNCTUAL, TASK, CANCELLED, CancelledWorkEnded(member="w0", generation=1, work="c-0"))
    ),
}  # fmt: skip
"""What these claims say nothing about."""


@pytest.mark.parametrize("case", HELD)
def test_what_a_claim_allows__holds(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_what_a_claim_forbids__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("case", SILENT)
def test_what_a_claim_is_not_about__breaks_nothing(history: History, case: str) -> None:
    name, events = SILENT[case]
    assert judge(history(*events), select([name])).outcome is not Outcome.VIOLATED
