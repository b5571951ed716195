"""Heartbeat, and what happens when it does not come (``classicGroupHeartbeatToClassicGroup``)."""

from __future__ import annotations

from collections.abc import Hashable

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.rebalance import complete_join, prepare_rebalance
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import after_writes, write_error
from rebalance_check.impl.protocol.messages import HeartbeatReply, HeartbeatRequest, JoinGroupReply
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus


def heartbeat(shard: Shard, token: Hashable, request: HeartbeatRequest) -> None:
    """Answer a heartbeat; NONE and REBALANCE_IN_PROGRESS prolong the session and wait for earlier writes."""
    group = shard.groups.get(request.group_id)
    error = verdict(group, request)
    if group is None or error not in {Error.NONE, Error.REBALANCE_IN_PROGRESS}:
        shard.answer(token, HeartbeatReply(error=error))
        return
    member = group.members.get(request.member_id)
    if member is not None:
        shard.arm_session(group, member.member_id, member.session_timeout_ms)

    def on_answer(failed: Error) -> None:
        shard.answer(token, HeartbeatReply(error=error if failed is Error.NONE else write_error(failed)))

    after_writes(shard, on_answer)
    if not shard.has_answered(token):
        shard.emit.parked(group, request.member_id, token)


def verdict(group: Group | None, request: HeartbeatRequest) -> Error:
    """The error that answers a heartbeat, in Kafka's order; NONE in CompletingRebalance, against Kafka's comments."""
    if group is None:
        return Error.UNKNOWN_MEMBER_ID
    if group.status is GroupStatus.DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    error = group.validate_member(request.member_id, request.group_instance_id)
    if error is not Error.NONE:
        return error
    if request.generation_id != group.generation:
        return Error.ILLEGAL_GENERATION
    return Error.REBALANCE_IN_PROGRESS if group.status is GroupStatus.PREPARING_REBALANCE else Error.NONE


def on_session_timer(shard: Shard, group: Group, member_id: str) -> None:
    """A session ran out (``expireClassicGroupMemberHeartbeat``): of a pending id, or of a member that is not parked."""
    if member_id in group.pending_join:
        group.pending_join.discard(member_id)
        complete_if_all_joined(shard, group)
        return
    member = group.members.get(member_id)
    if member is None:
        return
    if member.has_satisfied_heartbeat:
        return  # the answer to what it waits for starts its session again
    parked = group.unpark_join(member)
    if parked is not None:
        shard.answer(parked.token, JoinGroupReply(error=Error.UNKNOWN_MEMBER_ID))
    group.remove(member_id, shard.choices)
    shard.emit.member_removed(group, member_id, "session expired")
    after_expiry(shard, group)


def after_expiry(shard: Shard, group: Group) -> None:
    """The group shrank: rebalance, or see whether the join phase waited for no other member."""
    if group.status in {GroupStatus.STABLE, GroupStatus.COMPLETING_REBALANCE}:
        prepare_rebalance(shard, group)
    else:
        complete_if_all_joined(shard, group)


def complete_if_all_joined(shard: Shard, group: Group) -> None:
    """End the join phase when all have joined, an initial one as well: an expiry does not wait for its delay."""
    if group.status is GroupStatus.PREPARING_REBALANCE and group.has_all_members_joined():
        complete_join(shard, group)
