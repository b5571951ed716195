"""Static membership (KIP-345): processes with an instance id, which keep a seat in the group under changing member ids.

Two slots may share an instance id: two processes with the same ``group.instance.id``. At most one of their member ids
is in the group; the coordinator moves the seat to whoever joined last without a member id, and whoever speaks under an
id that was replaced is *fenced* (FENCED_INSTANCE_ID). A fenced process is gone for good: an operator must look at it.
"""

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.parts.network import may_answer, refuse
from rebalance_check.model.classic.state import Config, MessageKind, State, has, with_, without
from rebalance_check.model.vocabulary.errors import Error

SKIPS_ASSIGNMENT = 2
"""The flag of a JOIN_REPLY to a leader that came back and must not assign anew (KIP-814)."""


def assign_instance_ids(c: Config, s: State) -> None:
    """Hand out the instance ids: to twins first, then to static members that have one of their own."""
    for m in range(c.static_members):
        s.member[m].instance_peer = m ^ 1 if m < 2 * c.shared_instances else m


def is_static(s: State, m: int) -> bool:
    """Whether m's process has an instance id."""
    return s.member[m].instance_peer != NIL


def holder(s: State, m: int) -> int:
    """The slot whose member id has the seat of m's instance id; NIL when none has, or m is dynamic."""
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
    """Whether m's process learned that another one took its place."""
    return has(s.fenced, m)


def or_fenced(s: State, m: int, error: int) -> int:
    """UNKNOWN_MEMBER_ID as a static member is told it, whose seat another one has (``validateMember``)."""
    if error == Error.UNKNOWN_MEMBER_ID and holder(s, m) != NIL:
        return Error.FENCED_INSTANCE_ID
    return error


def replace_static_member(s: State, old: int, m: int) -> None:
    """The seat goes to m, with assignment and leadership; what ``old`` has parked is fenced (``replaceStaticMember``).

    An id that still owed a SyncGroup owes it on, although nobody can send it.
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
    """The process learns that it is fenced, and ends; it doesn't come back."""
    s.fenced = with_(s.fenced, m)
