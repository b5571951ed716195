"""Concern *upgrade*: members list several assignors, and rolling restarts replace the lists one by one (KIP-429).

`model.classic.parts.protocol_vote` has the vote; here are the restarts and the claims about the group meanwhile.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.client import stop
from rebalance_check.model.classic.invariants import is_current, is_new_reply
from rebalance_check.model.classic.parts.protocol_vote import (
    candidates,
    keeps_partitions,
    may_restart_with_next_list,
    would_change_the_protocol,
)
from rebalance_check.model.classic.parts.static_members import is_static
from rebalance_check.model.classic.reachable import any_refused_with
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, MessageKind, State, has
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error


def rolling_restart(c: Config, s: State, m: int) -> bool:
    """A process restarts with the next list of assignors of the upgrade path.

    A stable member closes; a process that is down takes the list when it starts. A dynamic member leaves the group, a
    static member does not: its instance id keeps its place.

    Source: KIP-429; KIP-345; ``AbstractCoordinator.maybeLeaveGroup``.
    Leaves unchanged: the coordinator's state, until the LeaveGroup arrives.
    """
    me = s.member[m]
    if c.upgrade == 0 or s.rolling_restarts >= c.rolling_restarts or not may_restart_with_next_list(c, s, m):
        return False
    if me.status != MemberStatus.DOWN:
        if me.status != MemberStatus.STABLE or me.net.kind != MessageKind.NOTHING:
            return False
        stop(me)
        if not is_static(s, m):
            me.net.kind = MessageKind.LEAVE_REQUEST
    s.rolling_restarts += 1
    me.is_restarting = 1
    return True


# ------------------------------------------------------------------------------------------------ invariants


def no_member_is_refused_for_its_protocols(c: Config, s: State) -> bool:
    """A JoinGroup always offers an assignor that every member lists.

    This is what the upgrade paths of KIP-429 guarantee: two neighbouring steps of the path share an assignor.

    Source: KIP-429; ``ClassicGroup.supportsProtocols``.
    Leaves unchanged: groups after a failover; the log has only the selected name of each member.
    """
    return (
        c.upgrade == 0
        or has_failed_over(c, s)
        or not any_refused_with(c, s, MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL)
    )


def selected_protocol_is_listed_by_all(c: Config, s: State) -> bool:
    """The protocol of a generation is one that every member lists; an Empty or Dead group has none.

    The vote counts only candidates that all members support.

    Source: ``ClassicGroup.selectProtocol``.
    Leaves unchanged: which candidate wins the vote.
    """
    if c.upgrade == 0:
        return True
    if s.status == GroupStatus.DEAD or s.status == GroupStatus.EMPTY:
        return s.selected_protocol == 0
    if s.status == GroupStatus.PREPARING:
        return True
    return has(candidates(c, s), s.selected_protocol)


def has_failed_over(c: Config, s: State) -> bool:
    """Whether another coordinator has taken over."""
    return c.failovers > 0 and s.incarnation > 0


def stable_group_runs_the_voted_protocol(c: Config, s: State) -> bool:
    """A stable group runs the protocol that its members would select now.

    A static member that restarts with another list makes the coordinator repeat the vote; if the result differs, the
    group rebalances.

    Source: ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``.
    Leaves unchanged: groups that are not stable; they vote when the join phase ends.
    """
    return s.status != GroupStatus.STABLE or not would_change_the_protocol(c, s)


# ------------------------------------------------------------------------------------------------ step invariants


def protocol_is_fixed_within_a_generation(c: Config, s: State, t: State) -> bool:
    """Within a generation the selected protocol does not change.

    The vote belongs to the end of the join phase.

    Source: ``ClassicGroup.initNextGeneration``; ``ClassicGroup.selectProtocol``.
    Leaves unchanged: the lists of assignors, which members may change when they join.
    """
    if c.upgrade == 0 or s.deletions != t.deletions or s.generation != t.generation:
        return True
    return s.selected_protocol == t.selected_protocol


def join_reply_carries_the_selected_protocol(c: Config, s: State, t: State) -> bool:
    """A JoinGroup reply names the protocol of its generation, which its member lists.

    The client computes and reads assignments under that name.

    Source: KIP-559; ``GroupMetadataManager.completeClassicGroupJoin``.
    Leaves unchanged: error replies, which name no protocol.
    """
    if c.upgrade == 0:
        return True
    for m in range(c.members):
        net = t.member[m].net
        if is_new_reply(s.member[m].net, net, MessageKind.JOIN_REPLY):
            if net.protocol != t.selected_protocol or not has(c.offered[t.member[m].list_index], net.protocol):
                return False
    return True


# ------------------------------------------------------------------------------------------------ reachable


def join_meets_inconsistent_protocol(c: Config, s: State) -> bool:
    """A JoinGroup is refused with INCONSISTENT_GROUP_PROTOCOL.

    No assignor of its list is listed by all members.

    Source: ``ClassicGroup.supportsProtocols``.
    """
    return c.upgrade != 0 and any_refused_with(c, s, MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL)


def join_is_refused_for_a_protocol_lost_in_failover(c: Config, s: State) -> bool:
    """A JoinGroup is refused with INCONSISTENT_GROUP_PROTOCOL after a failover.

    The log records each member's metadata under the selected protocol only, so other common names are forgotten until
    members rejoin.

    Source: ``GroupCoordinatorRecordHelpers.newGroupMetadataRecord``; ``ClassicGroup.supportsProtocols``.
    """
    return has_failed_over(c, s) and join_meets_inconsistent_protocol(c, s)


def upgraded_static_member_rejoins_without_rebalance(c: Config, s: State) -> bool:
    """A static member restarts with another list of assignors, and the group stays stable.

    The vote has the same result as before, so the member gets its former assignment at once.

    Source: KIP-345; ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``.
    """
    return s.status == GroupStatus.STABLE and upgraded_member_awaits_its_id(c, s, MessageKind.JOIN_REPLY)


def upgraded_static_member_changes_the_vote(c: Config, s: State) -> bool:
    """A static member restarts with a list by which the group selects another protocol.

    The coordinator then prepares a rebalance instead of answering at once.

    Source: ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``.
    """
    if (
        c.static_members == 0
        or s.status != GroupStatus.PREPARING
        or not upgraded_member_awaits_its_id(c, s, MessageKind.NOTHING)
    ):
        return False
    return would_change_the_protocol(c, s)


def upgraded_member_awaits_its_id(c: Config, s: State, kind: int) -> bool:
    """Whether a restarted member with another list has not received its new id, with such a message in its slot."""
    if c.upgrade != 0 and c.static_members > 0:
        for m in range(c.members):
            me = s.member[m]
            if has(s.members, m) and me.list_index > 0 and me.has_id == 0 and me.net.kind == kind:
                if me.status == MemberStatus.JOINING and me.net.error == Error.NONE:
                    return True
    return False


def eager_and_cooperative_are_stable_together(c: Config, s: State) -> bool:
    """An EAGER and a COOPERATIVE member own partitions in one stable generation.

    Half way through an upgrade the two kinds of members share the group.

    Source: KIP-429, section *Compatibility, Deprecation, and Migration Plan*.
    """
    if c.upgrade == 0 or s.status != GroupStatus.STABLE:
        return False
    kinds = 0
    for m in range(c.members):
        if s.member[m].status == MemberStatus.STABLE and s.member[m].owned != 0 and is_current(s, m):
            kinds = kinds | (2 if keeps_partitions(c, s, m) else 1)
    return kinds == 3


def all_are_stable_at(c: Config, s: State, step: int) -> bool:
    """Whether all members are stable in one generation, each with the list at this place of the upgrade path."""
    if s.status != GroupStatus.STABLE:
        return False
    for m in range(c.members):
        if s.member[m].status != MemberStatus.STABLE or s.member[m].list_index != step or not is_current(s, m):
            return False
    return True


def upgrade_is_complete(c: Config, s: State) -> bool:
    """All members are stable in one generation with the last list of the upgrade path.

    Every member was restarted as often as the path has steps, and the group runs an assignor of the last list.

    Source: KIP-429.
    """
    return c.upgrade != 0 and all_are_stable_at(c, s, c.list_count - 1)


def cooperative_assignor_runs_among_eager_members(c: Config, s: State) -> bool:
    """All members are EAGER, and the selected assignor withholds partitions nevertheless.

    A member is COOPERATIVE only if every assignor of its list is; the vote may still select a cooperative one.

    Source: KIP-429; ``ConsumerCoordinator`` (constructor: supported protocols of the listed assignors).
    """
    if c.upgrade == 0 or c.list_count != 3 or not all_are_stable_at(c, s, 1):
        return False
    return has(c.withholding[1], s.selected_protocol)


UPGRADE: Final = Concern(
    rules=(Rule(ActionKind.ROLLING_RESTART, rolling_restart),),
    invariants=(
        no_member_is_refused_for_its_protocols,
        selected_protocol_is_listed_by_all,
        stable_group_runs_the_voted_protocol,
    ),
    step_invariants=(
        protocol_is_fixed_within_a_generation,
        join_reply_carries_the_selected_protocol,
    ),
    reachable_states=(
        join_meets_inconsistent_protocol,
        eager_and_cooperative_are_stable_together,
        cooperative_assignor_runs_among_eager_members,
        upgrade_is_complete,
        upgraded_static_member_rejoins_without_rebalance,
        upgraded_static_member_changes_the_vote,
        join_is_refused_for_a_protocol_lost_in_failover,
    ),
)
