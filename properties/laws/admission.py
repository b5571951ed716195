"""The members of a group at its coordinator: their ids, their instance ids, how many they are, and when they go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event, IncarnationStarted, MemberAdded, MemberRemoved
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import CHECKED, Finding, Findings, broken, broken_step, form, scenario
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED, Incarnations
from rebalance_check.properties.views.scenarios import PREMISES, KnownIds, assigns
from rebalance_check.properties.views.steps import FORMED, MEMBER_ID_REQUIRED_SINCE, Step, members_of


def _new_ids(step: Step, known: KnownIds) -> Iterator[Finding]:
    assigned: set[str] = set()
    for reply in step.replies_to(Api.JOIN_GROUP):
        if not assigns(reply):
            continue
        member_id = reply.event.assigned_member_id
        if not reply.request.member_id:
            if member_id in known.assigned or member_id in assigned:
                headline = f"{reply.request.client} joins without a member id and is assigned {member_id}, which"
                yield broken_step(step, f"{headline} another client has", reply.event)
            else:
                yield CHECKED
        assigned.add(member_id)


AssignedMemberIdsAreNew: Final = Invariant(
    name="assigned_member_ids_are_new",
    family="coordinator",
    claim="a JoinGroup without a member id is assigned one that was assigned to no other client before",
    source="KIP-345, KIP-394; ClassicGroup.generateMemberId",
    premises=PREMISES,
    evidence=Evidence.PRESENCE,
    fold=scenario(_new_ids, views=(KnownIds,)),
    opening="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup")
        ReplyReceived(error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
        RequestIssued(client="b", api="JoinGroup")
    """,
    breaks="""
        ReplyReceived(error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
        GroupDescribed(status="Empty")
    """,
    holds="""
        ReplyReceived(error="MEMBER_ID_REQUIRED", assigned_member_id="b-1")
        GroupDescribed(status="Empty")
    """,
)


def _id_comes_first(step: Step, known: KnownIds) -> Findings:
    """From JoinGroup v4 on, the id of a dynamic member that is admitted was in a reply before."""
    joins = [sent for sent in step.sent if sent.api == Api.JOIN_GROUP]
    if not joins or any(join.version < MEMBER_ID_REQUIRED_SINCE or join.instance_id for join in joins):
        return None
    named = {sent.member_id for sent in step.sent}
    unknown = members_of(step.after) - members_of(step.before) - known.seen - named
    return broken_step(step, f"{min(unknown)} is a member, and no client knows that id") if unknown else CHECKED


MemberIdIsKnownBeforeMembership: Final = Invariant(
    name="member_id_is_known_before_membership",
    family="coordinator",
    claim="from JoinGroup v4 on a dynamic client learns its member id before it is a member",
    source="KIP-394; GroupMetadataManager.classicGroupJoinNewDynamicMember",
    premises=(*PREMISES, "a step with a JoinGroup of version 3 or lower, or with an instance id, is left out"),
    evidence=Evidence.CONCERNED,
    fold=scenario(_id_comes_first, views=(KnownIds,)),
    opening="""StepStarted(step="join a")""",
    breaks="""
        RequestIssued(client="a", api="JoinGroup", version=9)
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    """,
    holds="""
        RequestIssued(client="a", api="JoinGroup", member_id="a-1", version=9)
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    """,
)


def _one_per_instance(event: MemberAdded, incarnations: Incarnations) -> Findings:
    """The member that had the instance id before is gone by now."""
    group = incarnations.current
    if not event.instance_id or group is None:
        return None
    for other, instance in group.members.items():
        if instance == event.instance_id and other != event.member_id:
            return _two_per_instance(other, event.member_id, instance, event)
    return CHECKED


def _one_per_loaded_instance(event: IncarnationStarted, _incarnations: Incarnations) -> Findings:
    seen: dict[str, str] = {}
    for member, instance in event.instances:
        other = seen.setdefault(instance, member)
        if other != member:
            return _two_per_instance(other, member, instance, event)
    return CHECKED if seen else None


def _two_per_instance(one: str, other: str, instance: str, event: Event) -> Finding:
    return broken(
        f"{one} and {other} are both members with the group instance id {instance}",
        (f"{one} is a member with {instance}, and {other} is one, too, since {STEP}: contradiction.", event),
    )


