"""The group's log, and whether a coordinator serves: the parts that the coordinator's steps need with ``failovers``.

The log holds the last record of the group. It is written by the leader's SyncGroup, by a join phase that ends without
members, and when the group is created. Only the first write is apart from its commit here: until then no member gets
the assignment, and a coordinator that dies may leave the record behind or not.

While a write is under way no session ends, and Heartbeat and LeaveGroup arrive later: Kafka's coordinator holds their
replies back behind it, and a write takes less time than a session. A second SyncGroup of the leader waits, too.

A slot has one id at the coordinator. The log may bring back another id than the slot's process has by now: that id
is *stale*, and the coordinator does not know the process.
"""

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.classic.parts.network import put, refuse
from rebalance_check.model.classic.parts.static_members import is_static, or_fenced
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    Member,
    MemberStatus,
    Message,
    MessageKind,
    Phase,
    Record,
    State,
    has,
    with_,
    without,
)
from rebalance_check.model.vocabulary.errors import Error


def is_serving(s: State) -> bool:
    """Whether a coordinator is active and has loaded its log."""
    return s.phase == Phase.SERVING


def is_writing(s: State) -> bool:
    """Whether the record of the leader's assignment is appended and not committed yet."""
    return s.append.kind == 1


def has_stale_id(s: State, m: int) -> bool:
    """Whether the coordinator knows another id of slot m than its process holds: the log brought the old one back."""
    return has(s.stale_ids & s.members, m)


def is_held(c: Config, s: State, m: int) -> bool:
    """Whether a live process holds, or is about to receive, the id that the coordinator knows of slot m."""
    me = s.member[m]
    if me.status == MemberStatus.DOWN or has_stale_id(s, m):
        return False
    if me.has_id == 1 or c.failovers == 0:
        return True
    return me.net.kind == MessageKind.JOIN_REPLY and carries_member_id(me.net)


def carries_member_id(net: Message) -> bool:
    """Whether a JoinGroup reply carries the receiver's member id."""
    return net.error == Error.NONE or net.error == Error.MEMBER_ID_REQUIRED


# ------------------------------------------------------------------------------------------------ arriving requests


def must_wait(c: Config, s: State, m: int) -> bool:
    """Whether m's request cannot arrive yet.

    The JoinGroup of a new dynamic member waits while the coordinator knows an id of its slot, because a slot stands for
    one id. Heartbeat, LeaveGroup and a second SyncGroup of the leader wait while a write is under way: the coordinator
    runtime replies to them only after that write.

    Source: ``CoordinatorRuntime`` (deferred events).
    """
    if c.failovers == 0 or not is_serving(s):
        return False
    net = s.member[m].net
    if net.kind == MessageKind.JOIN_REQUEST:
        return net.has_member_id == 0 and has(s.members | s.pending, m) and not is_static(s, m)
    return is_writing(s) and (net.kind != MessageKind.SYNC_REQUEST or m == s.leader)


def is_turned_away(s: State, m: int) -> bool:
    """Refuse m's request if no coordinator serves, or it does not know the id in it; return whether it was refused.

    A coordinator that resigned replies NOT_COORDINATOR. One that is loading replies COORDINATOR_LOAD_IN_PROGRESS, but
    accepts every Heartbeat, so that no member is lost while the log is read. A static member whose slot another id
    holds is fenced, even if that id was its own once.

    Source: ``CoordinatorRuntime.withActiveContextOrThrow``; ``GroupCoordinatorService.heartbeat``.
    """
    net = s.member[m].net
    kind = net.kind
    error: int = Error.UNKNOWN_MEMBER_ID
    if not is_serving(s):
        error = Error.NOT_COORDINATOR if s.phase == Phase.CLOSED else Error.COORDINATOR_LOAD_IN_PROGRESS
        if kind == MessageKind.HEARTBEAT_REQUEST and s.phase == Phase.LOADING:
            error = Error.NONE
    elif has_stale_id(s, m) and names_its_id(s, m):
        error = or_fenced(s, m, error)
    else:
        return False
    if kind == MessageKind.LEAVE_REQUEST:
        put(net, MessageKind.NOTHING)
    else:
        refuse(s, m, reply_to(kind), error)
    return True


