"""What must be true of the classic protocol: in every state, of every step, and somewhere (or a run was vacuous).

A member is *current* when the coordinator knows its id, it has processed the JoinGroup answer of the group's
generation, and it has not missed a generation since it got what it owns. An owner that isn't current is a *zombie*: it
still processes until it learns that it was replaced.

How a generation is missed, found by exploring: a copy of m1's JoinGroup, with the claims of long ago, completes a join
phase in place of m1, and m1's partitions are given away. A Heartbeat answered REBALANCE_IN_PROGRESS before that makes
m1 join again without losing anything. It is then in the group's generation, and beside the new owner owns a partition,
until its next assignment (KIP-792 lets the newer claim win).
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.parts.group_log import (
    is_of_the_generation,
    is_of_this_life,
    is_serving,
    is_told_by_zombie,
    same_life,
)
from rebalance_check.model.classic.parts.protocol_vote import keeps_partitions
from rebalance_check.model.classic.parts.static_members import is_fenced, static_members
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    Member,
    MemberStatus,
    Message,
    MessageKind,
    State,
    has,
    minus,
    size,
)
from rebalance_check.model.vocabulary.errors import Error


def is_current(s: State, m: int) -> bool:
    """Whether m's process belongs to the group's generation, and the group took account of what it owns."""
    me = s.member[m]
    return (
        is_of_the_generation(s, m)
        and me.generation != 0
        and has(s.members, m)
        and me.has_id == 1
        and me.aux_missed == 0
        and me.status != MemberStatus.DOWN
    )


# ------------------------------------------------------------------------------------------------ in every state


def no_double_ownership(c: Config, s: State) -> bool:
    """A partition has at most one owner among the current members."""
    taken = 0
    for m in range(c.members):
        if s.member[m].owned != 0 and is_current(s, m):
            if s.member[m].owned & taken != 0:
                return False
            taken = taken | s.member[m].owned
    return True


def generation_is_not_ahead(c: Config, s: State) -> bool:
    """No registered member is in a generation that the group has not reached, unless it began before a failover."""
    for m in range(c.members):
        if s.member[m].generation > s.generation and has(s.members, m) and is_of_this_life(s, m):
            return False
    return True


def eager_owns_nothing_while_joining(c: Config, s: State) -> bool:
    """Under EAGER a member owns nothing from its JoinGroup until its assignment arrives."""
    for m in range(c.members):
        me = s.member[m]
        if me.status == MemberStatus.JOINING or me.status == MemberStatus.SYNCING:
            if me.owned != 0 and not keeps_partitions(c, s, m):
                return False
    return True


def no_generation_owns_nothing(c: Config, s: State) -> bool:
    """A member without a generation has lost all its partitions."""
    for m in range(c.members):
        if s.member[m].generation == 0 and s.member[m].owned != 0:
            return False
    return True


def owned_equals_assigned(c: Config, s: State) -> bool:
    """In a stable group a current member that is stable owns exactly what the group assigned to it."""
    if s.status == GroupStatus.STABLE:
        for m in range(c.members):
            me = s.member[m]
            if me.status == MemberStatus.STABLE and me.owned != me.assignment and is_current(s, m):
                return False
    return True


def assignment_is_disjoint(c: Config, s: State) -> bool:
    """The assignment gives a partition to at most one member."""
    taken = 0
    for m in range(c.members):
        if s.member[m].assignment & taken != 0:
            return False
        taken = taken | s.member[m].assignment
    return True


def pending_ids_are_not_members(s: State) -> bool:
    """An id that was handed out and not yet used is not a member."""
    return s.pending & s.members == 0


def leader_is_member(s: State) -> bool:
    """A group has a leader exactly when it has members, and the leader is one of them."""
    if s.leader == NIL:
        return s.members == 0
    return has(s.members, s.leader)


def empty_group_is_clean(s: State) -> bool:
    """A group that is empty or dead has no members; one that has no members is not completing and not stable."""
    if s.status == GroupStatus.EMPTY or s.status == GroupStatus.DEAD:
        return s.members == 0
    return s.members != 0 or s.status == GroupStatus.PREPARING


def parked_requests_fit_the_status(s: State) -> bool:
    """A JoinGroup is parked only while the group is preparing, a SyncGroup only while it is completing."""
    if s.joined != 0 and s.status != GroupStatus.PREPARING:
        return False
    if s.synced != 0 and s.status != GroupStatus.COMPLETING:
        return False
    parked = s.joined | s.synced
    return minus(parked, s.members) == 0 and minus(s.orphans, parked) == 0


# ------------------------------------------------------------------------------------------------ of every step


def generation_monotonicity(s: State, t: State) -> bool:
    """Within one life of the group its generation never decreases, and grows by one at a time."""
    return not same_life(s, t) or s.generation <= t.generation <= s.generation + 1


def generation_is_new_after_each_join_phase(s: State, t: State) -> bool:
    """The end of a join phase, and nothing else, begins a new generation."""
    if not same_life(s, t):
        return True
    if t.generation != s.generation:
        return t.status == GroupStatus.COMPLETING or t.status == GroupStatus.EMPTY
    if t.status == GroupStatus.COMPLETING:
        return s.status == GroupStatus.COMPLETING
    return t.status != GroupStatus.EMPTY or s.status == GroupStatus.EMPTY or s.status == GroupStatus.DEAD


def joins(s: State, m: int) -> bool:
    """Whether a JoinGroup of m is parked, or may arrive in the next step."""
    return (
        has(s.joined, m)
        or s.member[m].net.kind == MessageKind.JOIN_REQUEST
        or (s.stray.kind == MessageKind.JOIN_REQUEST and s.stray.member == m)
    )


def generation_has_only_joined(c: Config, s: State, t: State) -> bool:
    """A generation begins with nobody but those whose JoinGroup arrived in its join phase (the barrier).

    A rebalance timeout keeps static members, silent ones too.
    """
    if t.generation == s.generation or t.status != GroupStatus.COMPLETING:
        return True
    kept = minus(static_members(c, s), s.joined) if c.timeouts else 0
    for m in range(c.members):
        if has(t.members, m) and not joins(s, m) and not has(kept, m):
            return False
    return size(minus(minus(t.members, s.joined), kept)) <= 1


def generation_waits_for_pending_ids(c: Config, s: State, t: State) -> bool:
    """Except for the first of an empty group, no generation begins while an id that was handed out is still to come.

    The rebalance timeout (``timeouts``) begins one all the same; the id joins the next (``completeClassicGroupJoin``).
    """
    if c.timeouts or t.generation == s.generation or t.status != GroupStatus.COMPLETING or s.initial == 1:
        return True
    return t.pending == 0 or s.status == GroupStatus.EMPTY or s.status == GroupStatus.DEAD


def join_is_fenced(c: Config, s: State, t: State) -> bool:
    """A JoinGroup is answered with a generation only to a member, and with that of the group."""
    for m in range(c.members):
        if is_new_answer(s.member[m].net, t.member[m].net, MessageKind.JOIN_REPLY):
            generation = t.member[m].net.generation
            if is_told_by_zombie(c, s, m, generation):
                continue
            if not has(t.members, m) or generation != t.generation:
                return False
    return True


def sync_is_fenced(c: Config, s: State, t: State) -> bool:
    """A SyncGroup is answered with an assignment only to a member, in the group's generation, when it is stable."""
    for m in range(c.members):
        if is_new_answer(s.member[m].net, t.member[m].net, MessageKind.SYNC_REPLY):
            if is_told_by_zombie(c, s, m, t.member[m].generation) and s.zombie[0].status == GroupStatus.STABLE:
                continue
            if not has(t.members, m) or t.member[m].generation != t.generation or t.status != GroupStatus.STABLE:
                return False
    return True


