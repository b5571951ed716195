"""The network of the classic protocol: one message between a process and the coordinator, and one duplicate.

A process has at most one request in flight, because ``AbstractCoordinator`` sends the next one after the reply. Its
slot holds that request or the reply to it. Messages of different processes overtake each other freely.
"""

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.classic.state import Member, MemberStatus, Message, MessageKind, State, has
from rebalance_check.model.vocabulary.errors import Error


def put(net: Message, kind: int) -> None:
    """A new message of another kind replaces the one in a slot."""
    reset(net)
    net.kind = kind


def refuse(s: State, m: int, kind: int, error: int) -> None:
    """The coordinator replies to m with an error."""
    put(s.member[m].net, kind)
    s.member[m].net.error = error


def is_parked(s: State, m: int) -> bool:
    """Whether the coordinator holds back the reply to a JoinGroup or SyncGroup under m's id."""
    return has(s.joined | s.synced, m)


def may_answer(s: State, x: int) -> bool:
    """Whether the reply to x's parked request reaches its process: not that of a duplicate, nor of a dead process."""
    return not has(s.parked_duplicates, x) and s.member[x].status != MemberStatus.DOWN


def is_unanswered(s: State, m: int) -> bool:
    """Whether process m waits for a reply that cannot come: its parked request was superseded or forgotten."""
    me = s.member[m]
    waiting = me.status == MemberStatus.JOINING or me.status == MemberStatus.SYNCING
    return waiting and me.net.kind == MessageKind.NOTHING and (has(s.parked_duplicates, m) or not is_parked(s, m))


def is_abandoned(s: State, m: int) -> bool:
    """Whether process m has no member id and no request in flight: an id that the coordinator holds is orphaned."""
    return s.member[m].status == MemberStatus.UNJOINED and s.member[m].has_id == 0


def awaits_heartbeat(me: Member) -> bool:
    """Whether a process waits for the reply to a heartbeat that it sent while its SyncGroup was outstanding.

    A client has one heartbeat in flight, and joins again once it is answered.
    """
    return me.heartbeat_reply != 0


def drop_heartbeat(me: Member) -> None:
    """The process does not wait for the reply to a heartbeat any more."""
    me.heartbeat_reply = 0
    me.heartbeat_generation = 0


def is_request(kind: int) -> bool:
    """Whether a message goes from a process to the coordinator."""
    return (
        kind == MessageKind.JOIN_REQUEST
        or kind == MessageKind.SYNC_REQUEST
        or kind == MessageKind.HEARTBEAT_REQUEST
        or kind == MessageKind.LEAVE_REQUEST
        or kind == MessageKind.COMMIT_REQUEST
    )


def is_error_reply(net: Message) -> bool:
    """Whether the slot holds a reply with an error."""
    return net.error != Error.NONE
