"""Concern *message loss*: the network loses a request, a reply, or the connection of a parked request.

The client cannot know the outcome. Like Kafka's (``AbstractCoordinator``, a disconnect) it forgets nothing: it joins
again with its id, generation and partitions, and after a lost Heartbeat it continues. At the coordinator the request
has its effect: a JoinGroup whose connection is closed stays parked, and its reply goes nowhere.

A process that never received its member id asks for another one. In this model it first waits until the coordinator
has forgotten the lost id, since a slot holds one id. Crashes show both ids at once, with a second slot.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.parts.network import is_abandoned, is_parked, is_request, is_unanswered, put
from rebalance_check.model.classic.reachable import awaits_reply
from rebalance_check.model.classic.state import Config, MemberStatus, MessageKind, State, has, with_
from rebalance_check.model.vocabulary.actions import ActionKind


def may_lose(c: Config, s: State) -> bool:
    """Whether the bounds allow another loss."""
    return c.losses > 0 and s.losses < c.losses


def lose_request(c: Config, s: State, m: int) -> bool:
    """The network loses a request on its way to the coordinator.

    The client sees a disconnect or a request timeout and joins again.

    Source: ``RequestFuture``; ``AbstractCoordinator.joinGroupIfNeeded``.
    Leaves unchanged: the coordinator, and what the member knows.
    """
    net = s.member[m].net
    if not may_lose(c, s) or not is_request(net.kind):
        return False
    s.losses += 1
    put(net, MessageKind.NOTHING)
    return True


def lose_reply(c: Config, s: State, m: int) -> bool:
    """The network loses a reply on its way to the process.

    The coordinator has done what was asked; the client learns nothing about it.

    Source: ``RequestFuture``; ``AbstractCoordinator.joinGroupIfNeeded``.
    Leaves unchanged: the coordinator, and what the member knows.
    """
    net = s.member[m].net
    if not may_lose(c, s) or net.kind == MessageKind.NOTHING or is_request(net.kind):
        return False
    s.losses += 1
    put(net, MessageKind.NOTHING)
    return True


def drop_connection(c: Config, s: State, m: int) -> bool:
    """The connection of a parked JoinGroup or SyncGroup breaks.

    The coordinator does not notice: the request stays parked and takes part in its phase, and the reply goes nowhere.

    Source: ``ClassicGroup.updateMember``.
    Leaves unchanged: the parked request, and the member's id, generation and partitions.
    """
    if (
        not may_lose(c, s)
        or not is_parked(s, m)
        or has(s.parked_duplicates, m)
        or s.member[m].status == MemberStatus.DOWN
    ):
        return False
    s.losses += 1
    s.parked_duplicates = with_(s.parked_duplicates, m)
    return True


# ------------------------------------------------------------------------------------------------ invariants


def unknown_outcome_resets_nothing(c: Config, s: State, t: State) -> bool:
    """A member whose request is not answered keeps its id, its generation and its partitions.

    A disconnect or a request timeout says nothing about the group; the client joins again with what it has.

    Source: ``AbstractCoordinator.joinGroupIfNeeded``; ``RequestFuture``.
    Leaves unchanged: the member's status; it becomes unjoined.
    """
    for m in range(c.members):
        one, other = s.member[m], t.member[m]
        if is_unanswered(s, m) and other.status == MemberStatus.UNJOINED:
            if one.has_id != other.has_id or one.generation != other.generation or one.owned != other.owned:
                return False
    return True


def join_reply_is_lost(c: Config, s: State) -> bool:
    """A member belongs to a generation and does not know, because the JoinGroup reply was lost.

    It joins again, and a follower whose metadata did not change is answered with the same generation.

    Source: ``GroupMetadataManager.classicGroupJoinExistingMember``.
    """
    if c.losses > 0:
        for m in range(c.members):
            me = s.member[m]
            if awaits_reply(me) and has(s.members, m) and not is_parked(s, m) and me.generation < s.generation:
                return True
    return False


def parked_request_outlives_its_connection(c: Config, s: State) -> bool:
    """A request stays parked although its process has given the request up.

    The coordinator does not notice closed connections; its reply goes nowhere.

    Source: ``ClassicGroup.updateMember``.
    """
    if c.losses > 0:
        for m in range(c.members):
            if has(s.parked_duplicates, m) and s.member[m].status == MemberStatus.UNJOINED:
                return True
    return False


def assigned_member_id_is_lost(c: Config, s: State) -> bool:
    """The coordinator holds a member id whose process never received it.

    The process joins without an id and gets a second one; the first expires.

    Source: KIP-394; ``GroupMetadataManager.classicGroupJoinNewDynamicMember``.
    """
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
        join_reply_is_lost,
        parked_request_outlives_its_connection,
        assigned_member_id_is_lost,
    ),
)
