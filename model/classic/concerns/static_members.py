"""Concern *static members*: an instance id has one member, and keeps its assignment over restarts (KIP-345).

`model.classic.parts.static_members` has the rules; here are the claims about them.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.parts.group_log import same_incarnation
from rebalance_check.model.classic.parts.static_members import SKIPS_ASSIGNMENT, holder, is_static
from rebalance_check.model.classic.reachable import any_refused_with
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, MessageKind, State, has, minus, size
from rebalance_check.model.vocabulary.errors import Error

# ------------------------------------------------------------------------------------------------ invariants


def one_member_per_instance(c: Config, s: State) -> bool:
    """Of the processes with one instance id at most one is a member.

    The coordinator maps an instance id to one member id and replaces it in one step.

    Source: KIP-345; ``ClassicGroup.replaceStaticMember``.
    Leaves unchanged: how many processes run with that instance id.
    """
    for m in range(c.members):
        if has(s.members, m) and is_static(s, m):
            if s.member[m].instance_peer != m and has(s.members, s.member[m].instance_peer):
                return False
    return True


def replaced_id_owes_sync_only_while_stable(c: Config, s: State) -> bool:
    """A replaced member id owes a SyncGroup only within its stable generation.

    Kafka does not move the debt to the new id, so the sync timeout fires although no member can pay it.

    Source: ``ClassicGroup.replaceStaticMember``; ``GroupMetadataManager.expirePendingSync``.
    Leaves unchanged: the new member id, which owes nothing.
    """
    return c.static_members == 0 or not c.timeouts or s.replaced_member_owes_sync == 0 or s.status == GroupStatus.STABLE


def eager_assignment_is_complete(c: Config, s: State) -> bool:
    """In a stable group of EAGER members with static ones, every partition is assigned.

    A static member that restarts while the leader assigns must not end up in a generation without a share.

    Source: KIP-345; ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``.
    Leaves unchanged: COOPERATIVE groups, whose leader withholds partitions.
    """
    if c.static_members == 0 or c.cooperative or c.upgrade != 0 or s.status != GroupStatus.STABLE:
        return True
    given = 0
    for m in range(c.members):
        given = given | s.member[m].assignment
    return given == (1 << c.partitions) - 1


# ------------------------------------------------------------------------------------------------ step invariants


def replaced_static_member_is_fenced(c: Config, s: State, t: State) -> bool:
    """A static member meets FENCED_INSTANCE_ID exactly when another member id has its instance id.

    If no member has it the answer is UNKNOWN_MEMBER_ID, and the process may join again.

    Source: ``ClassicGroup.validateMember``; KIP-345.
    Leaves unchanged: requests without the instance id, which are never fenced by it.
    """
    if c.static_members > 0:
        for m in range(c.members):
            if is_static(s, m) and s.member[m].net.error == 0 and t.member[m].net.error != 0:
                seated = holder(t, m) != NIL
                if t.member[m].net.error == Error.FENCED_INSTANCE_ID and not seated:
                    return False
                if t.member[m].net.error == Error.UNKNOWN_MEMBER_ID and seated:
                    return False
    return True


def instance_id_keeps_its_assignment(c: Config, s: State, t: State) -> bool:
    """While the group stays stable, an instance id keeps its assignment under any member id.

    A static member that restarts continues with the partitions that it had, without a rebalance.

    Source: KIP-345; ``ClassicGroup.replaceStaticMember``.
    Leaves unchanged: groups in a rebalance, where the leader assigns anew.
    """
    if c.static_members > 0 and s.status == GroupStatus.STABLE and t.status == GroupStatus.STABLE:
        for m in range(c.members):
            if has(s.members, m) and is_static(s, m):
                successor = holder(t, m)
                if successor == NIL or t.member[successor].assignment != s.member[m].assignment:
                    return False
    return True


def join_phase_keeps_silent_static_members(c: Config, s: State, t: State) -> bool:
    """A join phase that ends without several members ends without dynamic members only.

    The rebalance timeout removes no static member; its session timeout may.

    Source: KIP-345; ``GroupMetadataManager.completeClassicGroupJoin``.
    Leaves unchanged: one single member, which may also have left or expired.
    """
    if (
        c.static_members == 0
        or s.status != GroupStatus.PREPARING
        or t.generation == s.generation
        or not same_incarnation(s, t)
    ):
        return True
    gone = 0
    static_goes = False
    for m in range(c.members):
        if has(minus(s.members, t.members), m) and holder(t, m) == NIL:
            gone += 1
            if is_static(s, m):
                static_goes = True
    return gone < 2 or not static_goes


# ------------------------------------------------------------------------------------------------ reachable


def silent_static_member_is_kept(c: Config, s: State) -> bool:
    """A stable group counts on a living member that does not know the generation.

    The static member did not join, and the leader assigned partitions to it.

    Source: KIP-345; ``GroupMetadataManager.completeClassicGroupJoin``.
    """
    if c.static_members > 0 and s.status == GroupStatus.STABLE:
        for m in range(c.members):
            me = s.member[m]
            if has(s.members, m) and is_static(s, m) and me.status == MemberStatus.STABLE:
                if me.generation < s.generation:
                    return True
    return False


def silent_static_member_returns_as_a_second_owner(c: Config, s: State) -> bool:
    """A static member that missed a generation is in the present one and owns what another member owns.

    The leader gave its partitions away while it was silent.

    Source: KIP-345; ``ConsumerCoordinator.onJoinComplete``.
    """
    if c.static_members > 0:
        for m in range(c.members):
            if s.member[m].aux_missed == 1 and has(s.members, m) and s.member[m].generation == s.generation:
                for x in range(c.members):
                    if x != m and s.member[x].owned & s.member[m].owned != 0 and has(s.members, x):
                        return True
    return False


def restarted_leader_skips_assignment(c: Config, s: State) -> bool:
    """A static leader restarts and its JoinGroup reply says not to assign anew.

    The leader gets the list of members, and sends a SyncGroup without an assignment.

    Source: KIP-814; ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``.
    """
    for m in range(c.members):
        if s.member[m].net.kind == MessageKind.JOIN_REPLY and s.member[m].net.to_leader == SKIPS_ASSIGNMENT:
            return True
    return False


def join_meets_fenced_instance(c: Config, s: State) -> bool:
    """A JoinGroup is refused with FENCED_INSTANCE_ID.

    Another process with the same instance id has joined, and its member id has replaced this one.

    Source: ``ClassicGroup.validateMember``; KIP-345.
    """
    return any_refused_with(c, s, MessageKind.JOIN_REPLY, Error.FENCED_INSTANCE_ID)


def sync_meets_fenced_instance(c: Config, s: State) -> bool:
    """A SyncGroup is refused with FENCED_INSTANCE_ID.

    The member was replaced between its JoinGroup reply and its SyncGroup, or while the SyncGroup was parked.

    Source: ``ClassicGroup.validateMember``; KIP-345.
    """
    return any_refused_with(c, s, MessageKind.SYNC_REPLY, Error.FENCED_INSTANCE_ID)


def heartbeat_meets_fenced_instance(c: Config, s: State) -> bool:
    """A Heartbeat is refused with FENCED_INSTANCE_ID.

    This is how a replaced process learns that it has to end.

    Source: ``ClassicGroup.validateMember``; KIP-345.
    """
    return any_refused_with(c, s, MessageKind.HEARTBEAT_REPLY, Error.FENCED_INSTANCE_ID)


def static_member_is_fenced_by_its_former_id(c: Config, s: State) -> bool:
    """The log restored the former id of a restarted static member, and that id fences the process.

    The replacement was not written before the failover.

    Source: ``GroupMetadataManager.onLoaded``; ``ClassicGroup.validateMember``.
    """
    if c.static_members > 0 and c.failovers > 0:
        for m in range(c.members):
            if s.member[m].net.error == Error.FENCED_INSTANCE_ID and has(s.members & s.stale_ids, m):
                return True
    return False


def static_member_rejoins_after_failover_without_rebalance(c: Config, s: State) -> bool:
    """A static leader that was down during a failover gets its former generation back.

    The record in the log has its instance id and its assignment.

    Source: KIP-345; KIP-814; ``GroupMetadataManager.onLoaded``.
    """
    if c.static_members > 0 and c.failovers > 0 and s.incarnation > 0:
        for m in range(c.members):
            net = s.member[m].net
            if net.kind == MessageKind.JOIN_REPLY and net.to_leader == SKIPS_ASSIGNMENT and s.origin < s.incarnation:
                return True
    return False


def replaced_id_owes_a_sync(c: Config, s: State) -> bool:
    """A member id was replaced before it sent its SyncGroup, so the sync timeout is bound to fire.

    The rebalance that the timeout starts is spurious: no member is late.

    Source: ``ClassicGroup.replaceStaticMember``; ``GroupMetadataManager.expirePendingSync``.
    """
    return c.static_members > 0 and c.timeouts and s.replaced_member_owes_sync == 1


def static_member_is_replaced_while_preparing(c: Config, s: State) -> bool:
    """A static member waits in the join phase under a new id that it has not received yet.

    The coordinator has replaced its former id by a new one, under which the JoinGroup is parked.

    Source: KIP-345; ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``.
    """
    if c.static_members == 0 or s.status != GroupStatus.PREPARING or s.initial_rebalance == 1:
        return False
    for m in range(c.members):
        if has(s.joined, m) and is_static(s, m) and s.member[m].has_id == 0 and size(s.members) > 1:
            return True
    return False


STATIC_MEMBERS: Final = Concern(
    invariants=(
        one_member_per_instance,
        replaced_id_owes_sync_only_while_stable,
        eager_assignment_is_complete,
    ),
    step_invariants=(
        replaced_static_member_is_fenced,
        instance_id_keeps_its_assignment,
        join_phase_keeps_silent_static_members,
    ),
    reachable_states=(
        silent_static_member_is_kept,
        silent_static_member_returns_as_a_second_owner,
        restarted_leader_skips_assignment,
        join_meets_fenced_instance,
        sync_meets_fenced_instance,
        heartbeat_meets_fenced_instance,
        replaced_id_owes_a_sync,
        static_member_is_replaced_while_preparing,
        static_member_is_fenced_by_its_former_id,
        static_member_rejoins_after_failover_without_rebalance,
    ),
)
