"""Static membership (KIP-345): processes with an instance id, which hold a slot under changing member ids.

Two processes may share an instance id by mistake. At most one of their member ids is in the group: the coordinator
gives the static slot to the process that joined last without a member id, and fences requests under an id that was
replaced (FENCED_INSTANCE_ID). A fenced process does not come back.
"""

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.parts.network import may_answer, refuse
from rebalance_check.model.classic.state import Config, MessageKind, State, has, with_, without
from rebalance_check.model.vocabulary.errors import Error

SKIPS_ASSIGNMENT = 2
"""The flag of a JOIN_REPLY to a leader that came back and must not assign anew (KIP-814)."""


def assign_instance_ids(c: Config, s: State) -> None:
    """Each static member gets an instance id: pairs of slots share one first, then each slot has its own."""
    for m in range(c.static_members):
        s.member[m].instance_peer = m ^ 1 if m < 2 * c.shared_instances else m


def is_static(s: State, m: int) -> bool:
    """Whether m's process has an instance id."""
    return s.member[m].instance_peer != NIL


def holder(s: State, m: int) -> int:
    """The slot whose member id holds m's instance id in the group; NIL if no member does, or m is dynamic."""
    if is_static(s, m):
        if has(s.members, m):
            return m
        if has(s.members, s.member[m].instance_peer):
            return int(s.member[m].instance_peer)
    return NIL


def static_members(c: Config, s: State) -> int:
    """The members that have an instance id."""
    found = 0
    for x in range(c.members):
        if has(s.members, x) and is_static(s, x):
            found = with_(found, x)
    return found


def is_fenced(s: State, m: int) -> bool:
    """Whether m's process was fenced by another process with its instance id."""
    return has(s.fenced, m)


def or_fenced(s: State, m: int, error: int) -> int:
    """The error of an unknown member id: FENCED_INSTANCE_ID if another member id holds its instance id.

    Source: ``ClassicGroup.validateMember``.
    """
    if error == Error.UNKNOWN_MEMBER_ID and holder(s, m) != NIL:
        return Error.FENCED_INSTANCE_ID
    return error


def replace_static_member(s: State, old: int, m: int) -> None:
    """The static slot goes from member id ``old`` to that of m, with its assignment and leadership.

    Requests that ``old`` has parked are fenced. A SyncGroup that ``old`` still owed stays owed, although no process can
    send it: the sync timeout is bound to fire.

    Source: ``ClassicGroup.replaceStaticMember``.
    """
    if has(s.joined, old) and may_answer(s, old):
        refuse(s, old, MessageKind.JOIN_REPLY, Error.FENCED_INSTANCE_ID)
    if has(s.synced, old) and may_answer(s, old):
        refuse(s, old, MessageKind.SYNC_REPLY, Error.FENCED_INSTANCE_ID)
    s.members = with_(without(s.members, old), m)
    s.joined = without(s.joined, old)
    s.synced = without(s.synced, old)
    s.parked_duplicates = without(s.parked_duplicates, old)
    s.member[old].owned_partitions = 0
    s.member[old].owned_generation = 0
    s.member[old].kept_list_index = 0
    assignment = s.member[old].assignment
    s.member[old].assignment = 0
    s.member[m].assignment = assignment
    if s.leader == old:
        s.leader = m
    if s.duplicate.member == old:
        s.duplicate.stale = 1
    if has(s.pending_syncs, old):
        s.pending_syncs = without(s.pending_syncs, old)
        s.replaced_member_owes_sync = 1


def give_up(s: State, m: int) -> None:
    """The process was fenced and ends for good: an operator has to resolve the duplicate instance id."""
    s.fenced = with_(s.fenced, m)
