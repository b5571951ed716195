"""Concern *new members*: ids that are returned unused, and first JoinGroups that stay parked for too long.

`model.classic.parts.new_members` has the rules; here are the claims about them.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.parts.network import may_answer
from rebalance_check.model.classic.state import (
    Config,
    MessageKind,
    State,
    has,
)
from rebalance_check.model.vocabulary.errors import Error

# ------------------------------------------------------------------------------------------------ invariants


def new_members_are_parked(c: Config, s: State) -> bool:
    """A member is new only while its first JoinGroup is parked.

    The mark ends with the join phase; from then on the session timeout counts.

    Source: ``ClassicGroupMember.isNew``; ``GroupMetadataManager.completeClassicGroupJoin``.
    Leaves unchanged: how long the JoinGroup is parked; at most the new-member join timeout of 5 minutes.
    """
    return not c.new_members or s.new_members & ~s.joined == 0


def returned_id_is_not_waited_for(c: Config, s: State, t: State) -> bool:
    """Once its LeaveGroup has arrived, an id is neither a member's nor pending.

    A join phase that waited for that id may end, and a stable group begins a rebalance for it.

    Source: ``GroupMetadataManager.classicGroupLeaveToClassicGroup``; KIP-394.
    Leaves unchanged: a LeaveGroup that the network loses.
    """
    if c.new_members and (c.losses == 0 or s.losses == t.losses):
        for m in range(c.members):
            arrives = s.member[m].net.kind == MessageKind.LEAVE_REQUEST and t.member[m].net.kind == MessageKind.NOTHING
            if arrives and has(t.members | t.pending, m):
                return False
    return True


def expired_new_member_is_refused(c: Config, s: State, t: State) -> bool:
    """A process whose first JoinGroup is parked when its timer ends gets UNKNOWN_MEMBER_ID.

    Otherwise it would wait for a group that has forgotten it.

    Source: ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``.
    Leaves unchanged: processes that died, which get no reply.
    """
    if c.new_members:
        for m in range(c.members):
            if has(s.new_members, m) and may_answer(s, m) and not has(t.members, m) and may_answer(t, m):
                if t.member[m].net.kind != MessageKind.JOIN_REPLY or t.member[m].net.error != Error.UNKNOWN_MEMBER_ID:
                    return False
    return True


# ------------------------------------------------------------------------------------------------ reachable


def unused_id_is_returned(c: Config, s: State) -> bool:
    """A process leaves before it has used the id that was handed out to it.

    A client that closes between MEMBER_ID_REQUIRED and its second JoinGroup sends a LeaveGroup.

    Source: ``AbstractCoordinator.maybeLeaveGroup``; KIP-394.
    """
    if c.new_members:
        for m in range(c.members):
            if s.member[m].net.kind == MessageKind.LEAVE_REQUEST and has(s.pending, m):
                return True
    return False


def unused_id_expires(c: Config, s: State) -> bool:
    """A process is about to use an id that has expired since it was handed out.

    The session timeout of its first JoinGroup was over before the process came back with the id.

    Source: ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``; KIP-394.
    """
    for m in range(c.members):
        me = s.member[m]
        if me.net.kind == MessageKind.JOIN_REQUEST and me.net.has_member_id == 1 and me.generation == 0:
            if not has(s.members | s.pending, m) and s.generation <= 1:
                return True
    return False


def new_member_expires_while_parked(c: Config, s: State) -> bool:
    """A JoinGroup without a member id is refused with UNKNOWN_MEMBER_ID, because its member was new for too long.

    The timer of a new member runs although its JoinGroup is parked, for 5 minutes, so that clients which retry under
    new ids do not fill the group.

    Source: ``CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS``; ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``.
    """
    if c.new_members:
        for m in range(c.members):
            me = s.member[m]
            if me.has_id == 0 and me.net.kind == MessageKind.JOIN_REPLY and me.net.error == Error.UNKNOWN_MEMBER_ID:
                return True
    return False


NEW_MEMBERS: Final = Concern(
    invariants=(new_members_are_parked,),
    step_invariants=(
        returned_id_is_not_waited_for,
        expired_new_member_is_refused,
    ),
    reachable_states=(
        unused_id_is_returned,
        unused_id_expires,
        new_member_expires_while_parked,
    ),
)
