"""Concern *losses* of the classic protocol: the network loses a request, a reply, or a parked request's connection.

The outcome stays unknown to the client. As Kafka's does (``AbstractCoordinator``, a disconnect), it forgets nothing: it
joins again with the id, the generation and the partitions that it has, and after a lost heartbeat it just goes on. What
the coordinator did is done: a JoinGroup whose connection is gone stays parked, and its answer goes nowhere.

A process that never learned its id asks for another one. Here it waits until the coordinator has forgotten the first,
since a slot holds one id; the two beside each other are what a process that crashes and a second slot show.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.invariants import is_waiting
from rebalance_check.model.classic.parts.network import is_abandoned, is_parked, is_request, is_unanswered, put
from rebalance_check.model.classic.state import Config, MemberStatus, MessageKind, State, has, with_
from rebalance_check.model.vocabulary.actions import ActionKind


def may_lose(c: Config, s: State) -> bool:
    """Whether the network may lose something more."""
    return c.losses > 0 and s.losses[0] < c.losses


def lose_request(c: Config, s: State, m: int) -> bool:
    """A request never arrives."""
    net = s.member[m].net
    if not may_lose(c, s) or not is_request(net.kind):
        return False
    s.losses[0] += 1
    put(c, net, MessageKind.NOTHING)
    return True


def lose_reply(c: Config, s: State, m: int) -> bool:
    """The coordinator has answered, and the process never learns what."""
    net = s.member[m].net
    if not may_lose(c, s) or net.kind == MessageKind.NOTHING or is_request(net.kind):
        return False
    s.losses[0] += 1
    put(c, net, MessageKind.NOTHING)
    return True


def drop_connection(c: Config, s: State, m: int) -> bool:
    """The connection breaks on which a JoinGroup or SyncGroup is parked: it stays parked, for nobody."""
    if not may_lose(c, s) or not is_parked(s, m) or has(s.orphans, m) or s.member[m].status == MemberStatus.DOWN:
        return False
    s.losses[0] += 1
    s.orphans = with_(s.orphans, m)
    return True


# ------------------------------------------------------------------------------------------------ claims


def unknown_outcome_resets_nothing(c: Config, s: State, t: State) -> bool:
    """A member whose request nobody answers keeps its id, its generation and its partitions."""
    for m in range(c.members):
        one, other = s.member[m], t.member[m]
        if is_unanswered(s, m) and other.status == MemberStatus.UNJOINED:
            if one.has_id != other.has_id or one.generation != other.generation or one.owned != other.owned:
                return False
    return True


def member_waits_in_vain(c: Config, s: State) -> bool:
    """A member belongs to a generation without knowing it, because its answer was lost."""
    if c.losses > 0:
        for m in range(c.members):
            me = s.member[m]
            if is_waiting(me) and has(s.members, m) and not is_parked(s, m) and me.generation < s.generation:
                return True
    return False


def parked_request_outlives_its_connection(c: Config, s: State) -> bool:
    """A request is parked for a process that has given it up."""
    if c.losses > 0:
        for m in range(c.members):
            if has(s.orphans, m) and s.member[m].status == MemberStatus.UNJOINED:
                return True
    return False


def id_is_never_learned(c: Config, s: State) -> bool:
    """The coordinator knows an id that its process does not, and never will."""
    if c.losses > 0:
        for m in range(c.members):
            if has(s.members | s.pending, m) and is_abandoned(s, m):
                return True
    return False


MESSAGE_LOSS: Final = Concern(
    rules=(
        Rule(ActionKind.LOSE_REQUEST, lose_request),
        Rule(ActionKind.LOSE_REPLY, lose_reply),
        Rule(ActionKind.DROP_CONNECTION, drop_connection),
    ),
    step_invariants=(unknown_outcome_resets_nothing,),
    reachable_states=(
        member_waits_in_vain,
        parked_request_outlives_its_connection,
        id_is_never_learned,
    ),
)
