"""A member is gone: the coordinator forgets it, and the others rebalance."""

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.parts.join_phase import complete_join, maybe_complete_join, prepare_rebalance
from rebalance_check.model.classic.parts.network import may_answer, refuse
from rebalance_check.model.classic.state import Config, GroupStatus, MessageKind, State, has, nth, size, without
from rebalance_check.model.vocabulary.errors import Error


def next_leader_candidates(s: State, m: int) -> int:
    """How many members may lead after m: the order of a hash map decides among those who remain.

    Source: ``ClassicGroup.remove``.
    """
    others = size(without(s.members, m))
    return others if m == s.leader and others > 0 else 1


def remove_member(s: State, m: int, k: int) -> None:
    """The coordinator forgets a member or pending id; the k-th member that remains leads if it led.

    A duplicate that is still on its way under this id becomes stale.

    Source: ``ClassicGroup.remove``.
    """
    s.members = without(s.members, m)
    s.pending = without(s.pending, m)
    s.joined = without(s.joined, m)
    s.synced = without(s.synced, m)
    s.parked_duplicates = without(s.parked_duplicates, m)
    s.new_members = without(s.new_members, m)
    s.member[m].owned_partitions = 0
    s.member[m].owned_generation = 0
    s.member[m].assignment = 0
    s.member[m].kept_list_index = 0
    if s.leader == m:
        s.leader = NIL if s.members == 0 else nth(s.members, k)
    if s.duplicate.member == m:
        s.duplicate.stale = 1


def rebalance_without(c: Config, s: State) -> None:
    """A member or pending id is gone: the others share its partitions out.

    A group without members becomes Empty at once, whatever ids are pending: its rebalance timeout, the maximum over its
    members, is 0.

    Source: ``GroupMetadataManager.removeMemberAndUpdateClassicGroup``.
    """
    if s.status == GroupStatus.COMPLETING or s.status == GroupStatus.STABLE:
        prepare_rebalance(c, s)
        if s.members == 0:
            complete_join(c, s)
    maybe_complete_join(c, s)


def refuse_join_of_removed(s: State, m: int) -> None:
    """A removed member whose JoinGroup is parked gets UNKNOWN_MEMBER_ID. A parked SyncGroup gets no reply.

    Source: ``GroupMetadataManager.removeMemberAndUpdateClassicGroup``.
    """
    if has(s.joined, m) and may_answer(s, m):
        refuse(s, m, MessageKind.JOIN_REPLY, Error.UNKNOWN_MEMBER_ID)
