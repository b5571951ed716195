"""States and steps that must be reachable, so that a run of the classic protocol without violation saw much."""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.invariants import is_current
from rebalance_check.model.classic.parts.protocol_vote import keeps_partitions
from rebalance_check.model.classic.parts.static_members import is_fenced
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    Member,
    MemberStatus,
    MessageKind,
    State,
    has,
)
from rebalance_check.model.vocabulary.errors import Error


def all_members_are_stable(c: Config, s: State) -> bool:
    """All processes are stable members of one generation.

    This is the goal of every rebalance; a process that was fenced does not count.

    Source: ``ClassicGroupState.STABLE``.
    """
    for m in range(c.members):
        if is_fenced(s, m):
            continue
        if s.member[m].status != MemberStatus.STABLE or not is_current(s, m):
            return False
    return s.status == GroupStatus.STABLE


def stale_owner_overlaps_a_current_owner(c: Config, s: State) -> bool:
    """A member that is not current owns a partition of a current member.

    A member that was removed goes on processing until its next Heartbeat or commit is refused.

    Source: ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``; KIP-429.
    """
    for m in range(c.members):
        if s.member[m].owned != 0 and not is_current(s, m):
            for x in range(c.members):
                if s.member[x].owned & s.member[m].owned != 0 and is_current(s, x):
                    return True
    return False


def revoking_member_rejoins(c: Config, s: State) -> bool:
    """A COOPERATIVE member that revoked partitions joins again while its generation is still stable.

    The second rebalance hands out what the first one withheld.

    Source: KIP-429; ``ConsumerCoordinator.onJoinComplete``.
    """
    for m in range(c.members):
        if s.member[m].net.kind == MessageKind.JOIN_REQUEST and s.status == GroupStatus.STABLE and is_current(s, m):
            if keeps_partitions(c, s, m):
                return True
    return False


def partition_is_withheld(c: Config, s: State) -> bool:
    """A stable group leaves a partition unassigned because its old owner must revoke it first.

    The first assignment of a COOPERATIVE rebalance leaves it out; the member that revokes it joins again, and the
    second one hands it out.

    Source: KIP-429; ``CooperativeStickyAssignor.adjustAssignment``.
    """
    given = 0
    for m in range(c.members):
        given = given | s.member[m].assignment
    return s.status == GroupStatus.STABLE and given != (1 << c.partitions) - 1


def group_becomes_empty(s: State) -> bool:
    """The last member goes, and the group is empty in a later generation.

    The generation of a group without members is written to the log, too.

    Source: ``GroupMetadataManager.completeClassicGroupJoin``.
    """
    return s.status == GroupStatus.EMPTY and s.generation > 0


def leader_has_crashed(s: State) -> bool:
    """The leader's process is down, and the coordinator does not know yet.

    The group waits for the leader's assignment until a timer removes the leader.

    Source: ``GroupMetadataManager.expirePendingSync``; ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``.
    """
    return s.leader != NIL and s.member[s.leader].status == MemberStatus.DOWN


def join_meets_member_id_required(c: Config, s: State) -> bool:
    """A JoinGroup without a member id is refused with MEMBER_ID_REQUIRED and carries the id to use.

    The id is pending from then on. A client that never comes back with it holds up the next join phase until the id
    expires.

    Source: KIP-394; ``GroupMetadataManager.classicGroupJoinNewDynamicMember``.
    """
    return any_refused_with(c, s, MessageKind.JOIN_REPLY, Error.MEMBER_ID_REQUIRED)


def join_meets_unknown_member(c: Config, s: State) -> bool:
    """A JoinGroup is refused with UNKNOWN_MEMBER_ID.

    The id that it carries has expired, or was removed.

    Source: ``ClassicGroup.validateMember``.
    """
    return any_refused_with(c, s, MessageKind.JOIN_REPLY, Error.UNKNOWN_MEMBER_ID)


def sync_meets_unknown_member(c: Config, s: State) -> bool:
    """A SyncGroup is refused with UNKNOWN_MEMBER_ID.

    The member was removed between its JoinGroup reply and its SyncGroup.

    Source: ``GroupMetadataManager.validateSyncGroup``.
    """
    return any_refused_with(c, s, MessageKind.SYNC_REPLY, Error.UNKNOWN_MEMBER_ID)