OneMemberPerInstance: Final = Invariant(
    name="one_member_per_instance",
    family="coordinator",
    claim="at most one member of the group has a given group instance id",
    source="KIP-345; ClassicGroup.staticMembers, replaceStaticMember",
    premises=("the history holds the coordinator's events",),
    exempted_by=(MemberRemoved,),
    evidence=Evidence.CONCERNED,
    fold=form({MemberAdded: _one_per_instance, IncarnationStarted: _one_per_loaded_instance}, views=(Incarnations,)),
    opening="""MemberAdded(member_id="a", instance_id="i")""",
    breaks="""MemberAdded(member_id="b", instance_id="i")""",
    holds="""
        MemberRemoved(member_id="a", reason="replaced")
        MemberAdded(member_id="b", instance_id="i")
    """,
)


def _fenced_stays(step: Step, known: KnownIds) -> Findings:
    """No holder of an instance id was answered FENCED_INSTANCE_ID before."""
    holders = {member: instance for member, instance in step.after.members if instance}
    back = sorted(holders.keys() & known.fenced)
    if back:
        return broken_step(step, f"{back[0]} was fenced, and holds instance {holders[back[0]]}")
    return CHECKED if holders and known.fenced else None


FencedStaysFenced: Final = Invariant(
    name="fenced_stays_fenced",
    family="coordinator",
    claim="a member that was fenced does not hold its instance id again",
    source="KIP-345; ClassicGroup.replaceStaticMember",
    premises=PREMISES,
    evidence=Evidence.PRESENCE,
    fold=scenario(_fenced_stays, views=(KnownIds,)),
    opening="""
        StepStarted(step="join b")
        RequestIssued(client="a", api="JoinGroup", member_id="a-1", instance_id="i")
        ReplyReceived(error="FENCED_INSTANCE_ID", assigned_member_id="a-1")
        GroupDescribed(status="Stable", members=(("b-1", "i"),))
        StepStarted(step="advance 5000")
    """,
    breaks="""GroupDescribed(status="Stable", members=(("a-1", "i"),))""",
    holds="""GroupDescribed(status="Stable", members=(("b-1", "i"),))""",
)


def _only_the_named(step: Step, known: KnownIds) -> Iterator[Finding]:
    """Every member that goes with a LeaveGroup is named in it, by its id or its instance id."""
    if step.verb != "leave" or step.after.error != ACCEPTED or step.after.status == GroupStatus.DEAD:
        return
    instance_of = {**known.instances, **dict(step.before.members)}
    for reply in step.replies_to(Api.LEAVE_GROUP):
        ids = {member for member, _ in reply.request.leaving}
        instances = {instance for _, instance in reply.request.leaving} - {""}
        gone = members_of(step.before) - members_of(step.after)
        others = {one for one in gone if one not in ids and instance_of.get(one) not in instances}
        if others:
            yield broken_step(step, f"{min(others)} is removed, and the LeaveGroup does not name it")
        else:
            yield CHECKED


LeaveRemovesOnlyNamedMembers: Final = Invariant(
    name="leave_removes_only_named_members",
    family="coordinator",
    claim="a LeaveGroup removes no member but those that it names",
    source="KIP-345; GroupMetadataManager.classicGroupLeaveToClassicGroup",
    premises=(*PREMISES, "a batch of leaves names members by member id or by group instance id"),
    evidence=Evidence.CONCERNED,
    fold=scenario(_only_the_named, views=(KnownIds,)),
    opening="""
        GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
        StepStarted(step="leave a")
        RequestIssued(client="a", api="LeaveGroup", leaving=(("a-1", ""),))
        ReplyReceived()
    """,
    breaks="""GroupDescribed(status="PreparingRebalance")""",
    holds="""GroupDescribed(status="PreparingRebalance", members=(("b-1", ""),))""",
)


def _leave_without_members(step: Step) -> Findings:
    """A LeaveGroup that removes no member leaves a formed group formed."""
    if step.verb != "leave" or step.before.status not in FORMED:
        return None
    same = members_of(step.before) == members_of(step.after)
    if step.after.status == GroupStatus.PREPARING_REBALANCE and same:
        return broken_step(step, "a LeaveGroup that removed no member made the group rebalance")
    return CHECKED


LeaveWithoutMembersChangesNothing: Final = Invariant(
    name="leave_without_members_changes_nothing",
    family="coordinator",
    claim="a LeaveGroup that removes no member starts no rebalance",
    source="GroupMetadataManager.classicGroupLeaveToClassicGroup",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    fold=scenario(_leave_without_members),
    opening="""
        GroupDescribed(status="Stable", members=(("a-1", ""),))
        StepStarted(step="leave b")
    """,
    breaks="""GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))""",
    holds="""GroupDescribed(status="Stable", members=(("a-1", ""),))""",
)


LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
