"""Concern *failovers*: a coordinator dies or resigns, and another one loads the group from the log.

The last committed record of the group survives (`model.classic.parts.group_log`). Pending ids, parked requests, a
rebalance in progress and generations that were not written are lost; the next coordinator issues their numbers again,
so only incarnation and generation number together are unique.

A coordinator that dies takes its connections with it: requests on their way are lost, and clients join again. A
coordinator that resigns answers every parked request with NOT_COORDINATOR. An assignment whose append is not committed
may be lost (choice 1), or survive although no member has received it (choice 0).
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL, assign, reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.coordinator import propagate
from rebalance_check.model.classic.invariants import is_new_reply
from rebalance_check.model.classic.parts.group_log import (
    is_known_to_zombie,
    is_serving,
    is_writing,
    names_its_id,
)
from rebalance_check.model.classic.parts.network import is_request, may_answer, put, refuse
from rebalance_check.model.classic.parts.protocol_vote import keep_list, list_with_only
from rebalance_check.model.classic.parts.static_members import is_static
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    MemberStatus,
    MessageKind,
    Phase,
    Record,
    State,
    has,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error


def commit_append(c: Config, s: State) -> bool:
    """The record of the leader's assignment is committed.

    If the group is still completing that generation it becomes stable, and the coordinator answers the parked
    SyncGroups. If a rebalance began meanwhile, no member receives the assignment.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup`` (append callback).
    Leaves unchanged: the record, which stays in the log in either case.
    """
    if c.failovers == 0 or not is_writing(s):
        return False
    assign(s.log, s.append)
    if s.status == GroupStatus.COMPLETING and s.generation == s.append.generation:
        for x in range(c.members):
            s.member[x].assignment = s.append.assignment[x]
        propagate(c, s)
    reset(s.append)
    return True


def append_outcomes(s: State) -> int:
    """Whether a record that is not committed survives (0) or is lost (1)."""
    return 2 if is_writing(s) else 1


def crash_coordinator(c: Config, s: State, k: int) -> bool:
    """The coordinator dies with its memory and its connections, and another one begins to load the log.

    Requests on their way are lost. An append that is not committed survives (choice 0) or is lost (choice 1).

    Source: ``CoordinatorRuntime.scheduleUnloadOperation``.
    Leaves unchanged: what the clients know, and the committed log.
    """
    if c.failovers == 0 or s.phase != Phase.SERVING or s.incarnation >= c.failovers:
        return False
    for x in range(c.members):
        if is_request(s.member[x].net.kind):
            put(s.member[x].net, MessageKind.NOTHING)
    end_incarnation(c, s, k)
    s.phase = Phase.LOADING
    return True


def resign_coordinator(c: Config, s: State, k: int) -> bool:
    """The coordinator loses its role and answers every parked request with NOT_COORDINATOR.

    The shard is unloaded: every group becomes Dead, and later requests meet NOT_COORDINATOR until another coordinator
    is found.

    Source: ``GroupMetadataManager.onUnloaded``; ``CoordinatorRuntime.scheduleUnloadOperation``.
    Leaves unchanged: what the clients know, and the committed log.
    """
    if c.failovers == 0 or s.phase != Phase.SERVING or s.incarnation >= c.failovers:
        return False
    for x in range(c.members):
        if has(s.joined, x) and may_answer(s, x):
            refuse(s, x, MessageKind.JOIN_REPLY, Error.NOT_COORDINATOR)
        elif has(s.synced, x) and may_answer(s, x):
            refuse(s, x, MessageKind.SYNC_REPLY, Error.NOT_COORDINATOR)
    end_incarnation(c, s, k)
    s.phase = Phase.CLOSED
    return True


def end_incarnation(c: Config, s: State, k: int) -> None:
    """Forget everything but the log; with choice 0 an append that is not committed survives."""
    if is_writing(s):
        if k == 0:
            assign(s.log, s.append)
        reset(s.append)
    s.incarnation += 1
    s.status = GroupStatus.DEAD
    s.initial_rebalance = 0
    s.generation = 0
    s.origin = 0
    s.leader = NIL
    s.members = 0
    s.stale_ids = 0
    s.pending = 0
    s.joined = 0
    s.synced = 0
    s.parked_duplicates = 0
    if c.timeouts:
        s.pending_syncs = 0
    s.replaced_member_owes_sync = 0
    if c.upgrade != 0:
        s.selected_protocol = 0
    for x in range(c.members):
        s.member[x].kept_list_index = 0
        s.member[x].owned_partitions = 0
        s.member[x].owned_generation = 0
        s.member[x].assignment = 0


def elect_coordinator(c: Config, s: State) -> bool:
    """After a resignation another coordinator is elected and begins to load the log.

    The partition of the offsets topic has a leader again, and clients find it by FindCoordinator.

    Source: ``CoordinatorRuntime.scheduleLoadOperation``.
    Leaves unchanged: the log, the clients, and the messages on their way.
    """
    if c.failovers == 0 or s.phase != Phase.CLOSED:
        return False
    s.phase = Phase.LOADING
    return True


def load_coordinator(c: Config, s: State) -> bool:
    """The new coordinator has read the log: the group is as its last record says, Stable or Empty.

    Pending ids, parked requests and generations that were never written are gone. Of each member the record has the
    metadata under the selected protocol only.

    Source: ``GroupMetadataManager.onLoaded``; ``GroupMetadataManager.replay``.
    Leaves unchanged: the log and the clients.
    """
    if c.failovers == 0 or s.phase != Phase.LOADING:
        return False
    s.phase = Phase.SERVING
    log = s.log
    if log.kind == 1:
        s.status = GroupStatus.EMPTY if log.members == 0 else GroupStatus.STABLE
        s.generation = log.generation
        s.origin = log.origin
        s.leader = log.leader
        s.members = log.members
        s.stale_ids = log.stale_ids
        for x in range(c.members):
            s.member[x].owned_partitions = log.owned_partitions[x]
            s.member[x].owned_generation = log.owned_generation[x]
            s.member[x].assignment = log.assignment[x]
        if c.upgrade != 0:
            load_votes(c, s)
    return True


def load_votes(c: Config, s: State) -> None:
    """Take the selected protocol from the record, and of each member a list with that name alone."""
    s.selected_protocol = s.log.protocol
    for x in range(c.members):
        if has(s.members, x):
            keep_list(c, s, x, list_with_only(c, s.selected_protocol))


# ------------------------------------------------------------------------------------------------ invariants


def generation_is_not_below_the_log(c: Config, s: State) -> bool:
    """A serving coordinator is never below the generation of the last committed record.

    Loading sets the generation to that of the record, and from there it only grows.

    Source: ``GroupMetadataManager.replay``; ``ClassicGroup.initNextGeneration``.
    Leaves unchanged: generations above the log, which no failover survives.
    """
    return c.failovers == 0 or not is_serving(s) or s.generation >= s.log.generation


def stable_is_persisted(c: Config, s: State) -> bool:
    """A stable group equals its last committed record.

    Generation, leader, members, assignments and the selected protocol agree, since the assignment is committed before
    the group becomes stable.

    Source: ``GroupCoordinatorRecordHelpers.newGroupMetadataRecord``;
    ``GroupMetadataManager.classicGroupSyncToClassicGroup``.
    Leaves unchanged: groups that prepare or complete a rebalance.
    """
    if c.failovers == 0 or s.status != GroupStatus.STABLE:
        return True
    log = s.log
    for x in range(c.members):
        if s.member[x].assignment != log.assignment[x]:
            return False
    if log.stale_ids != s.stale_ids & s.members or (c.upgrade != 0 and log.protocol != s.selected_protocol):
        return False
    return log.kind == 1 and log.generation == s.generation and log.members == s.members and log.leader == s.leader


def load_restores_the_log(c: Config, s: State, t: State) -> bool:
    """A loaded group is Stable, Empty or absent, with the generation and the members of the record.

    Nothing is parked and no id is pending.

    Source: ``GroupMetadataManager.onLoaded``.
    Leaves unchanged: the order in which the members notice the new coordinator.
    """
    if c.failovers == 0 or s.phase != Phase.LOADING or t.phase != Phase.SERVING:
        return True
    if t.status == GroupStatus.PREPARING or t.status == GroupStatus.COMPLETING:
        return False
    return t.pending | t.joined | t.synced == 0 and t.members == t.log.members and t.generation == t.log.generation


def persisted_before_propagated(c: Config, s: State, t: State) -> bool:
    """A SyncGroup reply carries an assignment only if a committed record of that generation has it.

    The coordinator parks the leader's SyncGroup, too, until the append is committed.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup``.
    Leaves unchanged: replies of a zombie coordinator, whose record was committed before.
    """
    if c.failovers > 0:
        for m in range(c.members):
            net = t.member[m].net
            if is_new_reply(s.member[m].net, net, MessageKind.SYNC_REPLY):
                if is_known_to_zombie(s, m, t.member[m].generation):
                    continue
                if not has(t.log.members, m) or t.log.assignment[m] != net.partitions:
                    return False
                if t.log.generation != t.member[m].generation:
                    return False
    return True


def one_assignment_per_generation(c: Config, s: State, t: State) -> bool:
    """Within a generation of one incarnation the log holds one assignment.

    A static member that is replaced hands its assignment on to the new member id.

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup``; KIP-345.
    Leaves unchanged: a generation number that another incarnation issues again.
    """
    if c.failovers == 0 or s.log.members == 0 or s.log.origin != t.log.origin:
        return True
    if s.log.generation != t.log.generation or s.deletions != t.deletions:
        return True
    for x in range(c.members):
        if in_record(s, s.log, x) != in_record(s, t.log, x):
            return False
    return True


def in_record(s: State, record: Record, x: int) -> int:
    """The assignment in a record to x, or to the other process with its instance id."""
    assigned = record.assignment[x]
    if is_static(s, x):
        assigned = assigned | record.assignment[s.member[x].instance_peer]
    return assigned


def restored_member_id_serves_no_other_process(c: Config, s: State, t: State) -> bool:
    """A process is not taken for the member whose replaced id a failover brought back.

    The log may restore an id that its process has exchanged for a new one since; requests under the new id get no
    success.

    Source: ``ClassicGroup.validateMember``; ``GroupMetadataManager.onLoaded``.
    Leaves unchanged: a static member that joins without an id; it takes over the place of its instance id.
    """
    if c.failovers > 0:
        for m in range(c.members):
            one, other = s.member[m].net, t.member[m].net
            vouched = is_known_to_zombie(s, m, t.member[m].generation)
            vouched = vouched or is_known_to_zombie(s, m, other.generation)
            if has(s.stale_ids & s.members & t.members, m) and names_its_id(s, m) and not vouched:
                if is_new_reply(one, other, MessageKind.SYNC_REPLY) or is_new_reply(one, other, MessageKind.JOIN_REPLY):
                    return False
                if is_new_reply(one, other, MessageKind.HEARTBEAT_REPLY):
                    return False
    return True


def failover_resets_no_member(c: Config, s: State, t: State) -> bool:
    """A member that meets NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS keeps its id, generation and partitions.

    The client looks for the coordinator again and retries.

    Source: ``AbstractCoordinator.JoinGroupResponseHandler``; ``AbstractCoordinator.HeartbeatResponseHandler``.
    Leaves unchanged: the member's status, and a SyncGroup that meets COORDINATOR_LOAD_IN_PROGRESS, which Kafka's client
    treats as fatal.
    """
    for m in range(c.members):
        one, other = s.member[m], t.member[m]
        retriable = one.net.error == Error.NOT_COORDINATOR or one.net.error == Error.COORDINATOR_LOAD_IN_PROGRESS
        if retriable and other.status != MemberStatus.DOWN:
            if one.has_id != other.has_id or one.generation != other.generation or one.owned != other.owned:
                return False
    return True


FAILOVER: Final = Concern(
    rules=(
        Rule(ActionKind.COMMIT_APPEND, commit_append, members=False, fair=True),
        Rule(ActionKind.CRASH_COORDINATOR, crash_coordinator, append_outcomes, members=False),
        Rule(ActionKind.RESIGN_COORDINATOR, resign_coordinator, append_outcomes, members=False),
        Rule(ActionKind.ELECT_COORDINATOR, elect_coordinator, members=False, fair=True),
        Rule(ActionKind.LOAD_COORDINATOR, load_coordinator, members=False, fair=True),
    ),
    invariants=(
        generation_is_not_below_the_log,
        stable_is_persisted,
    ),
    step_invariants=(
        load_restores_the_log,
        persisted_before_propagated,
        one_assignment_per_generation,
        restored_member_id_serves_no_other_process,
        failover_resets_no_member,
    ),
)
