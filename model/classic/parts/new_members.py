"""Concern *newcomers* of the classic protocol: ids given back unused, and first JoinGroups that wait for too long.

An id that was handed out (KIP-394) and is given back by a LeaveGroup is waited for no longer; that alone makes a stable
group rebalance (``GroupMetadataManager.classicGroupLeaveToClassicGroup``). A member whose first JoinGroup is parked is
*new* until its join phase is over (``ClassicGroupMember.isNew``). Its timer runs meanwhile, for 5 minutes
(``CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS``), so that a client which tries again and again under new ids doesn't fill
the group; when it is over, the JoinGroup is answered UNKNOWN_MEMBER_ID.
"""

from rebalance_check.model.classic.state import (
    Config,
    Member,
    MemberStatus,
    State,
    has,
    with_,
)


def note_new_member(c: Config, s: State, m: int) -> None:
    """The first JoinGroup of m is parked."""
    if c.new_members:
        s.new_members = with_(s.new_members, m)


def expires_while_parked(s: State, m: int) -> bool:
    """Whether m's timer runs although its JoinGroup is parked."""
    return has(s.new_members, m)


def may_return_id(c: Config, me: Member) -> bool:
    """Whether a process has an id and no generation: Kafka's clients say goodbye then, too (``maybeLeaveGroup``)."""
    return c.new_members and me.status == MemberStatus.UNJOINED and me.has_id == 1 and me.generation == 0
