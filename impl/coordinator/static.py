"""A static member comes back under a new member id (KIP-345, ``updateStaticMemberThenRebalanceOrCompleteJoin``)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import GroupMember, ParkedJoin
from rebalance_check.impl.coordinator.rebalance import join_reply, maybe_complete_join, prepare_rebalance
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import append_group, group_record, write_error
from rebalance_check.impl.protocol.messages import JoinGroupReply, JoinGroupRequest, JoinProtocol, SyncGroupReply
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

SKIP_ASSIGNMENT_SINCE = 9
"""The first JoinGroup version that tells a returning leader not to assign (KIP-814)."""


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The replaced member and its settings: a failed replacement goes back to them."""

    member_id: str
    leader: str
    protocols: tuple[JoinProtocol, ...]
    rebalance_timeout_ms: int
    session_timeout_ms: int


def replace_static_member(
    shard: Shard, group: Group, member_id: str, token: Hashable, request: JoinGroupRequest
) -> None:
    """Give the request's instance id to ``member_id``, fence its present holder, and rebalance if need be."""
    old_id = group.static_members[request.group_instance_id or ""]
    predecessor = remember(group, old_id)
    fence(shard, group, group.members[old_id])
    member = group.replace_id(old_id, member_id)
    shard.emit.member_removed(group, old_id, "replaced")
    shard.emit.member_added(group, member_id)
    shard.arm_session(group, member_id, predecessor.session_timeout_ms)
    group.update(member, request)
    group.park_join(member, ParkedJoin(token, request))
    shard.emit.parked(group, member_id, token)
    member.is_new = False
    continue_by_status(shard, group, member, predecessor)


def remember(group: Group, member_id: str) -> Predecessor:
    """The present member of an instance id, before it is replaced."""
    member = group.members[member_id]
    return Predecessor(
        member_id, group.leader or "", member.protocols, member.rebalance_timeout_ms, member.session_timeout_ms
    )


def fence(shard: Shard, group: Group, member: GroupMember) -> None:
    """Answer the old holder's parked requests with FENCED_INSTANCE_ID."""
    parked_join = group.unpark_join(member)
    if parked_join is not None:
        shard.answer(parked_join.token, JoinGroupReply(error=Error.FENCED_INSTANCE_ID, member_id=member.member_id))
    parked_sync, member.awaiting_sync = member.awaiting_sync, None
    if parked_sync is not None:
        shard.answer(parked_sync.token, SyncGroupReply(error=Error.FENCED_INSTANCE_ID))


def continue_by_status(shard: Shard, group: Group, member: GroupMember, predecessor: Predecessor) -> None:
    """In CompletingRebalance the leader may know the old id already, so all start anew; Stable goes on where it can."""
    if group.status is GroupStatus.PREPARING_REBALANCE:
        maybe_complete_join(shard, group)
    elif group.status is GroupStatus.COMPLETING_REBALANCE:
        prepare_rebalance(shard, group)
    elif group.select_protocol(shard.choices) == group.protocol_name:
        persist_replacement(shard, group, member, predecessor)
    else:
        prepare_rebalance(shard, group)


def persist_replacement(shard: Shard, group: Group, member: GroupMember, predecessor: Predecessor) -> None:
    """No rebalance: write the new id with the existing assignments, and answer when that is committed."""
    member_id = member.member_id

    def on_answer(error: Error) -> None:
        if group.members.get(member_id) is not member:
            return  # the instance id was taken over again, or given up: its next member has its own write
        if error is Error.NONE:
            answer_without_rebalance(shard, group, member, predecessor)
        else:
            undo_replacement(shard, group, member, predecessor, error)

    append_group(shard, group, group_record(group, shard.now_ms), on_answer)


def answer_without_rebalance(shard: Shard, group: Group, member: GroupMember, predecessor: Predecessor) -> None:
    """Answer in the running generation; before v9 a returning leader is shown its old id and so acts as a follower."""
    parked = group.unpark_join(member)
    if parked is None:
        return
    leads = group.leader == member.member_id
    knows_skip = parked.request.version >= SKIP_ASSIGNMENT_SINCE
    reply = join_reply(group, member.member_id, with_members=knows_skip)
    shard.answer(
        parked.token,
        JoinGroupReply(
            generation_id=reply.generation_id,
            protocol_type=reply.protocol_type,
            protocol_name=reply.protocol_name,
            leader=reply.leader if knows_skip else predecessor.leader,
            skip_assignment=knows_skip and leads,
            member_id=reply.member_id,
            members=reply.members,
        ),
    )


def undo_replacement(shard: Shard, group: Group, member: GroupMember, predecessor: Predecessor, error: Error) -> None:
    """The write failed: id, protocols and timeouts go back to what they were."""
    parked = group.unpark_join(member)
    if parked is not None:
        shard.answer(parked.token, failed_reply(group, predecessor, write_error(error)))
    group.set_terms(member, predecessor.protocols, predecessor.rebalance_timeout_ms, predecessor.session_timeout_ms)
    shard.emit.member_removed(group, member.member_id, "replaced")
    group.replace_id(member.member_id, predecessor.member_id)
    shard.emit.member_added(group, predecessor.member_id)


def failed_reply(group: Group, predecessor: Predecessor, error: Error) -> JoinGroupReply:
    """An error, with the generation that a success would carry, and no member id, so that the client begins anew."""
    return JoinGroupReply(
        error=error,
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=predecessor.leader,
    )
