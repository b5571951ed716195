"""Causes: nothing happens without one of the causes that Kafka's code knows for it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import CHECKED, Effect, Excused, Finding, Findings, broken, cause, form
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED, REFUSED_MEMBERS, Incarnation, Incarnations

# ---------------------------------------------------------------------------------------------- a rebalance

_OF_THE_SENDER: Final = REFUSED_MEMBERS | {
    ACCEPTED, "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "INCONSISTENT_GROUP_PROTOCOL"
}  # fmt: skip
"""The answers to a SyncGroup that concern its sender; any other says that the assignment could not be written."""


def _rebalances(event: GroupStatusChanged, incarnations: Incarnations) -> Effect | None:
    group = incarnations.current
    if event.to_status != GroupStatus.PREPARING_REBALANCE or not incarnations.tells_parked or group is None:
        return None
    return Effect(
        event.incarnation,
        f"a rebalance begins in generation {event.generation}, and nothing asked for it",
        f"the group left {event.from_status} for a rebalance at {STEP}",
        event,
        excused="an id that was handed out and not used may have left" if group.pending else "",
    )


def _outgrown(event: IncarnationStarted, *_views: object) -> int | None:
    """A group that has outgrown ``group.max.size`` rebalances when it is loaded."""
    return event.incarnation if 0 < event.max_size < len(event.members) else None


def _comes(event: MemberAdded, incarnations: Incarnations) -> int | None:
    """A new member asks for one; a static one that takes the slot of its predecessor may ask when it is parked."""
    group = incarnations.current
    return event.incarnation if group is None or event.member_id not in group.predecessors else None


def _goes(event: MemberRemoved, incarnations: Incarnations) -> int | None:
    """Others get the partitions of a member that is gone; one that was replaced before it had synced leaves its debt
    behind (pendingSyncMembers), and the sync timeout may start a rebalance though all have synced."""
    group = incarnations.current
    owes = group is not None and not group.had_synced
    return event.incarnation if event.reason != "replaced" or owes else None


def _is_not_written(event: SyncGroupReplied, incarnations: Incarnations) -> int | None:
    """An assignment that could not be written is computed once more; a coordinator that resigns answers of none."""
    if event.error in _OF_THE_SENDER:
        return None
    latest = incarnations.latest
    is_of_none = event.incarnation == UNKNOWN_INCARNATION
    return latest.incarnation if is_of_none and latest is not None else event.incarnation


def _asks(event: RequestParked, incarnations: Incarnations) -> int | None:
    """A JoinGroup asks for a rebalance where it changes something."""
    group = incarnations.current
    if event.api != Api.JOIN_GROUP or group is None:
        return None
    before = group.join_before.metadata if group.join_before is not None else ""
    return event.incarnation if _changes(group, event, before) else None


def _changes(group: Incarnation, event: RequestParked, before: str) -> bool:
    if event.member_id in group.predecessors and not before:
        return _takes_over(group, event)
    if not before or not event.metadata or event.metadata != before:
        return True
    return group.status == GroupStatus.STABLE and event.member_id == _leader_of(group)


def _leader_of(group: Incarnation) -> str:
    led = group.started or group.begun
    return group.heir_of(led.leader) if led is not None else ""


def _takes_over(group: Incarnation, event: RequestParked) -> bool:
    """A static member that comes back leaves a Stable group alone, unless its protocols may change the vote."""
    if group.status != GroupStatus.STABLE:
        return True
    listed = {group.listed.get(member, ()) for member in group.members}
    listed.add(group.listed.get(group.predecessors[event.member_id], ()))
    return len(listed) != 1 or () in listed


def _begins_anew(event: GenerationStarted | IncarnationStarted, *_views: object) -> int:
    return event.incarnation


RebalanceHasACause: Final = Invariant(
    name="rebalance_has_a_cause",
    family="causes",
    claim="the coordinator starts a rebalance only for a cause since the last generation: a new member, a join with "
    "other metadata or of the leader, a member that is gone, an assignment that could not be written",
    source="GroupMetadataManager.classicGroupJoinToClassicGroup, classicGroupLeaveToClassicGroup, "
    "updateStaticMemberThenRebalanceOrCompleteJoin; KIP-345",
    premises=(
        "the history holds the coordinator's events, with the requests it keeps",
        "a join counts as a change where the metadata of the one before is unknown, as after a failover",
        "an id that was handed out and not used may leave, too: the answer to that follows the rebalance",
        "a static member that was replaced before it had synced leaves its debt behind in Kafka (pendingSyncMembers): "
        "the sync timeout may start a rebalance though all have synced",
    ),
    exempted_by=(
        GenerationStarted,
        IncarnationStarted,
        JoinGroupReplied,
        MemberAdded,
        MemberRemoved,
        RequestParked,
        SyncGroupReplied,
    ),
    evidence=Evidence.CONCERNED,
    fold=cause(
        {GroupStatusChanged: _rebalances},
        {
            IncarnationStarted: _outgrown,
            MemberAdded: _comes,
            MemberRemoved: _goes,
            SyncGroupReplied: _is_not_written,
            RequestParked: _asks,
        },
        lacks="no member had come, changed or gone, and every assignment was written",
        ends={GenerationStarted: _begins_anew, IncarnationStarted: _begins_anew},
        keeps_causes=True,
        views=(Incarnations,),
        needs=((RequestParked,),),
    ),
    opening="""
        MemberAdded(member_id="a")
        RequestParked(api="JoinGroup", member_id="a", metadata="x")
        GenerationStarted(generation=1, members=("a",), leader="a")
    """,
    breaks="""GroupStatusChanged(generation=1, from_status="Stable", to_status="PreparingRebalance")""",
    holds="""
        RequestParked(generation=1, api="JoinGroup", member_id="a", metadata="y")
        GroupStatusChanged(generation=1, from_status="Stable", to_status="PreparingRebalance")
    """,
    excuses="""
        JoinGroupReplied(generation=1, error="MEMBER_ID_REQUIRED", assigned_member_id="b")
        GroupStatusChanged(generation=1, from_status="Stable", to_status="PreparingRebalance")
    """,
)

# ---------------------------------------------------------------------------------------------- a removal


def _removed_for_a_cause(event: MemberRemoved, incarnations: Incarnations) -> Findings:
    group = incarnations.current
    if group is None:
        return None
    match event.reason:
        case "session expired":
            return _was_silent(event, group)
        case "sync timeout" if group.status:
            return _owed_its_sync(event, group)
        case "group size" if group.begun is not None:
            return _had_no_place(event, group, group.begun.max_size)
    return None


def _was_silent(event: MemberRemoved, group: Incarnation) -> Findings:
    """A client sends no heartbeat while it waits in JoinGroup, and may be slow to in SyncGroup."""
    last, kept = group.started, group.left_behind
    if last is None or event.member_id not in last.members:
        return Excused("is new") if kept else None
    if kept is None:
        return CHECKED
    return broken(
        f"{event.member_id} is removed for its silence, and waits for the answer to its {kept.api}",
        (f"{event.member_id} is a member of generation {last.generation}, which began at {STEP};", last),
        (f"the coordinator kept its {kept.api} from {STEP} on;", kept),
        (f"yet its session ended at {STEP}: contradiction.", event),
    )


def _owed_its_sync(event: MemberRemoved, group: Incarnation) -> Finding:
    """The sync timeout is for members that owe a SyncGroup of the current generation."""
    if group.status not in {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}:
        why = f"the group is {group.status}, where no member owes a SyncGroup"
    elif group.had_synced:
        why = f"it had sent its SyncGroup for generation {event.generation}"
    else:
        return CHECKED
    return broken(
        f"{event.member_id} is removed for a SyncGroup that it does not owe",
        *([(f"generation {event.generation} started at {STEP}.", group.started)] if group.started else []),
        (f"{why}, and the sync timeout removed it at {STEP}: contradiction.", event),
    )


def _had_no_place(event: MemberRemoved, group: Incarnation, max_size: int) -> Finding:
    """In a join phase, as many others as fit wait already."""
    if len(group.joined) >= max_size or group.status != GroupStatus.PREPARING_REBALANCE:
        return CHECKED
    why = f"{len(group.joined)} members wait in JoinGroup, and there is capacity for {max_size}"
    return broken(
        f"{event.member_id} is removed for the group's size; {why}",
        (f"{event.member_id} is removed at {STEP}, and {why}: contradiction.", event),
    )


MemberRemovalHasACause: Final = Invariant(
    name="member_removal_has_a_cause",
    family="causes",
    claim="a member is removed for its silence only if no JoinGroup or SyncGroup of it waits at the coordinator, or it "
    "is new, by the sync timeout only if it owes the SyncGroup of the current generation, and for the group's size "
    "only if as many others as fit have joined",
    source="ClassicGroupMember.hasSatisfiedHeartbeat; GroupMetadataManager.expireClassicGroupMemberHeartbeat, "
    "expirePendingSync; ClassicGroup.pendingSyncMembers; KIP-389",
    premises=(
        "the history holds the coordinator's events, with the requests it keeps",
        "a member is new until it has been in a generation of this incarnation",
    ),
    exempted_by=(GenerationStarted, GroupStatusChanged, JoinGroupReplied, SyncGroupReplied),
    evidence=Evidence.CONCERNED,
    fold=form(
        {MemberRemoved: _removed_for_a_cause},
        views=(Incarnations,),
        needs=((GenerationStarted, GroupStatusChanged),),
    ),
    opening="""GenerationStarted(generation=1, members=("a",), leader="a")""",
    breaks="""
        RequestParked(generation=1, api="JoinGroup", member_id="a")
        MemberRemoved(generation=1, member_id="a", reason="session expired")
    """,
    holds="""MemberRemoved(generation=1, member_id="a", reason="session expired")""",
    excuses="""
        RequestParked(generation=1, api="JoinGroup", member_id="b")
        MemberRemoved(generation=1, member_id="b", reason="session expired")
    """,
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
