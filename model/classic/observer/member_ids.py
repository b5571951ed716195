"""Prefixes of member ids: the instance id of a static member, else the name of the process.

Two processes may share an instance id (KIP-345), and then compete for one static slot: the coordinator removes the
member id of the one when the other joins. The model's slots are processes, so which slot holds the member id of an
instance id, and which slot loses it in a step, has to be found out here.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.state import Message, Phase, State, has
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.errors import Error

REASONS: Final = {
    ActionKind.JOIN_GROUP: "replaced",
    ActionKind.EXPIRE_SESSION: "session expired",
    ActionKind.EXPIRE_REBALANCE: "rebalance timeout",
    ActionKind.EXPIRE_SYNC: "sync timeout",
}
"""Why a member was removed, as `MemberRemoved` has it; in every other step it left."""


def id_prefix_of(state: State, m: int) -> str:
    """``i0`` of a static member, ``m0`` of a dynamic one: as Kafka, which makes a member id of one or the other.

    Two processes that share an instance id are each other's ``instance_peer``; the smaller number names the id.
    """
    peer = state.member[m].instance_peer
    return f"i{min(m, peer)}" if peer != NIL else f"m{m}"


def holder_of(state: State, m: int) -> int | None:
    """The slot whose member id has m's instance id; None where none has, or m is dynamic."""
    prefix = id_prefix_of(state, m)
    present = (x for x in range(len(state.member)) if has(state.members, x) and id_prefix_of(state, x) == prefix)
    return next(present, None) if prefix.startswith("i") else None


def slots_by_prefix(state: State) -> dict[str, int]:
    """The slot of each member of the group, by the prefix of its member id."""
    return {id_prefix_of(state, x): x for x in range(len(state.member)) if has(state.members, x)}


def replaced_by(action: Action, before: State, after: State) -> int:
    """The slot, as a set, whose instance id a JoinGroup without a member id takes: it may be the sender's own.

    Returns a bit mask with one bit, 0 when the step replaces no member id. A JoinGroup that carries a member id
    replaces none: it is that member, or is fenced (FENCED_INSTANCE_ID).

    Source: KIP-345; ``GroupMetadataManager.classicGroupJoinNewStaticMember``.
    """
    net = before.member[action.member].net
    if action.kind is not ActionKind.JOIN_GROUP or net.has_member_id != 0:
        return 0
    held = holder_of(before, action.member)
    return 0 if held is None or (held != action.member and has(after.members, held)) else 1 << held


def leader_in_reply(state: State, net: Message) -> int:
    """The leader that a JoinGroup reply names: of the old generation if it comes from a zombie coordinator."""
    past = state.zombie_coordinator
    # a generation number alone does not identify the reply: both coordinators may have begun one of the same number
    if past.members and (net.generation, net.origin) == (past.generation, past.origin):
        return past.leader
    return state.leader


def leave_error(state: State, m: int) -> Error:
    """The error that answers a LeaveGroup of ``m``.

    The state after the step does not hold this reply: the process is gone and receives none. A static member leaves by
    its instance id (an administrator's request, KIP-345), so any member id of that instance will do.
    """
    if state.phase == Phase.CLOSED:
        return Error.NOT_COORDINATOR
    if state.phase == Phase.LOADING:
        return Error.COORDINATOR_LOAD_IN_PROGRESS
    if id_prefix_of(state, m).startswith("i"):
        return Error.UNKNOWN_MEMBER_ID if holder_of(state, m) is None else Error.NONE
    return Error.NONE if has((state.members | state.pending) & ~state.stale_ids, m) else Error.UNKNOWN_MEMBER_ID