def sync_meets_illegal_generation(c: Config, s: State) -> bool:
    """A SyncGroup is refused with ILLEGAL_GENERATION.

    Another join phase ended before the SyncGroup arrived.

    Source: ``GroupMetadataManager.validateSyncGroup``.
    """
    return any_refused_with(c, s, MessageKind.SYNC_REPLY, Error.ILLEGAL_GENERATION)


def sync_meets_rebalance(c: Config, s: State) -> bool:
    """A SyncGroup is refused with REBALANCE_IN_PROGRESS.

    A join phase began before the SyncGroup arrived, or while it was parked.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup``; ``GroupMetadataManager.prepareRebalance``.
    """
    return any_refused_with(c, s, MessageKind.SYNC_REPLY, Error.REBALANCE_IN_PROGRESS)


def heartbeat_meets_unknown_member(c: Config, s: State) -> bool:
    """A Heartbeat is refused with UNKNOWN_MEMBER_ID.

    The coordinator removed the member after the last Heartbeat that succeeded.

    Source: ``ClassicGroup.validateMember``.
    """
    return any_refused_with(c, s, MessageKind.HEARTBEAT_REPLY, Error.UNKNOWN_MEMBER_ID)


def heartbeat_meets_illegal_generation(c: Config, s: State) -> bool:
    """A Heartbeat is refused with ILLEGAL_GENERATION.

    The group went on without the member, which is still registered.

    Source: ``GroupMetadataManager.validateClassicGroupHeartbeat``.
    """
    return any_refused_with(c, s, MessageKind.HEARTBEAT_REPLY, Error.ILLEGAL_GENERATION)


def heartbeat_meets_rebalance(c: Config, s: State) -> bool:
    """A Heartbeat is refused with REBALANCE_IN_PROGRESS.

    This is how a stable member learns that it has to join again.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    """
    return any_refused_with(c, s, MessageKind.HEARTBEAT_REPLY, Error.REBALANCE_IN_PROGRESS)


def any_refused_with(c: Config, s: State, kind: int, error: int) -> bool:
    """Whether some reply of this kind carries this error."""
    for m in range(c.members):
        if s.member[m].net.kind == kind and s.member[m].net.error == error:
            return True
    return False


def duplicate_carries_a_removed_member_id(s: State) -> bool:
    """A duplicate is on its way under a member id that the coordinator has removed.

    It will be refused with UNKNOWN_MEMBER_ID, although the process may have a new id by then.

    Source: ``ClassicGroup.validateMember``.
    """
    return s.duplicate.stale == 1


def duplicate_replaces_the_parked_request(c: Config, s: State) -> bool:
    """A member waits for a reply that goes nowhere because a duplicate replaced its parked request.

    ``ClassicGroup.updateMember`` overwrites the parked reply; the earlier request is never answered.

    Source: ``ClassicGroup.updateMember``; ``ClassicGroupMember.setAwaitingJoinFuture``.
    """
    for m in range(c.members):
        if has(s.parked_duplicates, m) and awaits_reply(s.member[m]):
            return True
    return False


def awaits_reply(me: Member) -> bool:
    """Whether a process waits for the reply to a JoinGroup or SyncGroup that has arrived."""
    waits = me.status == MemberStatus.JOINING or me.status == MemberStatus.SYNCING
    return waits and me.net.kind == MessageKind.NOTHING


REACHABLE: Final = Concern(
    reachable_states=(
        all_members_are_stable,
        stale_owner_overlaps_a_current_owner,
        revoking_member_rejoins,
        partition_is_withheld,
        group_becomes_empty,
        leader_has_crashed,
        join_meets_member_id_required,
        join_meets_unknown_member,
        sync_meets_unknown_member,
        sync_meets_illegal_generation,
        sync_meets_rebalance,
        heartbeat_meets_unknown_member,
        heartbeat_meets_illegal_generation,
        heartbeat_meets_rebalance,
        duplicate_carries_a_removed_member_id,
        duplicate_replaces_the_parked_request,
    ),
)
