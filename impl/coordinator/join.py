"""JoinGroup (``classicGroupJoinToClassicGroup``)."""

from __future__ import annotations

from collections.abc import Hashable

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import GroupMember, ParkedJoin, new_member
from rebalance_check.impl.coordinator.rebalance import join_reply, maybe_complete_join, prepare_rebalance
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.static import replace_static_member
from rebalance_check.impl.coordinator.writes import append_group, group_record, refuse_after_writes, write_error
from rebalance_check.impl.protocol.messages import UNKNOWN_MEMBER_ID, JoinGroupReply, JoinGroupRequest
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

MEMBER_ID_REQUIRED_SINCE = 4
"""The first JoinGroup version that answers a new member MEMBER_ID_REQUIRED before it is admitted (KIP-394)."""


def join_group(shard: Shard, token: Hashable, request: JoinGroupRequest) -> None:
    """Handle a JoinGroup; the answer may come at the end of the join phase."""
    group = shard.groups.get(request.group_id)
    if group is not None:
        join_existing(shard, group, token, request)
    elif request.member_id != UNKNOWN_MEMBER_ID:
        refuse(shard, token, Error.UNKNOWN_MEMBER_ID, request.member_id)
    else:
        join_absent(shard, token, request)
    refuse_after_writes(shard, token, lambda error: JoinGroupReply(error=error))


def refuse(shard: Shard, token: Hashable, error: Error, member_id: str = UNKNOWN_MEMBER_ID) -> None:
    """Answer an error, echoing ``member_id``."""
    shard.answer(token, JoinGroupReply(error=error, member_id=member_id))


def join_absent(shard: Shard, token: Hashable, request: JoinGroupRequest) -> None:
    """Create the group for its first JoinGroup; the answer does not wait for the record of the empty group."""
    group = create_group(shard, request.group_id)
    record = group_record(group, shard.now_ms)
    join_existing(shard, group, token, request)
    append_group(shard, group, record, lambda error: on_creation(shard, group, error))


def create_group(shard: Shard, group_id: str) -> Group:
    """A new group, Empty at generation 0, whose first record is not committed yet."""
    incarnation = shard.next_incarnation(group_id)
    group = Group(group_id=group_id, incarnation=incarnation, status_since_ms=shard.now_ms, is_created=False)
    shard.groups[group_id] = group
    shard.emit.incarnation_started(group)
    return group


def on_creation(shard: Shard, group: Group, error: Error) -> None:
    """The outcome of the group's first record: if it failed, the group never existed, and parked requests are answered.

    If it timed out the members stay. Kafka takes back what is in memory, and leaves the timers: that of the join phase
    may meet the next group of this name.
    """
    if error in {Error.NONE, Error.REQUEST_TIMED_OUT}:
        return
    if shard.groups.pop(group.group_id, None) is not None:
        shard.emit.incarnation_ended(group)
    for member in group.members.values():
        parked = member.awaiting_join
        if parked is not None:
            shard.answer(parked.token, JoinGroupReply(error=write_error(error)))


