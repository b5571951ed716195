"""Concern *zombie coordinators*: a coordinator goes on answering after another one has taken over.

The zombie coordinator has its memory but cannot write, and a request that needs a write gets no reply. It still accepts
Heartbeats, answers the JoinGroup of a follower with the generation that it remembers, and a SyncGroup with the
assignment that it remembers. It hands out no new assignment. Left out is what would change its memory: parked joins,
and a rebalance of its own, which ends in a write. It is deposed while nothing is parked and no append is pending.

Clients that have not found the new coordinator still ask the zombie, so a request may arrive at either.
"""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.concerns.failover import end_incarnation
from rebalance_check.model.classic.invariants import is_current, is_new_reply
from rebalance_check.model.classic.parts.group_log import is_of_the_generation, is_serving, is_writing
from rebalance_check.model.classic.parts.network import put, refuse
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    MessageKind,
    Phase,
    State,
    has,
    minus,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error


def depose_coordinator(c: Config, s: State) -> bool:
    """Another coordinator begins to load, and the present one does not know.

    The present one keeps its memory of the group and goes on answering. It is deposed while nothing is parked, pending
    or being written.

    Source: ``CoordinatorRuntime`` (epoch of a shard); ``Partition.makeFollower``.
    Leaves unchanged: the clients, and the log, which the zombie coordinator cannot write any more.
    """
    if c.zombie_coordinators == 0 or s.zombie_coordinators >= c.zombie_coordinators or s.incarnation >= c.failovers:
        return False
    if s.phase != Phase.SERVING or s.zombie_coordinator.status != GroupStatus.DEAD or s.status == GroupStatus.DEAD:
        return False
    if is_writing(s) or s.joined | s.synced | s.pending != 0:
        return False
    s.zombie_coordinators += 1
    z = s.zombie_coordinator
    z.status = s.status
    z.generation = s.generation
    z.origin = s.origin
    z.leader = s.leader
    z.members = minus(s.members, s.stale_ids)
    for x in range(c.members):
        z.owned_partitions[x] = s.member[x].owned_partitions
        z.owned_generation[x] = s.member[x].owned_generation
        z.assignment[x] = s.member[x].assignment
    end_incarnation(c, s, 0)
    s.phase = Phase.LOADING
    return True


def resign_zombie_coordinator(c: Config, s: State) -> bool:
    """The zombie coordinator learns that it has lost its role and forgets the group.

    From here on there is one coordinator again.

    Source: ``CoordinatorRuntime.scheduleUnloadOperation``.
    Leaves unchanged: the group of the present coordinator, and the clients.
    """
    if c.zombie_coordinators == 0 or s.zombie_coordinator.status == GroupStatus.DEAD:
        return False
    reset(s.zombie_coordinator)
    return True


def zombie_fence(s: State, m: int, generation: int) -> int:
    """The error of m's request for a generation at the zombie coordinator."""
    z = s.zombie_coordinator
    if not has(z.members, m):
        return Error.UNKNOWN_MEMBER_ID
    if generation != z.generation:
        return Error.ILLEGAL_GENERATION
    return Error.REBALANCE_IN_PROGRESS if z.status == GroupStatus.PREPARING else Error.NONE


def heartbeat_at_zombie(c: Config, s: State, m: int) -> bool:
    """A Heartbeat arrives at the zombie coordinator, which answers from memory.

    A Heartbeat needs no write unless earlier ones are pending, so it succeeds.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    Leaves unchanged: the memory of the zombie coordinator, and the present coordinator.
    """
    if c.zombie_coordinators == 0 or s.zombie_coordinator.status == GroupStatus.DEAD:
        return False
    net = s.member[m].net
    if net.kind != MessageKind.HEARTBEAT_REQUEST:
        return False
    refuse(s, m, MessageKind.HEARTBEAT_REPLY, zombie_fence(s, m, net.generation))
    return True


def sync_group_at_zombie(c: Config, s: State, m: int) -> bool:
    """A SyncGroup arrives at the zombie coordinator.

    A member of its stable generation gets the assignment that it remembers. While it waits for an assignment it gives
    no reply, because the append cannot be committed.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup``.
    Leaves unchanged: the memory of the zombie coordinator, and the present coordinator.
    """
    if c.zombie_coordinators == 0 or s.zombie_coordinator.status == GroupStatus.DEAD:
        return False
    net = s.member[m].net
    if net.kind != MessageKind.SYNC_REQUEST:
        return False
    error = zombie_fence(s, m, net.generation)
    if error != Error.NONE:
        refuse(s, m, MessageKind.SYNC_REPLY, error)
        return True
    if s.zombie_coordinator.status != GroupStatus.STABLE:
        return False
    put(net, MessageKind.SYNC_REPLY)
    net.partitions = s.zombie_coordinator.assignment[m]
    return True