def names_its_id(s: State, m: int) -> bool:
    """Whether m's request carries a member id: LeaveGroup of a static member and a first JoinGroup do not."""
    net = s.member[m].net
    if net.kind == MessageKind.LEAVE_REQUEST:
        return not is_static(s, m)
    return net.kind != MessageKind.JOIN_REQUEST or net.has_member_id == 1


def reply_to(kind: int) -> int:
    """The kind of the reply to a request."""
    if kind == MessageKind.JOIN_REQUEST:
        return MessageKind.JOIN_REPLY
    if kind == MessageKind.COMMIT_REQUEST:
        return MessageKind.COMMIT_REPLY
    return MessageKind.SYNC_REPLY if kind == MessageKind.SYNC_REQUEST else MessageKind.HEARTBEAT_REPLY


def rediscovers(me: Member) -> bool:
    """Whether m only has to look for the new coordinator: its heartbeat or commit met one that is not active.

    Source: ``AbstractCoordinator.markCoordinatorUnknown``.
    """
    if me.net.kind != MessageKind.HEARTBEAT_REPLY and me.net.kind != MessageKind.COMMIT_REPLY:
        return False
    return me.net.error == Error.NOT_COORDINATOR or me.net.error == Error.COORDINATOR_LOAD_IN_PROGRESS


def give_new_id(s: State, m: int) -> None:
    """Slot m gets another member id: its former one, which records may still hold, is stale from now on."""
    s.stale_ids = without(s.stale_ids, m)
    s.zombie_coordinator.members = without(s.zombie_coordinator.members, m)
    if has(s.log.members, m):
        s.log.stale_ids = with_(s.log.stale_ids, m)
    if has(s.append.members, m):
        s.append.stale_ids = with_(s.append.stale_ids, m)


# ------------------------------------------------------------------------------------------------ the log


def write_group(c: Config, s: State) -> None:
    """The record of a group without members is committed at once."""
    if c.failovers > 0:
        snapshot(c, s, s.log)


def write_replacement(c: Config, s: State) -> None:
    """The record of a Stable group with a replaced static member is committed at once.

    Source: ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``.
    """
    if c.failovers > 0:
        snapshot(c, s, s.log)
        for x in range(c.members):
            s.log.assignment[x] = s.member[x].assignment if has(s.members, x) else 0


def begin_append(c: Config, s: State, assigned: Message) -> None:
    """The record with the leader's assignment is appended; `commit_append` commits it.

    Source: ``GroupCoordinatorRecordHelpers.newGroupMetadataRecord``.
    """
    snapshot(c, s, s.append)
    for x in range(c.members):
        s.append.assignment[x] = assigned.assignments[x] if has(s.members, x) else 0


def snapshot(c: Config, s: State, record: Record) -> None:
    """The record is the group as it stands, without assignments."""
    reset(record)
    record.kind = 1
    record.generation = s.generation
    record.origin = s.origin
    record.leader = s.leader
    record.members = s.members
    record.stale_ids = s.stale_ids & s.members
    record.protocol = s.selected_protocol
    for x in range(c.members):
        known = has(s.members, x)
        record.owned_partitions[x] = s.member[x].owned_partitions if known else 0
        record.owned_generation[x] = s.member[x].owned_generation if known else 0


def is_known_to_zombie(s: State, m: int, generation: int) -> bool:
    """Whether a zombie coordinator would reply to m for this generation without an error."""
    if s.zombie_coordinator.status < GroupStatus.COMPLETING:
        return False
    return has(s.zombie_coordinator.members, m) and s.zombie_coordinator.generation == generation


def is_of_the_generation(s: State, m: int) -> bool:
    """Whether m's generation is the group's, and not one of the same number in another incarnation."""
    if s.member[m].generation != s.generation:
        return False
    return s.member[m].origin == s.origin


def is_of_this_incarnation(s: State, m: int) -> bool:
    """Whether m's generation began in the present incarnation."""
    return s.member[m].origin == s.incarnation


def same_incarnation(s: State, t: State) -> bool:
    """Whether a step neither deleted the group nor changed its coordinator."""
    if s.deletions != t.deletions:
        return False
    return s.phase == Phase.SERVING and t.phase == Phase.SERVING