def join_existing(shard: Shard, group: Group, token: Hashable, request: JoinGroupRequest) -> None:
    """Check size and protocols, then the sender: in Kafka's order, which decides what a fenced member sees."""
    if not accepts_joining_member(shard, group, request.member_id):
        evict_for_size(shard, group, request.member_id)
        refuse(shard, token, Error.GROUP_MAX_SIZE_REACHED)
    elif group.status is GroupStatus.DEAD:
        refuse(shard, token, Error.COORDINATOR_NOT_AVAILABLE, request.member_id)
    elif not group.supports_protocols(request.protocol_type, request.protocols):
        refuse(shard, token, Error.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    elif request.member_id == UNKNOWN_MEMBER_ID:
        join_as_new_member(shard, group, token, request)
    elif request.member_id in group.pending_join:
        join_as_pending(shard, group, token, request)
    else:
        join_as_member(shard, group, token, request)


def accepts_joining_member(shard: Shard, group: Group, member_id: str) -> bool:
    """The size limit (``acceptJoiningMember``): in PreparingRebalance the first to join are accepted."""
    member = group.members.get(member_id)
    if group.status is GroupStatus.PREPARING_REBALANCE:
        is_waiting = member is not None and member.awaiting_join is not None
        return is_waiting or group.awaiting_join_count < shard.config.max_size
    if group.status in {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}:
        return member is not None or len(group.members) < shard.config.max_size
    return True


def evict_for_size(shard: Shard, group: Group, member_id: str) -> None:
    """Remove a member refused for size; Kafka neither stops its session timer nor checks who is still awaited."""
    group.pending_join.discard(member_id)
    if member_id in group.members:
        group.remove(member_id, shard.choices)
        shard.emit.member_removed(group, member_id, "group size")


def join_as_new_member(shard: Shard, group: Group, token: Hashable, request: JoinGroupRequest) -> None:
    """A JoinGroup without a member id: a new dynamic or static member, or the restart of a static one."""
    instance_id = request.group_instance_id
    member_id = shard.new_member_id(instance_id if instance_id is not None else request.client_id)
    if instance_id is not None and instance_id in group.static_members:
        replace_static_member(shard, group, member_id, token, request)
    elif instance_id is None and request.version >= MEMBER_ID_REQUIRED_SINCE:
        group.pending_join.add(member_id)
        shard.arm_session(group, member_id, request.session_timeout_ms)
        refuse(shard, token, Error.MEMBER_ID_REQUIRED, member_id)
    else:
        add_member(shard, group, member_id, token, request)


def join_as_pending(shard: Shard, group: Group, token: Hashable, request: JoinGroupRequest) -> None:
    """The second JoinGroup of a dynamic member, with the id it was given."""
    if request.group_instance_id is not None:
        refuse(shard, token, Error.UNKNOWN_SERVER_ERROR)
    else:
        add_member(shard, group, request.member_id, token, request)


def add_member(shard: Shard, group: Group, member_id: str, token: Hashable, request: JoinGroupRequest) -> None:
    """Admit a member and park its JoinGroup (``addMemberThenRebalanceOrCompleteJoin``)."""
    member = new_member(member_id, request)
    if group.status is GroupStatus.PREPARING_REBALANCE and group.previous_status is GroupStatus.EMPTY:
        group.new_member_added = True
    group.add(member)
    group.park_join(member, ParkedJoin(token, request))
    shard.emit.member_added(group, member_id)
    shard.emit.parked(group, member_id, token)
    shard.arm_session(group, member_id, shard.config.new_member_join_timeout_ms)
    rebalance_or_complete(shard, group)


def rebalance_or_complete(shard: Shard, group: Group) -> None:
    """A JoinGroup was parked: start a rebalance, or see whether the running join phase is over."""
    if group.can_rebalance():
        prepare_rebalance(shard, group)
    else:
        maybe_complete_join(shard, group)


def join_as_member(shard: Shard, group: Group, token: Hashable, request: JoinGroupRequest) -> None:
    """A JoinGroup of a present member: parked, unless nothing changed for it."""
    error = group.validate_member(request.member_id, request.group_instance_id)
    if error is not Error.NONE:
        refuse(shard, token, error, request.member_id)
        return
    member = group.members[request.member_id]
    if is_answered_at_once(group, member, request):
        with_members = group.status is GroupStatus.COMPLETING_REBALANCE
        shard.answer(token, join_reply(group, member.member_id, with_members=with_members))
        return
    group.update(member, request)
    group.park_join(member, ParkedJoin(token, request))
    shard.emit.parked(group, member.member_id, token)
    rebalance_or_complete(shard, group)


def is_answered_at_once(group: Group, member: GroupMember, request: JoinGroupRequest) -> bool:
    """Whether a present member repeats itself; a leader of a Stable group that rejoins always rebalances."""
    if member.protocols != request.protocols:
        return False
    follows = member.member_id != group.leader
    return group.status is GroupStatus.COMPLETING_REBALANCE or (group.status is GroupStatus.STABLE and follows)