def heartbeat_is_fenced(c: Config, s: State, t: State) -> bool:
    """A Heartbeat is answered well only to a member, in the group's generation, when no rebalance is being prepared.

    Except by a coordinator that is loading, which believes it unread, and by one that was deposed.
    """
    for m in range(c.members):
        if is_serving(c, s) and is_new_answer(s.member[m].net, t.member[m].net, MessageKind.HEARTBEAT_REPLY):
            if is_told_by_zombie(c, s, m, t.member[m].generation):
                continue
            if not has(t.members, m) or t.member[m].generation != t.generation or t.status < GroupStatus.COMPLETING:
                return False
    return True


def reset_member_loses_everything(c: Config, s: State, t: State) -> bool:
    """A member that learns UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION owns nothing and has no generation afterwards."""
    for m in range(c.members):
        error = s.member[m].net.error
        if error == Error.UNKNOWN_MEMBER_ID or error == Error.ILLEGAL_GENERATION:
            me = t.member[m]
            learns = me.net.kind == MessageKind.NOTHING and me.status == MemberStatus.UNJOINED
            if learns and (me.owned != 0 or me.generation != 0):
                return False
    return True


def is_new_answer(before: Message, after: Message, kind: int) -> bool:
    """Whether an answer of this kind, and no error, was written in this step."""
    return after.kind == kind and before.kind != kind and after.error == Error.NONE


# ------------------------------------------------------------------------------------------------ somewhere


def everyone_is_stable(c: Config, s: State) -> bool:
    """All members are stable in one generation; a process that was fenced is none."""
    for m in range(c.members):
        if is_fenced(c, s, m):
            continue
        if s.member[m].status != MemberStatus.STABLE or not is_current(s, m):
            return False
    return s.status == GroupStatus.STABLE


def zombie_owns_beside_the_owner(c: Config, s: State) -> bool:
    """A zombie owns what another member owns in a later generation."""
    for m in range(c.members):
        if s.member[m].owned != 0 and not is_current(s, m):
            for x in range(c.members):
                if s.member[x].owned & s.member[m].owned != 0 and is_current(s, x):
                    return True
    return False


def second_round_happens(c: Config, s: State) -> bool:
    """A COOPERATIVE member that revoked partitions joins again, in the generation that is still stable."""
    for m in range(c.members):
        if s.member[m].net.kind == MessageKind.JOIN_REQUEST and s.status == GroupStatus.STABLE and is_current(s, m):
            if keeps_partitions(c, s, m):
                return True
    return False


