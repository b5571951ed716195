"""Concern *newcomers* of the classic protocol: ids given back unused, and first JoinGroups that wait for too long.

An id that was handed out (KIP-394) and is given back by a LeaveGroup is waited for no longer; that alone makes a stable
group rebalance (``GroupMetadataManager.classicGroupLeaveToClassicGroup``). A member whose first JoinGroup is parked is
*new* until its join phase is over (``ClassicGroupMember.isNew``). Its timer runs meanwhile, for 5 minutes
(``CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS``), so that a client which tries again and again under new ids doesn't fill
the group; when it is over, the JoinGroup is answered UNKNOWN_MEMBER_ID.
"""

from rebalance_check.model.classic.parts.network import may_answer
from rebalance_check.model.classic.state import (
    Config,
    Member,
    MemberStatus,
    MessageKind,
    State,
    has,
    with_,
)
from rebalance_check.model.vocabulary.errors import Error


def note_newcomer(c: Config, s: State, m: int) -> None:
    """The first JoinGroup of m is parked."""
    if c.new_members:
        s.fresh = with_(s.fresh, m)


def expires_parked(s: State, m: int) -> bool:
    """Whether m's timer runs although its JoinGroup is parked."""
    return has(s.fresh, m)


def may_give_back(c: Config, me: Member) -> bool:
    """Whether a process has an id and no generation: Kafka's clients say goodbye then, too (``maybeLeaveGroup``)."""
    return c.new_members and me.status == MemberStatus.UNJOINED and me.has_id == 1 and me.generation == 0


# ------------------------------------------------------------------------------------------------ claims


def new_members_are_parked(c: Config, s: State) -> bool:
    """A member is new only while its first JoinGroup is parked.

    Source: ``ClassicGroupMember.isNew``; ``GroupMetadataManager.completeClassicGroupJoin``.
    Leaves unchanged: how long the JoinGroup is parked; at most the new-member join timeout of 5 minutes.
    """
    return not c.new_members or s.fresh & ~s.joined == 0


def returned_id_is_not_waited_for(c: Config, s: State, t: State) -> bool:
    """Once its LeaveGroup has arrived, an id is neither a member's nor pending.

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
            if has(s.fresh, m) and may_answer(s, m) and not has(t.members, m) and may_answer(t, m):
                if t.member[m].net.kind != MessageKind.JOIN_REPLY or t.member[m].net.error != Error.UNKNOWN_MEMBER_ID:
                    return False
    return True


# ------------------------------------------------------------------------------------------------ somewhere


def unused_id_is_returned(c: Config, s: State) -> bool:
    """A process leaves before it has used the id that was handed out to it.

    Source: ``AbstractCoordinator.maybeLeaveGroup``; KIP-394.
    Leaves unchanged: the members; the coordinator stops waiting for the id.
    """
    if c.new_members:
        for m in range(c.members):
            if s.member[m].net.kind == MessageKind.LEAVE_REQUEST and has(s.pending, m):
                return True
    return False


def unused_id_expires(c: Config, s: State) -> bool:
    """A process is about to use an id that has expired since it was handed out.

    Source: ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``; KIP-394.
    Leaves unchanged: the process, until its JoinGroup is refused with UNKNOWN_MEMBER_ID.
    """
    for m in range(c.members):
        me = s.member[m]
        if me.net.kind == MessageKind.JOIN_REQUEST and me.net.flag == 1 and me.generation == 0:
            if not has(s.members | s.pending, m) and s.generation <= 1:
                return True
    return False


def new_member_expires_while_parked(c: Config, s: State) -> bool:
    """A JoinGroup without a member id is refused with UNKNOWN_MEMBER_ID, because its member was new for too long.

    Source: ``CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS``; ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``.
    Leaves unchanged: the join phase of the other members.
    """
    if c.new_members:
        for m in range(c.members):
            me = s.member[m]
            if me.has_id == 0 and me.net.kind == MessageKind.JOIN_REPLY and me.net.error == Error.UNKNOWN_MEMBER_ID:
                return True
    return False
