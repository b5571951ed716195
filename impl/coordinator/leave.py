"""LeaveGroup (``classicGroupLeaveToClassicGroup``)."""

from __future__ import annotations

from collections.abc import Hashable

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.rebalance import maybe_complete_join, prepare_rebalance
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import OnAnswer, after_writes, write_error
from rebalance_check.impl.protocol.messages import (
    UNKNOWN_MEMBER_ID,
    JoinGroupReply,
    LeaveGroupReply,
    LeaveGroupRequest,
    LeftMember,
    MemberIdentity,
)
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

BATCHES_SINCE = 3
"""The first LeaveGroup version with a list of members; before it the only member's error is the reply's."""


def leave_group(shard: Shard, token: Hashable, request: LeaveGroupRequest) -> None:
    """Remove the members that are named; the whole batch causes one rebalance."""
    group = shard.groups.get(request.group_id)
    if group is None:
        left = tuple(outcome(identity, Error.UNKNOWN_MEMBER_ID) for identity in request.members)
        shard.answer(token, reply(request, left))
    elif group.status is GroupStatus.DEAD:
        shard.answer(token, LeaveGroupReply(error=Error.COORDINATOR_NOT_AVAILABLE))
    else:
        left = tuple(outcome(identity, leave_one(shard, group, identity)) for identity in request.members)
        failures: list[Error] = []
        if any(entry.error is Error.NONE for entry in left):
            after_leave(shard, group, failures.append)
        on_answer = answer_later(shard, token, reply(request, left), failures)
        if any(failure is not Error.NONE for failure in failures):
            on_answer(Error.NONE)  # what failed waits for nothing
        else:
            after_writes(shard, on_answer)
        if not shard.has_answered(token):
            shard.emit.parked(group, "", token)


def answer_later(shard: Shard, token: Hashable, answer: LeaveGroupReply, emptied: list[Error]) -> OnAnswer:
    """The answer waits for earlier writes, and for the record of a group that was ``emptied``.

    When that failed, the answer is the error and no entries, although the members are gone from memory.
    """

    def on_answer(error: Error) -> None:
        failed = next((failure for failure in (*emptied, error) if failure is not Error.NONE), None)
        shard.answer(token, answer if failed is None else LeaveGroupReply(error=write_error(failed)))

    return on_answer


def outcome(identity: MemberIdentity, error: Error) -> LeftMember:
    """The fate of one entry."""
    return LeftMember(identity.member_id, identity.group_instance_id, error)


def reply(request: LeaveGroupRequest, left: tuple[LeftMember, ...]) -> LeaveGroupReply:
    """One error per entry; before v3 the first one stands for the request."""
    first = next((entry.error for entry in left if entry.error is not Error.NONE), Error.NONE)
    return LeaveGroupReply(error=first if request.version < BATCHES_SINCE else Error.NONE, members=left)


def leave_one(shard: Shard, group: Group, identity: MemberIdentity) -> Error:
    """Remove one member, or a pending id, or the member of an instance id (an administrator's removal)."""
    member_id = identity.member_id
    if member_id == UNKNOWN_MEMBER_ID:
        member_id = group.static_members.get(identity.group_instance_id or "", "")
        if identity.group_instance_id is None or not member_id:
            return Error.UNKNOWN_MEMBER_ID
    elif member_id in group.pending_join:
        group.pending_join.discard(member_id)
        shard.cancel_session(group, member_id)
        return Error.NONE
    else:
        error = group.validate_member(member_id, identity.group_instance_id)
        if error is not Error.NONE:
            return error
    remove_member(shard, group, member_id)
    return Error.NONE


def remove_member(shard: Shard, group: Group, member_id: str) -> None:
    """Drop a member: a parked JoinGroup of it is answered, a parked SyncGroup never is."""
    shard.cancel_session(group, member_id)
    parked = group.unpark_join(group.members[member_id])
    if parked is not None:
        shard.answer(parked.token, JoinGroupReply(error=Error.UNKNOWN_MEMBER_ID))
    group.remove(member_id, shard.choices)
    shard.emit.member_removed(group, member_id, "left")


def after_leave(shard: Shard, group: Group, on_empty: OnAnswer) -> None:
    """A member or a pending id left: a formed group rebalances, a forming one may now be complete."""
    if group.status in {GroupStatus.STABLE, GroupStatus.COMPLETING_REBALANCE}:
        prepare_rebalance(shard, group, on_empty)
    else:
        maybe_complete_join(shard, group, on_empty)
