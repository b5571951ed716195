"""The timers of a whole group: the rebalance timeout ends a join phase, the sync timeout a generation without syncs.

Both are armed for the group and not for a member (``ClassicGroup.rebalanceTimeoutMs``), so they remove all who are late
at once. Without the concern ``timeouts`` the model lets a session end wherever one of them would fire.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.coordinator import complete_join, rebalance_without, remove_member
from rebalance_check.model.classic.invariants import joins
from rebalance_check.model.classic.parts.group_log import is_writing
from rebalance_check.model.classic.parts.static_members import static_members
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, State, has, minus, nth, size, with_
from rebalance_check.model.vocabulary.actions import ActionKind


def late_to_join(s: State) -> int:
    """The members that the join phase waits for."""
    return minus(s.members, s.joined)


def late_to_sync(s: State) -> int:
    """The members that have not sent the SyncGroup of this generation (``pendingSyncMembers``)."""
    return s.owing[0]


def ghost_owes(c: Config, s: State) -> bool:
    """Whether an id owes a SyncGroup that was replaced since: its time runs out, too, and removes nobody."""
    return c.static_members > 0 and s.ghost[0] == 1


def may_expire(c: Config, s: State, late: int) -> bool:
    """Whether a timer may fire on these: it makes zombies of those who live, which has a budget."""
    for x in range(c.members):
        if has(late, x) and s.member[x].status != MemberStatus.DOWN:
            if s.expiries >= c.expiries:
                return False
            s.expiries += 1
            return True
    return True


def heirs_of_late(c: Config, s: State) -> int:
    """Who may lead after the rebalance timeout: a leader that is late does not (``maybeElectNewJoinedLeader``).

    Where nobody joined and static members remain, one of them leads if the leader was not one.
    """
    able = s.joined if s.joined != 0 else static_members(c, s)
    return with_(0, s.leader) if s.leader != NIL and has(able, s.leader) else able


def expire_rebalance_choices(c: Config, s: State) -> int:
    """Who leads next."""
    return max(size(heirs_of_late(c, s)), 1) if c.timeouts else 1


def expire_rebalance(c: Config, s: State, k: int) -> bool:
    """The rebalance timeout: who has not joined is removed, and the generation begins with those who have.

    Ids that were handed out stay pending, and join the next one. Static members keep their seats; where nobody else is
    left, the join phase goes on for as long again (``completeClassicGroupJoin``).
    """
    if not c.timeouts or s.status != GroupStatus.PREPARING or s.initial == 1 or is_writing(c, s):
        return False
    late = minus(late_to_join(s), static_members(c, s))
    if late == 0 and s.joined == 0 and s.members != 0:
        return False
    if not may_expire(c, s, late_to_join(s) | s.pending):
        return False
    able = heirs_of_late(c, s)
    for x in range(c.members):
        if has(late, x):
            remove_member(s, x, 0)
    if s.members != 0:
        s.leader = nth(able, k)
    if s.members == 0 or s.joined != 0:
        complete_join(c, s)
    return True


def expire_sync_choices(c: Config, s: State) -> int:
    """Who leads next: any that remains."""
    if not c.timeouts or not has(late_to_sync(s), s.leader):
        return 1
    return max(size(minus(s.members, late_to_sync(s))), 1)


def expire_sync(c: Config, s: State, k: int) -> bool:
    """The sync timeout: who has not synced is removed, and the rest joins again (``expirePendingSync``)."""
    if not c.timeouts or (late_to_sync(s) == 0 and not ghost_owes(c, s)) or is_writing(c, s):
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


# ------------------------------------------------------------------------------------------------ claims


def who_owes_a_sync_is_a_member(c: Config, s: State) -> bool:
    """A SyncGroup is owed only by members whose generation has begun, and not by one whose SyncGroup is parked."""
    if not c.timeouts or s.owing[0] == 0:
        return True
    begun = s.status == GroupStatus.COMPLETING or s.status == GroupStatus.STABLE
    return begun and minus(s.owing[0], s.members) == 0 and s.owing[0] & s.synced == 0


def leader_of_a_new_generation_joined(s: State, t: State) -> bool:
    """Whoever leads a generation joined it."""
    if t.generation == s.generation or t.status != GroupStatus.COMPLETING or t.leader == NIL:
        return True
    return joins(s, t.leader)


def follower_owes_in_a_stable_group(c: Config, s: State) -> bool:
    """The leader has assigned, and a member still owes its SyncGroup."""
    return c.timeouts and s.status == GroupStatus.STABLE and s.owing[0] != 0


def leader_that_died_owes_a_sync(c: Config, s: State) -> bool:
    """All wait for the assignment of a leader that died."""
    if not c.timeouts or s.status != GroupStatus.COMPLETING or not has(s.owing[0], s.leader):
        return False
    return s.synced != 0 and s.member[s.leader].status == MemberStatus.DOWN


def empty_group_has_pending_ids(c: Config, s: State) -> bool:
    """The last member goes, and an id that was handed out is still to come."""
    return c.timeouts and s.status == GroupStatus.EMPTY and s.pending != 0 and s.generation > 0


TIMEOUTS: Final = Concern(
    rules=(
        Rule(ActionKind.EXPIRE_REBALANCE, expire_rebalance, expire_rebalance_choices, members=False, fair=True),
        Rule(ActionKind.EXPIRE_SYNC, expire_sync, expire_sync_choices, members=False, fair=True),
    ),
    invariants=(who_owes_a_sync_is_a_member,),
    step_invariants=(leader_of_a_new_generation_joined,),
    reachable_states=(
        follower_owes_in_a_stable_group,
        leader_that_died_owes_a_sync,
        empty_group_has_pending_ids,
    ),
)
