"""Concern *beats* of the classic protocol: heartbeats beside a SyncGroup that is not answered yet.

Kafka's clients send heartbeats from the answer to their JoinGroup on (``AbstractCoordinator``, COMPLETING_REBALANCE).
REBALANCE_IN_PROGRESS means nothing to a member that is about to hear of it anyway. UNKNOWN_MEMBER_ID and
ILLEGAL_GENERATION reset it at once, if it is still in the generation that the heartbeat was sent in
(``HeartbeatResponseHandler``): it loses everything, and what its SyncGroup is answered is told in vain.

A heartbeat is sent and answered in one step: the coordinator parks none. A client has one of them out at a time. That
it joins again before the last one is answered is left out.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.client import is_reset, lose_by
from rebalance_check.model.classic.coordinator import fence
from rebalance_check.model.classic.parts.network import awaits_heartbeat, forget_heartbeat
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, State, has
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error

ANSWERED_WELL = 1
"""What ``beat`` says of a heartbeat that was not refused; else it is 1 more than the error."""


def heartbeat_during_sync(c: Config, s: State, m: int) -> bool:
    """A member whose SyncGroup is outstanding sends a heartbeat, and the coordinator answers it."""
    me = s.member[m]
    if (
        c.heartbeats_during_sync == 0
        or s.heartbeats_during_sync[0] >= c.heartbeats_during_sync
        or me.status != MemberStatus.SYNCING
    ):
        return False
    if is_reset(me) or awaits_heartbeat(c, me):
        return False
    s.heartbeats_during_sync[0] += 1
    me.beat[0] = ANSWERED_WELL + fence(s, m, me.generation)
    me.beat_generation[0] = me.generation
    return True


def receive_heartbeat_during_sync(c: Config, s: State, m: int) -> bool:
    """The member learns how the group stands; it may have been answered its SyncGroup meanwhile, or not."""
    me = s.member[m]
    if not awaits_heartbeat(c, me):
        return False
    error = me.beat[0] - ANSWERED_WELL
    is_of_now = me.generation == me.beat_generation[0]
    forget_heartbeat(c, me)
    if error == Error.REBALANCE_IN_PROGRESS and me.status == MemberStatus.STABLE:
        me.status = MemberStatus.UNJOINED
    if is_of_now and (error == Error.UNKNOWN_MEMBER_ID or error == Error.ILLEGAL_GENERATION):
        lose_by(c, me, error)
        if me.status == MemberStatus.STABLE:
            me.status = MemberStatus.UNJOINED
    return True


# ------------------------------------------------------------------------------------------------ claims


def heartbeat_during_sync_is_fenced(c: Config, s: State, t: State) -> bool:
    """A heartbeat beside a SyncGroup is answered well only to a member, in the group's generation, once it began."""
    if c.heartbeats_during_sync > 0 and s.heartbeats_during_sync[0] != t.heartbeats_during_sync[0]:
        for m in range(c.members):
            if s.member[m].beat[0] == 0 and t.member[m].beat[0] == ANSWERED_WELL:
                if not has(t.members, m) or t.member[m].beat_generation[0] != t.generation:
                    return False
                if t.status < GroupStatus.COMPLETING:
                    return False
    return True


def who_was_reset_takes_no_assignment(c: Config, s: State, t: State) -> bool:
    """A member that lost its generation while its SyncGroup was out doesn't become stable by the answer."""
    if c.heartbeats_during_sync > 0:
        for m in range(c.members):
            if is_reset(s.member[m]) and t.member[m].status == MemberStatus.STABLE:
                return False
    return True


# ------------------------------------------------------------------------------------------------ somewhere


def heartbeat_is_well_while_completing(c: Config, s: State) -> bool:
    """A Heartbeat is answered well while the group waits for the leader's assignment."""
    if c.heartbeats_during_sync > 0 and s.status == GroupStatus.COMPLETING:
        for m in range(c.members):
            me = s.member[m]
            if me.beat[0] == ANSWERED_WELL and me.status == MemberStatus.SYNCING and me.generation == s.generation:
                return True
    return False


def heartbeat_tells_of_a_rebalance_before_the_sync(c: Config, s: State) -> bool:
    """A Heartbeat is answered REBALANCE_IN_PROGRESS while the SyncGroup beside it is outstanding."""
    if c.heartbeats_during_sync > 0:
        for m in range(c.members):
            me = s.member[m]
            if me.beat[0] == ANSWERED_WELL + Error.REBALANCE_IN_PROGRESS and me.status == MemberStatus.SYNCING:
                return True
    return False


def sync_is_in_vain(c: Config, s: State) -> bool:
    """A member learned beside its SyncGroup that the coordinator has forgotten it."""
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
        who_was_reset_takes_no_assignment,
    ),
    reachable_states=(
        heartbeat_is_well_while_completing,
        heartbeat_tells_of_a_rebalance_before_the_sync,
        sync_is_in_vain,
    ),
)
