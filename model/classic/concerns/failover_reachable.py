"""States and steps that must be reachable while coordinators fail over (`model.classic.concerns.failover`)."""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.invariants import is_new_reply
from rebalance_check.model.classic.parts.group_log import (
    is_serving,
    is_writing,
)
from rebalance_check.model.classic.reachable import any_refused_with
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    MemberStatus,
    MessageKind,
    Phase,
    State,
    has,
)
from rebalance_check.model.vocabulary.errors import Error


def generation_number_is_reused(c: Config, s: State) -> bool:
    """A member is in a generation whose number another incarnation has issued again.

    Generations that were begun and not written are unknown to the next coordinator; only incarnation and number
    together are unique.

    Source: ``GroupMetadataManager.replay``; ``ClassicGroup.initNextGeneration``.
    """
    if c.failovers > 0 and is_serving(s) and s.generation > 0:
        for m in range(c.members):
            if s.member[m].generation == s.generation and s.member[m].origin != s.origin:
                return True
    return False


def member_is_ahead_of_the_coordinator(c: Config, s: State) -> bool:
    """A member is in a generation that was never written, above the one that the coordinator loaded.

    The coordinator before began that generation and answered the JoinGroup, but died before the assignment was written.

    Source: ``GroupMetadataManager.replay``.
    """
    if c.failovers > 0 and is_serving(s):
        for m in range(c.members):
            if s.member[m].generation > s.generation and has(s.members, m):
                return True
    return False


def logged_assignment_was_never_delivered(c: Config, s: State) -> bool:
    """A record is loaded whose assignment none of its members follows.

    The append was committed and the coordinator died before it answered the SyncGroups.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup`` (append callback).
    """
    if c.failovers == 0 or is_serving(s) or s.log.members == 0:
        return False
    for m in range(c.members):
        me = s.member[m]
        if me.generation == s.log.generation and me.origin == s.log.origin:
            if me.status == MemberStatus.STABLE or (
                me.net.kind == MessageKind.SYNC_REPLY and me.net.error == Error.NONE
            ):
                return False
    return True


def rebalance_begins_during_an_append(s: State) -> bool:
    """A rebalance begins while the assignment of the generation before is being written.

    A member joined or left after the leader's SyncGroup. The callback finds another status or generation and does
    nothing.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup`` (append callback).
    """
    return is_writing(s) and s.status == GroupStatus.PREPARING


def load_restores_a_replaced_member_id(c: Config, s: State) -> bool:
    """The log restores a member id whose process has another one by now.

    The removal of the old id was not written, because only assignments are.

    Source: ``GroupMetadataManager.onLoaded``.
    """
    return c.failovers > 0 and s.stale_ids & s.members != 0


def loading_coordinator_accepts_a_heartbeat(c: Config, s: State) -> bool:
    """A loading coordinator answers a Heartbeat with NONE without looking at it.

    Kafka does so on purpose, so that members do not lose their place while the log is read.

    Source: ``GroupCoordinatorService.heartbeat``.
    """
    if c.failovers > 0 and s.phase == Phase.LOADING:
        for m in range(c.members):
            net = s.member[m].net
            if net.kind == MessageKind.HEARTBEAT_REPLY and net.error == Error.NONE:
                return True
    return False


def loading_coordinator_keeps_a_stale_owner(c: Config, s: State, t: State) -> bool:
    """A loading coordinator accepts the Heartbeat of a member whose partition the log gives to another one.

    The stale owner goes on processing until the log is loaded.

    Source: ``GroupCoordinatorService.heartbeat``.
    """
    if c.failovers > 0 and s.phase == Phase.LOADING:
        for m in range(c.members):
            if is_new_reply(s.member[m].net, t.member[m].net, MessageKind.HEARTBEAT_REPLY) and not in_log(s, m):
                for x in range(c.members):
                    if s.member[x].owned & s.member[m].owned != 0 and in_log(s, x):
                        return True
    return False


def in_log(s: State, m: int) -> bool:
    """Whether m's process is in the generation of the last record."""
    log, me = s.log, s.member[m]
    if not has(log.members, m) or has(log.stale_ids, m) or me.has_id == 0:
        return False
    return me.generation == log.generation and me.origin == log.origin


def join_meets_loading(c: Config, s: State) -> bool:
    """A JoinGroup is refused with COORDINATOR_LOAD_IN_PROGRESS.

    The client waits for its retry backoff and sends the JoinGroup again.

    Source: ``CoordinatorRuntime.withActiveContextOrThrow``.
    """
    return c.failovers > 0 and any_refused_with(c, s, MessageKind.JOIN_REPLY, Error.COORDINATOR_LOAD_IN_PROGRESS)


def sync_meets_loading(c: Config, s: State) -> bool:
    """A SyncGroup is refused with COORDINATOR_LOAD_IN_PROGRESS.

    The Scala coordinator answers REBALANCE_IN_PROGRESS instead; Kafka's Java client has no rule for this error and
    fails.

    Source: ``CoordinatorRuntime.withActiveContextOrThrow``; ``AbstractCoordinator.SyncGroupResponseHandler``.
    """
    return c.failovers > 0 and any_refused_with(c, s, MessageKind.SYNC_REPLY, Error.COORDINATOR_LOAD_IN_PROGRESS)


def join_meets_not_coordinator(c: Config, s: State) -> bool:
    """A JoinGroup is refused with NOT_COORDINATOR.

    The coordinator resigned while the request was parked or on its way.

    Source: ``GroupMetadataManager.onUnloaded``.
    """
    return c.failovers > 0 and any_refused_with(c, s, MessageKind.JOIN_REPLY, Error.NOT_COORDINATOR)


def heartbeat_meets_not_coordinator(c: Config, s: State) -> bool:
    """A Heartbeat is refused with NOT_COORDINATOR.

    The client marks its coordinator unknown and looks for the new one.

    Source: ``CoordinatorRuntime.withActiveContextOrThrow``.
    """
    return c.failovers > 0 and any_refused_with(c, s, MessageKind.HEARTBEAT_REPLY, Error.NOT_COORDINATOR)


FAILOVER_REACHABLE: Final = Concern(
    reachable_states=(
        generation_number_is_reused,
        member_is_ahead_of_the_coordinator,
        logged_assignment_was_never_delivered,
        rebalance_begins_during_an_append,
        load_restores_a_replaced_member_id,
        loading_coordinator_accepts_a_heartbeat,
        join_meets_loading,
        sync_meets_loading,
        join_meets_not_coordinator,
        heartbeat_meets_not_coordinator,
    ),
    reachable_steps=(loading_coordinator_keeps_a_stale_owner,),
)
