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
        s.fresh[0] = with_(s.fresh[0], m)


def begin_anew(c: Config, s: State) -> None:
    """The join phase is over, and nobody is new."""
    if c.new_members:
        s.fresh[0] = 0


def expires_parked(c: Config, s: State, m: int) -> bool:
    """Whether m's timer runs although its JoinGroup is parked."""
    return c.new_members and has(s.fresh[0], m)


def may_give_back(c: Config, me: Member) -> bool:
    """Whether a process has an id and no generation: Kafka's clients say goodbye then, too (``maybeLeaveGroup``)."""
    return c.new_members and me.status == MemberStatus.UNJOINED and me.has_id == 1 and me.generation == 0


# ------------------------------------------------------------------------------------------------ claims


def newcomers_are_parked(c: Config, s: State) -> bool:
    """A member is new only while its JoinGroup is parked."""
    return not c.new_members or s.fresh[0] & ~s.joined == 0


def who_gave_its_id_back_is_not_waited_for(c: Config, s: State, t: State) -> bool:
    """Once a LeaveGroup has arrived the id in it is neither a member's nor pending."""
    if c.new_members and (c.losses == 0 or s.losses[0] == t.losses[0]):
        for m in range(c.members):
            arrives = s.member[m].net.kind == MessageKind.LEAVE_REQUEST and t.member[m].net.kind == MessageKind.NOTHING
            if arrives and has(t.members | t.pending, m):
                return False
    return True


def newcomer_that_expires_is_told(c: Config, s: State, t: State) -> bool:
    """A live process whose first JoinGroup is parked when its time is up is told UNKNOWN_MEMBER_ID."""
    if c.new_members:
        for m in range(c.members):
            if has(s.fresh[0], m) and may_answer(s, m) and not has(t.members, m) and may_answer(t, m):
                if t.member[m].net.kind != MessageKind.JOIN_REPLY or t.member[m].net.error != Error.UNKNOWN_MEMBER_ID:
                    return False
    return True


# ------------------------------------------------------------------------------------------------ somewhere


def unused_id_is_given_back(c: Config, s: State) -> bool:
    """A process leaves whose id was handed out and not used yet."""
    if c.new_members:
        for m in range(c.members):
            if s.member[m].net.kind == MessageKind.LEAVE_REQUEST and has(s.pending, m):
                return True
    return False


def unused_id_is_forgotten(c: Config, s: State) -> bool:
    """A process is about to use an id that has expired since it was handed out."""
    for m in range(c.members):
        me = s.member[m]
        if me.net.kind == MessageKind.JOIN_REQUEST and me.net.flag == 1 and me.generation == 0:
            if not has(s.members | s.pending, m) and s.generation <= 1:
                return True
    return False


def newcomer_is_forgotten_while_it_waits(c: Config, s: State) -> bool:
    """A JoinGroup without a member id is answered UNKNOWN_MEMBER_ID: its member was new for too long."""
    if c.new_members:
        for m in range(c.members):
            me = s.member[m]
            if me.has_id == 0 and me.net.kind == MessageKind.JOIN_REPLY and me.net.error == Error.UNKNOWN_MEMBER_ID:
                return True
    return False