def join_group_at_zombie(c: Config, s: State, m: int) -> bool:
    """A JoinGroup arrives at the zombie coordinator, which answers if it can do so at once.

    A follower whose metadata did not change gets the generation that the zombie remembers; an unknown member id is
    refused.

    Source: ``GroupMetadataManager.classicGroupJoinExistingMember``.
    Leaves unchanged: joins that would be parked, which the model does not deliver to it.
    """
    if c.zombie_coordinators == 0 or s.zombie_coordinator.status == GroupStatus.DEAD:
        return False
    net, z = s.member[m].net, s.zombie_coordinator
    if net.kind != MessageKind.JOIN_REQUEST or net.has_member_id == 0:
        return False
    if not has(z.members, m):
        refuse(s, m, MessageKind.JOIN_REPLY, Error.UNKNOWN_MEMBER_ID)
        return True
    if z.status < GroupStatus.COMPLETING or m == z.leader:
        return False
    if c.cooperative and (z.owned_partitions[m] != net.partitions or z.owned_generation[m] != net.generation):
        return False
    put(net, MessageKind.JOIN_REPLY)
    net.generation = z.generation
    net.origin = z.origin
    return True


# ------------------------------------------------------------------------------------------------ reachable


def zombie_coordinator_has_a_second_owner(c: Config, s: State) -> bool:
    """A member in the zombie coordinator's generation owns what a member of the present group owns.

    The two coordinators count on different generations, and each partition is owned once in either.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    """
    if c.zombie_coordinators > 0 and s.zombie_coordinator.members != 0 and is_serving(s):
        for m in range(c.members):
            if has(s.zombie_coordinator.members, m) and s.member[m].generation == s.zombie_coordinator.generation:
                if another_member_owns(c, s, m):
                    return True
    return False


def another_member_owns(c: Config, s: State, m: int) -> bool:
    """Whether a current member owns a partition that m's process owns."""
    for x in range(c.members):
        if x != m and s.member[x].owned & s.member[m].owned != 0 and is_current(s, x):
            return True
    return False


def is_stale_at_the_coordinator(c: Config, s: State, m: int) -> bool:
    """Whether the present coordinator serves and would refuse m for its generation."""
    return c.zombie_coordinators > 0 and is_serving(s) and not (has(s.members, m) and is_of_the_generation(s, m))


def zombie_coordinator_accepts_a_stale_heartbeat(c: Config, s: State, t: State) -> bool:
    """The zombie coordinator accepts a Heartbeat of a member that the present coordinator would refuse.

    The member has not found the present coordinator, and learns nothing of the new generation.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    """
    for m in range(c.members):
        if is_stale_at_the_coordinator(c, s, m) and is_new_reply(
            s.member[m].net, t.member[m].net, MessageKind.HEARTBEAT_REPLY
        ):
            return True
    return False


def zombie_coordinator_keeps_a_stale_owner(c: Config, s: State, t: State) -> bool:
    """The zombie coordinator accepts the Heartbeat of a member whose partition another member owns by now.

    Two members process the same partition for as long as the zombie coordinator answers.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    """
    for m in range(c.members):
        if is_stale_at_the_coordinator(c, s, m) and is_new_reply(
            s.member[m].net, t.member[m].net, MessageKind.HEARTBEAT_REPLY
        ):
            if another_member_owns(c, s, m):
                return True
    return False


def zombie_coordinator_returns_an_old_assignment(c: Config, s: State, t: State) -> bool:
    """The zombie coordinator answers a SyncGroup with its assignment although the group has gone on.

    The assignment was committed before the coordinator was deposed.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup``.
    """
    for m in range(c.members):
        if is_stale_at_the_coordinator(c, s, m) and is_new_reply(
            s.member[m].net, t.member[m].net, MessageKind.SYNC_REPLY
        ):
            return True
    return False


ZOMBIE_COORDINATOR: Final = Concern(
    rules=(
        Rule(ActionKind.DEPOSE_COORDINATOR, depose_coordinator, members=False),
        Rule(ActionKind.RESIGN_ZOMBIE_COORDINATOR, resign_zombie_coordinator, members=False, fair=True),
        Rule(ActionKind.JOIN_GROUP_AT_ZOMBIE, join_group_at_zombie),
        Rule(ActionKind.SYNC_GROUP_AT_ZOMBIE, sync_group_at_zombie),
        Rule(ActionKind.HEARTBEAT_AT_ZOMBIE, heartbeat_at_zombie),
    ),
    reachable_states=(zombie_coordinator_has_a_second_owner,),
    reachable_steps=(
        zombie_coordinator_accepts_a_stale_heartbeat,
        zombie_coordinator_keeps_a_stale_owner,
        zombie_coordinator_returns_an_old_assignment,
    ),
)
