"""Invariants of the classic protocol: claims about every state and every step.

A member is *current* when the coordinator holds its id, it has processed the JoinGroup reply of the group's generation,
and it has not missed a generation since it got its partitions. An owner that is not current is *stale*: it goes on
processing until one of its requests is refused.

How a member misses a generation: a duplicate of m1's JoinGroup, with an old ``owned`` set, completes a join phase in
place of m1, and m1's partitions are given away. If a Heartbeat was answered REBALANCE_IN_PROGRESS before that, m1 joins
again without losing anything. It is then in the group's generation and owns a partition of the new owner as well,
until its next assignment (KIP-792: the newer owner wins).
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.parts.group_log import (
    is_known_to_zombie,
    is_of_the_generation,
    is_of_this_incarnation,
    is_serving,
    same_incarnation,
)
from rebalance_check.model.classic.parts.protocol_vote import keeps_partitions
from rebalance_check.model.classic.parts.static_members import static_members
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
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
    """Whether m's process is in the group's generation, and the leader knew its partitions."""
    me = s.member[m]
    return (
        is_of_the_generation(s, m)
        and me.generation != 0
        and has(s.members, m)
        and me.has_id == 1
        and me.aux_missed == 0
        and me.status != MemberStatus.DOWN
    )


# ------------------------------------------------------------------------------------------------ invariants


def no_double_ownership(c: Config, s: State) -> bool:
    """A partition has at most one owner among the current members.

    A member is current when the coordinator holds its id, the member has processed the JoinGroup reply of the group's
    generation, and the leader knew what it owned. Two current owners would process the same records twice.

    Source: KIP-429; KIP-792; ``ConsumerCoordinator.onJoinComplete``.
    Leaves unchanged: owners that are not current; they may process until they learn that they were replaced.
    """
    taken = 0
    for m in range(c.members):
        if s.member[m].owned != 0 and is_current(s, m):
            if s.member[m].owned & taken != 0:
                return False
            taken = taken | s.member[m].owned
    return True


def member_generation_is_not_ahead(c: Config, s: State) -> bool:
    """No registered member is in a generation that the group has not reached.

    Only the coordinator begins generations (``ClassicGroup.initNextGeneration``), and a member takes its own from a
    JoinGroup reply.

    Source: ``ClassicGroup.initNextGeneration``; ``AbstractCoordinator.JoinGroupResponseHandler``.
    Leaves unchanged: generations that began before a failover; their numbers may be above the log.
    """
    for m in range(c.members):
        if s.member[m].generation > s.generation and has(s.members, m) and is_of_this_incarnation(s, m):
            return False
    return True


def eager_owns_nothing_while_joining(c: Config, s: State) -> bool:
    """Under EAGER a member owns nothing from its JoinGroup until its assignment arrives.

    An EAGER member revokes all its partitions before it sends the JoinGroup, so that the leader may give them to any
    member.

    Source: KIP-429; ``ConsumerCoordinator.onJoinPrepare``.
    Leaves unchanged: COOPERATIVE members, which keep their partitions while they rebalance.
    """
    for m in range(c.members):
        me = s.member[m]
        if me.status == MemberStatus.JOINING or me.status == MemberStatus.SYNCING:
            if me.owned != 0 and not keeps_partitions(c, s, m):
                return False
    return True


def member_without_generation_owns_nothing(c: Config, s: State) -> bool:
    """A member without a generation owns no partition.

    Leaving a generation means ``onPartitionsLost`` or ``onPartitionsRevoked`` for everything.

    Source: ``AbstractCoordinator.resetStateAndGeneration``; ``ConsumerCoordinator.onJoinPrepare``.
    Leaves unchanged: what a member of an old generation owns.
    """
    for m in range(c.members):
        if s.member[m].generation == 0 and s.member[m].owned != 0:
            return False
    return True


def owned_equals_assigned(c: Config, s: State) -> bool:
    """In a stable group a current member that is stable owns exactly what the group assigned to it.

    The coordinator and the member read the same SyncGroup assignment; a COOPERATIVE member that has to revoke is not
    stable yet.

    Source: ``ConsumerCoordinator.onJoinComplete``; ``GroupMetadataManager.classicGroupSyncToClassicGroup``.
    Leaves unchanged: members that still wait for their SyncGroup reply.
    """
    if s.status == GroupStatus.STABLE:
        for m in range(c.members):
            me = s.member[m]
            if me.status == MemberStatus.STABLE and me.owned != me.assignment and is_current(s, m):
                return False
    return True


def assignment_is_disjoint(c: Config, s: State) -> bool:
    """The assignment gives a partition to at most one member.

    The coordinator does not look into assignments, so this is a claim about the leader's assignor.

    Source: ``ConsumerPartitionAssignor.assign``.
    Leaves unchanged: partitions that the assignment gives to no member; a COOPERATIVE leader withholds those that
    another member owns.
    """
    taken = 0
    for m in range(c.members):
        if s.member[m].assignment & taken != 0:
            return False
        taken = taken | s.member[m].assignment
    return True


def pending_ids_are_not_members(s: State) -> bool:
    """A member id that was handed out and not yet used is not a member.

    MEMBER_ID_REQUIRED makes the id pending; the JoinGroup that carries it turns it into a member.

    Source: KIP-394; ``ClassicGroup.addPendingMember``.
    Leaves unchanged: how long an id stays pending.
    """
    return s.pending & s.members == 0


def leader_is_member(s: State) -> bool:
    """A group has a leader exactly when it has members, and the leader is one of them.

    The first member leads; when the leader is removed another member takes over at once (``ClassicGroup.remove``).

    Source: ``ClassicGroup.add``; ``ClassicGroup.remove``.
    Leaves unchanged: which of the remaining members leads.
    """
    if s.leader == NIL:
        return s.members == 0
    return has(s.members, s.leader)


def empty_group_is_clean(s: State) -> bool:
    """An Empty or Dead group has no members, and a group without members is Empty, Dead or preparing a rebalance.

    The last member leaves a group through a join phase, which ends in Empty with the next generation.

    Source: ``ClassicGroupState``; ``GroupMetadataManager.completeClassicGroupJoin``.
    Leaves unchanged: pending ids, which an Empty group may have.
    """
    if s.status == GroupStatus.EMPTY or s.status == GroupStatus.DEAD:
        return s.members == 0
    return s.members != 0 or s.status == GroupStatus.PREPARING


def parked_requests_fit_the_status(s: State) -> bool:
    """A JoinGroup is parked only while the group prepares a rebalance, a SyncGroup only while it completes one.

    Whatever ends the phase answers the parked requests; a parked request always belongs to a member.

    Source: ``ClassicGroup.isInState``; ``GroupMetadataManager.prepareRebalance``.
    Leaves unchanged: whether the reply of a parked request still reaches its process.
    """
    if s.joined != 0 and s.status != GroupStatus.PREPARING:
        return False
    if s.synced != 0 and s.status != GroupStatus.COMPLETING:
        return False
    parked = s.joined | s.synced
    return minus(parked, s.members) == 0 and minus(s.parked_duplicates, parked) == 0


# ------------------------------------------------------------------------------------------------ step invariants


def generation_monotonicity(s: State, t: State) -> bool:
    """The generation never decreases and grows by one at a time.

    The claim holds from the creation of the group to its deletion, within one incarnation of the coordinator.

    Source: ``ClassicGroup.initNextGeneration``.
    Leaves unchanged: the generation after DeleteGroups (0 again) and after a failover (that of the log).
    """
    return not same_incarnation(s, t) or s.generation <= t.generation <= s.generation + 1


def generation_is_new_after_each_join_phase(s: State, t: State) -> bool:
    """The end of a join phase begins a new generation, and nothing else does.

    The group goes from PreparingRebalance to CompletingRebalance, or to Empty if no member is left, and increments the
    generation in the same step.

    Source: ``GroupMetadataManager.completeClassicGroupJoin``; ``ClassicGroup.initNextGeneration``.
    Leaves unchanged: when the join phase ends, and with which members.
    """
    if not same_incarnation(s, t):
        return True
    if t.generation != s.generation:
        return t.status == GroupStatus.COMPLETING or t.status == GroupStatus.EMPTY
    if t.status == GroupStatus.COMPLETING:
        return s.status == GroupStatus.COMPLETING
    return t.status != GroupStatus.EMPTY or s.status == GroupStatus.EMPTY or s.status == GroupStatus.DEAD


def may_have_joined(s: State, m: int) -> bool:
    """Whether a JoinGroup of m is parked, or may arrive in the next step."""
    return (
        has(s.joined, m)
        or s.member[m].net.kind == MessageKind.JOIN_REQUEST
        or (s.duplicate.kind == MessageKind.JOIN_REQUEST and s.duplicate.member == m)
    )


def generation_has_only_joined(c: Config, s: State, t: State) -> bool:
    """A generation begins with none but the members whose JoinGroup arrived in its join phase.

    The join phase is a barrier: the members that the phase waited for have joined or are removed. The rebalance timeout
    keeps static members, also silent ones.

    Source: ``ClassicGroup.hasAllMembersJoined``; KIP-345.
    Leaves unchanged: processes that are alive and whose member id was removed.
    """
    if t.generation == s.generation or t.status != GroupStatus.COMPLETING:
        return True
    kept = minus(static_members(c, s), s.joined) if c.timeouts else 0
    for m in range(c.members):
        if has(t.members, m) and not may_have_joined(s, m) and not has(kept, m):
            return False
    return size(minus(minus(t.members, s.joined), kept)) <= 1


def generation_waits_for_pending_ids(c: Config, s: State, t: State) -> bool:
    """No generation begins while a handed-out member id has neither joined nor expired.

    The first generation of an empty group ends by its timer and does not wait. The rebalance timeout begins a
    generation all the same; the id joins the next one.

    Source: ``ClassicGroup.hasAllMembersJoined``; KIP-394.
    Leaves unchanged: ids that are handed out once the generation has begun.
    """
    if c.timeouts or t.generation == s.generation or t.status != GroupStatus.COMPLETING or s.initial_rebalance == 1:
        return True
    return t.pending == 0 or s.status == GroupStatus.EMPTY or s.status == GroupStatus.DEAD


def join_is_fenced(c: Config, s: State, t: State) -> bool:
    """Only a member gets a JoinGroup reply with a generation, and it is the group's generation.

    An unknown member id is answered UNKNOWN_MEMBER_ID before the group's state is looked at.

    Source: ``ClassicGroup.validateMember``; ``GroupMetadataManager.classicGroupJoinToClassicGroup``.
    Leaves unchanged: replies of a zombie coordinator, which knows another generation.
    """
    for m in range(c.members):
        if is_new_reply(s.member[m].net, t.member[m].net, MessageKind.JOIN_REPLY):
            generation = t.member[m].net.generation
            if is_known_to_zombie(s, m, generation):
                continue
            if not has(t.members, m) or generation != t.generation:
                return False
    return True


def sync_is_fenced(c: Config, s: State, t: State) -> bool:
    """Only a member of the group's generation gets an assignment, and only when the group is stable.

    SyncGroup checks the member id, then the generation, then the status of the group.

    Source: ``GroupMetadataManager.validateSyncGroup``.
    Leaves unchanged: replies of a zombie coordinator that was stable when it lost its role.
    """
    for m in range(c.members):
        if is_new_reply(s.member[m].net, t.member[m].net, MessageKind.SYNC_REPLY):
            if is_known_to_zombie(s, m, t.member[m].generation) and s.zombie_coordinator.status == GroupStatus.STABLE:
                continue
            if not has(t.members, m) or t.member[m].generation != t.generation or t.status != GroupStatus.STABLE:
                return False
    return True


def heartbeat_is_fenced(c: Config, s: State, t: State) -> bool:
    """Only a Heartbeat of a member in the group's generation succeeds, and not while a rebalance is prepared.

    The coordinator checks the member id, then the generation; PreparingRebalance is answered REBALANCE_IN_PROGRESS.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    Leaves unchanged: a loading coordinator, which accepts every Heartbeat unread, and a zombie coordinator.
    """
    for m in range(c.members):
        if is_serving(s) and is_new_reply(s.member[m].net, t.member[m].net, MessageKind.HEARTBEAT_REPLY):
            if is_known_to_zombie(s, m, t.member[m].generation):
                continue
            if not has(t.members, m) or t.member[m].generation != t.generation or t.status < GroupStatus.COMPLETING:
                return False
    return True


def reset_member_loses_everything(c: Config, s: State, t: State) -> bool:
    """After UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION a member owns nothing and has no generation.

    The group may have given its partitions away, so the member loses them without a revocation (``onPartitionsLost``).

    Source: ``AbstractCoordinator.resetStateOnResponseError``; KIP-429.
    Leaves unchanged: the member id, which ILLEGAL_GENERATION keeps.
    """
    for m in range(c.members):
        error = s.member[m].net.error
        if error == Error.UNKNOWN_MEMBER_ID or error == Error.ILLEGAL_GENERATION:
            me = t.member[m]
            learns = me.net.kind == MessageKind.NOTHING and me.status == MemberStatus.UNJOINED
            if learns and (me.owned != 0 or me.generation != 0):
                return False
    return True


def is_new_reply(before: Message, after: Message, kind: int) -> bool:
    """Whether this step wrote a successful reply of this kind."""
    return after.kind == kind and before.kind != kind and after.error == Error.NONE


GROUP: Final = Concern(
    invariants=(
        no_double_ownership,
        member_generation_is_not_ahead,
        eager_owns_nothing_while_joining,
        member_without_generation_owns_nothing,
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
)
