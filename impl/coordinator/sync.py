"""SyncGroup (``classicGroupSyncToClassicGroup``)."""

from __future__ import annotations

from collections.abc import Hashable

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import ParkedSync
from rebalance_check.impl.coordinator.rebalance import answer_sync, prepare_rebalance, refuse_syncs, sync_reply
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import append_group, group_record, refuse_after_writes, write_error
from rebalance_check.impl.protocol.messages import SyncGroupReply, SyncGroupRequest
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus


def sync_group(shard: Shard, token: Hashable, request: SyncGroupRequest) -> None:
    """Handle a SyncGroup; a follower's waits for the leader's."""
    group = shard.groups.get(request.group_id)
    error = refusal(group, request)
    if group is None or error is not Error.NONE:
        shard.answer(token, SyncGroupReply(error=error))
        return
    member = group.members[request.member_id]
    group.pending_sync.discard(member.member_id)
    if not group.pending_sync:
        shard.cancel_sync(group)
    if group.status is GroupStatus.STABLE:
        shard.answer(token, sync_reply(group, member))
        return
    member.awaiting_sync = ParkedSync(token, request)
    shard.emit.parked(group, member.member_id, token)
    if member.member_id == group.leader:
        propose_assignment(shard, group, request)
    refuse_after_writes(shard, token, lambda failed: SyncGroupReply(error=failed))


def refusal(group: Group | None, request: SyncGroupRequest) -> Error:
    """Why a SyncGroup is refused, in Kafka's order; NONE where it is not."""
    if group is None or group.status is GroupStatus.EMPTY:
        return Error.UNKNOWN_MEMBER_ID
    if group.status is GroupStatus.DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    error = group.validate_member(request.member_id, request.group_instance_id)
    if error is not Error.NONE:
        return error
    if request.generation_id != group.generation:
        return Error.ILLEGAL_GENERATION
    if differs(request.protocol_type, group.protocol_type) or differs(request.protocol_name, group.protocol_name):
        return Error.INCONSISTENT_GROUP_PROTOCOL
    return Error.REBALANCE_IN_PROGRESS if group.status is GroupStatus.PREPARING_REBALANCE else Error.NONE


def differs(requested: str | None, present: str | None) -> bool:
    """Whether both are known and not the same."""
    return requested is not None and present is not None and requested != present


def propose_assignment(shard: Shard, group: Group, request: SyncGroupRequest) -> None:
    """Write the leader's assignment; members that it leaves out get empty bytes, unknown ids are ignored."""
    assignments = {entry.member_id: entry.assignment for entry in request.assignments}
    generation = group.generation

    def on_answer(error: Error) -> None:
        if group.status is not GroupStatus.COMPLETING_REBALANCE or group.generation != generation:
            return  # a rebalance started meanwhile: the record stays in the log, and no member is answered with it
        if error is Error.NONE:
            propagate(shard, group, assignments)
        else:
            refuse_syncs(shard, group, write_error(error))
            prepare_rebalance(shard, group)

    append_group(shard, group, group_record(group, shard.now_ms, assignments), on_answer)


def propagate(shard: Shard, group: Group, assignments: dict[str, bytes]) -> None:
    """The assignment is committed: hand it out and be Stable."""
    shard.move(group, GroupStatus.STABLE)
    for member in group.members.values():
        member.assignment = assignments.get(member.member_id, b"")
        answer_sync(shard, group, member, Error.NONE)
