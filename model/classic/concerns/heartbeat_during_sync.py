"""Concern *heartbeat during sync*: a member sends Heartbeats while its SyncGroup is outstanding.

Kafka's clients send Heartbeats from the JoinGroup reply on (``AbstractCoordinator``, COMPLETING_REBALANCE). A member
in that state ignores REBALANCE_IN_PROGRESS. UNKNOWN_MEMBER_ID and ILLEGAL_GENERATION reset it at once if it is still in
the generation of the Heartbeat (``HeartbeatResponseHandler``): it loses everything, and ignores its SyncGroup reply.

The coordinator parks no Heartbeat, so sending and answering one are a single step. A member has one Heartbeat
outstanding at a time. Left out: a member that joins again before the last Heartbeat is answered.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.client import is_reset, lose_by
from rebalance_check.model.classic.coordinator import fence
from rebalance_check.model.classic.parts.network import awaits_heartbeat, drop_heartbeat
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, State, has
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error

HEARTBEAT_ACCEPTED = 1
"""The value of ``heartbeat_reply`` for a Heartbeat that succeeded; any other value is 1 more than the error."""


def heartbeat_during_sync(c: Config, s: State, m: int) -> bool:
    """A member whose SyncGroup is outstanding sends a Heartbeat, and the coordinator answers it.

    Kafka's client heartbeats from its JoinGroup reply on. The coordinator parks no Heartbeat, so sending and answering
    are one step.

    Source: ``AbstractCoordinator.HeartbeatThread``; ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    Leaves unchanged: the outstanding SyncGroup and the group.
    """
    me = s.member[m]
    if (
        c.heartbeats_during_sync == 0
        or s.heartbeats_during_sync >= c.heartbeats_during_sync
        or me.status != MemberStatus.SYNCING
    ):
        return False
    if is_reset(me) or awaits_heartbeat(me):
        return False
    s.heartbeats_during_sync += 1
    me.heartbeat_reply = HEARTBEAT_ACCEPTED + fence(s, m, me.generation)
    me.heartbeat_generation = me.generation
    return True


def receive_heartbeat_during_sync(s: State, m: int) -> bool:
    """The member receives the reply to a Heartbeat that it sent during its SyncGroup.

    A stable member joins again on REBALANCE_IN_PROGRESS; a member that still waits ignores it. UNKNOWN_MEMBER_ID and
    ILLEGAL_GENERATION reset the member if it is still in the generation of the Heartbeat.

    Source: ``AbstractCoordinator.HeartbeatResponseHandler``.
    Leaves unchanged: the SyncGroup, whose reply a reset member ignores.
    """
    me = s.member[m]
    if not awaits_heartbeat(me):
        return False
    error = me.heartbeat_reply - HEARTBEAT_ACCEPTED
    is_of_now = me.generation == me.heartbeat_generation
    drop_heartbeat(me)
    if error == Error.REBALANCE_IN_PROGRESS and me.status == MemberStatus.STABLE:
        me.status = MemberStatus.UNJOINED
    if is_of_now and (error == Error.UNKNOWN_MEMBER_ID or error == Error.ILLEGAL_GENERATION):
        lose_by(me, error)
        if me.status == MemberStatus.STABLE:
            me.status = MemberStatus.UNJOINED
    return True


# ------------------------------------------------------------------------------------------------ invariants


def heartbeat_during_sync_is_fenced(c: Config, s: State, t: State) -> bool:
    """A Heartbeat during a SyncGroup succeeds only for a member, in the group's generation, once that has begun.

    The checks are those of any Heartbeat; the outstanding SyncGroup makes no difference.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    Leaves unchanged: when the reply reaches the member.
    """
    if c.heartbeats_during_sync > 0 and s.heartbeats_during_sync != t.heartbeats_during_sync:
        for m in range(c.members):
            if s.member[m].heartbeat_reply == 0 and t.member[m].heartbeat_reply == HEARTBEAT_ACCEPTED:
                if not has(t.members, m) or t.member[m].heartbeat_generation != t.generation:
                    return False
                if t.status < GroupStatus.COMPLETING:
                    return False
    return True


def reset_member_takes_no_assignment(c: Config, s: State, t: State) -> bool:
    """A member that lost its generation during its SyncGroup does not become stable by the reply.

    The client compares the generation of the reply with its own, which is reset, and joins again.

    Source: ``AbstractCoordinator.SyncGroupResponseHandler``.
    Leaves unchanged: the coordinator, which may count the member as stable.
    """
    if c.heartbeats_during_sync > 0:
        for m in range(c.members):
            if is_reset(s.member[m]) and t.member[m].status == MemberStatus.STABLE:
                return False
    return True


# ------------------------------------------------------------------------------------------------ reachable


def heartbeat_succeeds_while_completing(c: Config, s: State) -> bool:
    """A Heartbeat succeeds while the group waits for the leader's assignment.

    CompletingRebalance does not refuse Heartbeats, although no assignment exists yet.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    """
    if c.heartbeats_during_sync > 0 and s.status == GroupStatus.COMPLETING:
        for m in range(c.members):
            me = s.member[m]
            if (
                me.heartbeat_reply == HEARTBEAT_ACCEPTED
                and me.status == MemberStatus.SYNCING
                and me.generation == s.generation
            ):
                return True
    return False


def heartbeat_reports_a_rebalance_during_sync(c: Config, s: State) -> bool:
    """A Heartbeat is answered REBALANCE_IN_PROGRESS while the member's SyncGroup is outstanding.

    The next join phase has begun, so the SyncGroup will be refused as well.

    Source: ``AbstractCoordinator.HeartbeatResponseHandler``.
    """
    if c.heartbeats_during_sync > 0:
        for m in range(c.members):
            me = s.member[m]
            if (
                me.heartbeat_reply == HEARTBEAT_ACCEPTED + Error.REBALANCE_IN_PROGRESS
                and me.status == MemberStatus.SYNCING
            ):
                return True
    return False


def member_is_reset_during_sync(c: Config, s: State) -> bool:
    """A member has learned from a Heartbeat during its SyncGroup that it has no generation any more.

    The coordinator removed the member, or began another generation without it.

    Source: ``AbstractCoordinator.HeartbeatResponseHandler``; ``AbstractCoordinator.SyncGroupResponseHandler``.
    """
    if c.heartbeats_during_sync > 0:
        for m in range(c.members):
            if is_reset(s.member[m]):
                return True
    return False


HEARTBEAT_DURING_SYNC: Final = Concern(
    rules=(
        Rule(ActionKind.HEARTBEAT_DURING_SYNC, heartbeat_during_sync),
        Rule(ActionKind.RECEIVE_HEARTBEAT_DURING_SYNC, receive_heartbeat_during_sync, fair=True),
    ),
    step_invariants=(
        heartbeat_during_sync_is_fenced,
        reset_member_takes_no_assignment,
    ),
    reachable_states=(
        heartbeat_succeeds_while_completing,
        heartbeat_reports_a_rebalance_during_sync,
        member_is_reset_during_sync,
    ),
)
