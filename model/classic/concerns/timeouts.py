"""Concern *timeouts*: the two timers of a whole group.

The rebalance timeout ends a join phase, the sync timeout a generation whose SyncGroups are missing. Both are armed for
the group and last as long as the longest rebalance timeout of its members (``ClassicGroup.rebalanceTimeoutMs``), so
they remove all late members at once. Where the concern is off, the end of a session stands for both.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.invariants import may_have_joined
from rebalance_check.model.classic.parts.departures import rebalance_without, remove_member
from rebalance_check.model.classic.parts.group_log import is_writing
from rebalance_check.model.classic.parts.join_phase import complete_join
from rebalance_check.model.classic.parts.static_members import static_members
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, State, has, minus, nth, size, with_
from rebalance_check.model.vocabulary.actions import ActionKind


def late_to_join(s: State) -> int:
    """The members that the join phase waits for."""
    return minus(s.members, s.joined)


def late_to_sync(s: State) -> int:
    """The members that have not sent the SyncGroup of this generation (``pendingSyncMembers``)."""
    return s.pending_syncs


def replaced_id_owes(c: Config, s: State) -> bool:
    """Whether a replaced member id owes a SyncGroup: the sync timeout fires for it and removes no member."""
    return c.static_members > 0 and s.replaced_member_owes_sync == 1


def may_expire(c: Config, s: State, late: int) -> bool:
    """Whether a timer may fire for these members; if one of them is alive the firing has a budget, and is counted."""
    for x in range(c.members):
        if has(late, x) and s.member[x].status != MemberStatus.DOWN:
            if s.expiries >= c.expiries:
                return False
            s.expiries += 1
            return True
    return True


def next_leader_candidates_at_timeout(c: Config, s: State) -> int:
    """The slots that may lead after the rebalance timeout (``ClassicGroup.maybeElectNewJoinedLeader``).

    A leader that joined stays; else any member that joined may lead. Where only silent static members remain, one of
    them leads.
    """
    able = s.joined if s.joined != 0 else static_members(c, s)
    return with_(0, s.leader) if s.leader != NIL and has(able, s.leader) else able


def expire_rebalance_choices(c: Config, s: State) -> int:
    """How many members may lead next."""
    return max(size(next_leader_candidates_at_timeout(c, s)), 1) if c.timeouts else 1


def expire_rebalance(c: Config, s: State, k: int) -> bool:
    """The rebalance timeout ends the join phase without the members that have not joined.

    Late dynamic members are removed and the next generation begins with those that joined. Static members stay, also
    silent ones; where none but silent static members is left, the join phase goes on for another timeout.

    Source: ``GroupMetadataManager.completeClassicGroupJoin``; KIP-345.
    Leaves unchanged: pending ids, which join the next generation.
    """
    if not c.timeouts or s.status != GroupStatus.PREPARING or s.initial_rebalance == 1 or is_writing(s):
        return False
    late = minus(late_to_join(s), static_members(c, s))
    if late == 0 and s.joined == 0 and s.members != 0:
        return False
    if not may_expire(c, s, late_to_join(s) | s.pending):
        return False
    able = next_leader_candidates_at_timeout(c, s)
    for x in range(c.members):
        if has(late, x):
            remove_member(s, x, 0)
    if s.members != 0:
        s.leader = nth(able, k)
    if s.members == 0 or s.joined != 0:
        complete_join(c, s)
    return True


def expire_sync_choices(c: Config, s: State) -> int:
    """How many members may lead next: any that remains."""
    if not c.timeouts or not has(late_to_sync(s), s.leader):
        return 1
    return max(size(minus(s.members, late_to_sync(s))), 1)


def expire_sync(c: Config, s: State, k: int) -> bool:
    """The sync timeout removes the members that have not sent their SyncGroup, and the others join again.

    The coordinator arms the timer once per generation, for the longest rebalance timeout of the group.

    Source: ``GroupMetadataManager.expirePendingSync``.
    Leaves unchanged: members whose SyncGroup arrived; they keep their ids and answer the next join phase.
    """
    if not c.timeouts or (late_to_sync(s) == 0 and not replaced_id_owes(c, s)) or is_writing(s):
        return False
    late = late_to_sync(s)
    if not may_expire(c, s, late):
        return False
    leads = has(late, s.leader)
    for x in range(c.members):
        if has(late, x):
            remove_member(s, x, 0)
    if leads and s.members != 0:
        s.leader = nth(s.members, k)
    rebalance_without(c, s)
    return True


# ------------------------------------------------------------------------------------------------ invariants


def pending_sync_members_are_members(c: Config, s: State) -> bool:
    """Only members whose generation has begun owe a SyncGroup, and none whose SyncGroup is parked.

    The set is ``pendingSyncMembers``; the sync timeout removes all that are left in it.

    Source: ``ClassicGroup.addPendingSyncMember``; ``GroupMetadataManager.classicGroupSyncToClassicGroup``.
    Leaves unchanged: a replaced static id, which may owe a SyncGroup without being a member.
    """
    if not c.timeouts or s.pending_syncs == 0:
        return True
    begun = s.status == GroupStatus.COMPLETING or s.status == GroupStatus.STABLE
    return begun and minus(s.pending_syncs, s.members) == 0 and s.pending_syncs & s.synced == 0


def leader_of_a_new_generation_joined(s: State, t: State) -> bool:
    """The leader of a new generation has joined it.

    Where the rebalance timeout finds that the leader did not join, a member that did takes over.

    Source: ``ClassicGroup.maybeElectNewJoinedLeader``.
    Leaves unchanged: which of the members that joined leads.
    """
    if t.generation == s.generation or t.status != GroupStatus.COMPLETING or t.leader == NIL:
        return True
    return may_have_joined(s, t.leader)


def follower_has_not_synced_in_a_stable_group(c: Config, s: State) -> bool:
    """The group is stable, and a follower still owes its SyncGroup.

    The sync timeout goes on running for that follower.

    Source: ``GroupMetadataManager.expirePendingSync``.
    """
    return c.timeouts and s.status == GroupStatus.STABLE and s.pending_syncs != 0


def crashed_leader_blocks_the_sync(c: Config, s: State) -> bool:
    """Followers are parked for the assignment of a leader that has crashed.

    The sync timeout removes the leader and starts the rebalance again.

    Source: ``GroupMetadataManager.expirePendingSync``.
    """
    if not c.timeouts or s.status != GroupStatus.COMPLETING or not has(s.pending_syncs, s.leader):
        return False
    return s.synced != 0 and s.member[s.leader].status == MemberStatus.DOWN


def empty_group_has_pending_ids(c: Config, s: State) -> bool:
    """The last member goes while a handed-out id is still to come.

    The rebalance timeout of a group without members is 0, so the group becomes Empty at once and keeps the pending id.

    Source: ``ClassicGroup.rebalanceTimeoutMs``; KIP-394.
    """
    return c.timeouts and s.status == GroupStatus.EMPTY and s.pending != 0 and s.generation > 0


TIMEOUTS: Final = Concern(
    rules=(
        Rule(ActionKind.EXPIRE_REBALANCE, expire_rebalance, expire_rebalance_choices, members=False, fair=True),
        Rule(ActionKind.EXPIRE_SYNC, expire_sync, expire_sync_choices, members=False, fair=True),
    ),
    invariants=(pending_sync_members_are_members,),
    step_invariants=(leader_of_a_new_generation_joined,),
    reachable_states=(
        follower_has_not_synced_in_a_stable_group,
        crashed_leader_blocks_the_sync,
        empty_group_has_pending_ids,
    ),
)