def partition_is_withheld(c: Config, s: State) -> bool:
    """A stable group leaves a partition to nobody, because its old owner must give it up first."""
    given = 0
    for m in range(c.members):
        given = given | s.member[m].assignment
    return s.status == GroupStatus.STABLE and given != (1 << c.partitions) - 1


def group_empties(s: State) -> bool:
    """The last member goes, and the group is empty in a later generation."""
    return s.status == GroupStatus.EMPTY and s.generation > 0


def leader_is_down(s: State) -> bool:
    """The group waits for a leader that died."""
    return s.leader != NIL and s.member[s.leader].status == MemberStatus.DOWN


def id_is_required(c: Config, s: State) -> bool:
    """A newcomer is told the id to come back with."""
    return any_refused(c, s, MessageKind.JOIN_REPLY, Error.MEMBER_ID_REQUIRED)


def join_meets_unknown_member(c: Config, s: State) -> bool:
    """A JoinGroup is refused with UNKNOWN_MEMBER_ID."""
    return any_refused(c, s, MessageKind.JOIN_REPLY, Error.UNKNOWN_MEMBER_ID)


def sync_meets_unknown_member(c: Config, s: State) -> bool:
    """A SyncGroup is refused with UNKNOWN_MEMBER_ID."""
    return any_refused(c, s, MessageKind.SYNC_REPLY, Error.UNKNOWN_MEMBER_ID)


def sync_meets_illegal_generation(c: Config, s: State) -> bool:
    """A SyncGroup is refused with ILLEGAL_GENERATION."""
    return any_refused(c, s, MessageKind.SYNC_REPLY, Error.ILLEGAL_GENERATION)


def sync_meets_rebalance(c: Config, s: State) -> bool:
    """A SyncGroup is refused with REBALANCE_IN_PROGRESS."""
    return any_refused(c, s, MessageKind.SYNC_REPLY, Error.REBALANCE_IN_PROGRESS)


def heartbeat_meets_unknown_member(c: Config, s: State) -> bool:
    """A Heartbeat is refused with UNKNOWN_MEMBER_ID."""
    return any_refused(c, s, MessageKind.HEARTBEAT_REPLY, Error.UNKNOWN_MEMBER_ID)


def heartbeat_meets_illegal_generation(c: Config, s: State) -> bool:
    """A Heartbeat is refused with ILLEGAL_GENERATION."""
    return any_refused(c, s, MessageKind.HEARTBEAT_REPLY, Error.ILLEGAL_GENERATION)


def heartbeat_meets_rebalance(c: Config, s: State) -> bool:
    """A Heartbeat is refused with REBALANCE_IN_PROGRESS."""
    return any_refused(c, s, MessageKind.HEARTBEAT_REPLY, Error.REBALANCE_IN_PROGRESS)


def any_refused(c: Config, s: State, kind: int, error: int) -> bool:
    """Whether some reply of this kind carries this error."""
    for m in range(c.members):
        if s.member[m].net.kind == kind and s.member[m].net.error == error:
            return True
    return False


def copy_is_stale(s: State) -> bool:
    """A copy is on its way under an id that the coordinator has forgotten."""
    return s.stray.stale == 1


def copy_takes_the_place(c: Config, s: State) -> bool:
    """A member waits for an answer that will go nowhere, because a copy took the place of its request."""
    for m in range(c.members):
        if has(s.orphans, m) and is_waiting(s.member[m]):
            return True
    return False


def is_waiting(me: Member) -> bool:
    """Whether a process waits for the answer to a request that has arrived."""
    waits = me.status == MemberStatus.JOINING or me.status == MemberStatus.SYNCING
    return waits and me.net.kind == MessageKind.NOTHING


GROUP: Final = Concern(
    invariants=(
        no_double_ownership,
        generation_is_not_ahead,
        eager_owns_nothing_while_joining,
        no_generation_owns_nothing,
        owned_equals_assigned,
        assignment_is_disjoint,
        pending_ids_are_not_members,
        leader_is_member,
        empty_group_is_clean,
        parked_requests_fit_the_status,
    ),
    step_invariants=(
        generation_monotonicity,
        generation_is_new_after_each_join_phase,
        generation_has_only_joined,
        generation_waits_for_pending_ids,
        join_is_fenced,
        sync_is_fenced,
        heartbeat_is_fenced,
        reset_member_loses_everything,
    ),
    reachable_states=(
        everyone_is_stable,
        zombie_owns_beside_the_owner,
        second_round_happens,
        partition_is_withheld,
        group_empties,
        leader_is_down,
        id_is_required,
        join_meets_unknown_member,
        sync_meets_unknown_member,
        sync_meets_illegal_generation,
        sync_meets_rebalance,
        heartbeat_meets_unknown_member,
        heartbeat_meets_illegal_generation,
        heartbeat_meets_rebalance,
        copy_is_stale,
        copy_takes_the_place,
    ),
)
