"""The network of the classic protocol: one message between a process and the coordinator, and one stray copy."""

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.classic.state import Member, MemberStatus, Message, MessageKind, State, has
from rebalance_check.model.vocabulary.errors import Error


def put(net: Message, kind: int) -> None:
    """Replace the message in a slot by an empty one of another kind."""
    reset(net)
    net.kind = kind


def refuse(s: State, m: int, kind: int, error: int) -> None:
    """Answer a request of m that is not parked with an error."""
    put(s.member[m].net, kind)
    s.member[m].net.error = error


def is_parked(s: State, m: int) -> bool:
    """Whether the coordinator holds back the answer to a JoinGroup or SyncGroup under m's id."""
    return has(s.joined | s.synced, m)


def may_answer(s: State, x: int) -> bool:
    """Whether the answer to x's parked request reaches the process: not that of a copy, nor of a process that died."""
    return not has(s.parked_duplicates, x) and s.member[x].status != MemberStatus.DOWN


def is_unanswered(s: State, m: int) -> bool:
    """Whether process m waits for an answer that will never come: a copy took the place of its parked request."""
    me = s.member[m]
    waiting = me.status == MemberStatus.JOINING or me.status == MemberStatus.SYNCING
    return waiting and me.net.kind == MessageKind.NOTHING and (has(s.parked_duplicates, m) or not is_parked(s, m))


def is_abandoned(s: State, m: int) -> bool:
    """Whether process m runs without an id and without a word to the coordinator: an id that this knows is nobody's."""
    return s.member[m].status == MemberStatus.UNJOINED and s.member[m].has_id == 0


def awaits_heartbeat(me: Member) -> bool:
    """Whether a process waits for the answer to a heartbeat that it sent beside its SyncGroup: it sends one at a time,
    and joins again when it has been answered."""
    return me.heartbeat_reply != 0


def drop_heartbeat(me: Member) -> None:
    """Nobody waits for the answer any more."""
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
    """Whether the slot holds a reply that refuses the request."""
    return net.error != Error.NONE
