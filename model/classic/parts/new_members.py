"""New members: ids that are returned unused, and first JoinGroups that are parked for too long.

A LeaveGroup returns an id that was handed out (KIP-394) and never used; that alone makes a Stable group rebalance
(``GroupMetadataManager.classicGroupLeaveToClassicGroup``). A member whose first JoinGroup is parked is *new* until its
join phase ends (``ClassicGroupMember.isNew``). Its timer runs in the meantime, for 5 minutes
(``CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS``), so that a client which retries under new ids does not fill the group;
when it ends, the JoinGroup gets UNKNOWN_MEMBER_ID.
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
    """The first JoinGroup of m is parked: the member is new until the join phase ends.

    Source: ``ClassicGroupMember.isNew``.
    """
    if c.new_members:
        s.new_members = with_(s.new_members, m)


def expires_while_parked(s: State, m: int) -> bool:
    """Whether m's timer runs although its JoinGroup is parked, as that of a new member does.

    Source: ``ClassicGroupMember.hasSatisfiedHeartbeat``.
    """
    return has(s.new_members, m)


def may_return_id(c: Config, me: Member) -> bool:
    """Whether a process has an id and no generation: then Kafka's clients leave, too, when they close.

    Source: ``AbstractCoordinator.maybeLeaveGroup``.
    """
    return c.new_members and me.status == MemberStatus.UNJOINED and me.has_id == 1 and me.generation == 0
