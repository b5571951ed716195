"""The client side of the classic protocol: ``AbstractCoordinator`` and ``ConsumerCoordinator``, one request at a time.

Errors reset a member: UNKNOWN_MEMBER_ID the id and the generation, ILLEGAL_GENERATION the generation; both lose all
partitions. REBALANCE_IN_PROGRESS and a request without a reply reset nothing: the member joins again.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.parts.assignment import assign_partitions, kept, most_kept, target_count
from rebalance_check.model.classic.parts.group_log import rediscovers
from rebalance_check.model.classic.parts.network import (
    awaits_heartbeat,
    drop_heartbeat,
    is_error_reply,
    is_parked,
    is_unanswered,
    put,
)
from rebalance_check.model.classic.parts.new_members import may_return_id
from rebalance_check.model.classic.parts.protocol_vote import keeps_partitions, take_next_list, withholds
from rebalance_check.model.classic.parts.static_members import SKIPS_ASSIGNMENT, give_up, is_fenced, is_static
from rebalance_check.model.classic.state import Config, Member, MemberStatus, MessageKind, State, has, minus, with_
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error

# ---------------------------------------------------------------------------------------- JoinGroup


def send_join_group(c: Config, s: State, m: int) -> bool:
    """An unjoined member sends JoinGroup.

    EAGER revokes all partitions first, so that the leader may assign everything anew. COOPERATIVE keeps them and states
    its partitions, and since which generation, so that the leader can tell a current owner from a former one (KIP-792).

    Source: ``AbstractCoordinator.sendJoinGroupRequest``; ``ConsumerCoordinator.onJoinPrepare``; KIP-429.
    Leaves unchanged: the coordinator; member id and generation of the process.
    """
    me = s.member[m]
    if me.status != MemberStatus.UNJOINED or me.net.kind != MessageKind.NOTHING or awaits_heartbeat(me):
        return False
    if me.has_id == 0 and has(s.members | s.pending, m) and not is_static(s, m):
        return False  # an id that it never learned: as in `restart`, the next one would be another slot's
    if not keeps_partitions(c, s, m):
        me.owned = 0
        me.aux_missed = 0
    put(me.net, MessageKind.JOIN_REQUEST)
    me.net.has_member_id = me.has_id
    if keeps_partitions(c, s, m):
        me.net.owned_partitions = me.owned
        me.net.owned_generation = me.generation
    me.status = MemberStatus.JOINING
    return True


def join_choices(c: Config, s: State, m: int) -> int:
    """A leader chooses among the balanced targets of its group."""
    net = s.member[m].net
    if net.kind == MessageKind.JOIN_REPLY and net.to_leader == 1:
        return target_count(c, net.group)
    return 1


def receive_join_group(c: Config, s: State, m: int, k: int) -> bool:
    """The JoinGroup reply arrives, and the member sends SyncGroup.

    From here on the process belongs to the new generation. The leader computes the assignment, target k, and sends it;
    a COOPERATIVE assignor hands no partition to a member while another one owns it. A leader whose reply says
    skipAssignment syncs as a follower does (KIP-814).

    Source: ``AbstractCoordinator.JoinGroupResponseHandler``; ``ConsumerCoordinator.onLeaderElected``; KIP-429.
    Leaves unchanged: the owned partitions, which change when the assignment arrives.
    """
    me = s.member[m]
    net = me.net
    if net.kind != MessageKind.JOIN_REPLY or is_error_reply(net):
        return False
    if net.to_leader == 1:
        target = c.targets[c.target_start[net.group] + k]
        withholding = withholds(c, s, m)
        if withholding and kept(c, net, target) < most_kept(c, net):
            return False
        assign_partitions(c, net, target, withholding)
    if net.to_leader == SKIPS_ASSIGNMENT:
        net.to_leader = 0
    me.status = MemberStatus.SYNCING
    me.has_id = 1
    me.generation = net.generation
    me.origin = net.origin
    net.kind = MessageKind.SYNC_REQUEST  # of the reply it keeps the generation, and the facts that make it the leader's
    net.origin = 0
    net.claimed_twice = 0
    net.group = 0
    net.protocol = 0
    return True


# ---------------------------------------------------------------------------------------- SyncGroup


def receive_sync_group(c: Config, s: State, m: int) -> bool:
    """The SyncGroup reply arrives, and the member takes over its assignment.

    A COOPERATIVE member revokes what is missing from the assignment and joins again, so that the next generation can
    hand those partitions on. A member that was reset in the meantime ignores the assignment and joins again.

    Source: ``AbstractCoordinator.SyncGroupResponseHandler``; ``ConsumerCoordinator.onJoinComplete``; KIP-429.
    Leaves unchanged: the coordinator; the generation of the process.
    """
    me = s.member[m]
    net = me.net
    if net.kind != MessageKind.SYNC_REPLY or is_error_reply(net):
        return False
    if is_reset(me):
        me.status = MemberStatus.UNJOINED
        put(net, MessageKind.NOTHING)
        return True
    revoked = minus(me.owned, net.assigned)
    me.owned = net.assigned
    me.aux_missed = 0
    me.status = MemberStatus.UNJOINED if revoked != 0 and keeps_partitions(c, s, m) else MemberStatus.STABLE
    put(net, MessageKind.NOTHING)
    return True


def is_reset(me: Member) -> bool:
    """Whether a heartbeat's reply took the member's generation while its SyncGroup was outstanding.

    The SyncGroup reply is then ignored (``heartbeats_during_sync``).
    """
    return me.status == MemberStatus.SYNCING and me.generation == 0


# ---------------------------------------------------------------------------------------- Heartbeat


def send_heartbeat(s: State, m: int) -> bool:
    """A stable member sends Heartbeat.

    Source: ``AbstractCoordinator.sendHeartbeatRequest``.
    Leaves unchanged: everything but the message.
    """
    me = s.member[m]
    if me.status != MemberStatus.STABLE or me.net.kind != MessageKind.NOTHING or awaits_heartbeat(me):
        return False
    put(me.net, MessageKind.HEARTBEAT_REQUEST)
    me.net.generation = me.generation
    return True


def receive_heartbeat(s: State, m: int) -> bool:
    """The reply to a heartbeat arrives without an error.

    Source: ``AbstractCoordinator.HeartbeatResponseHandler``.
    Leaves unchanged: everything but the message.
    """
    net = s.member[m].net
    if net.kind != MessageKind.HEARTBEAT_REPLY or is_error_reply(net):
        return False
    put(net, MessageKind.NOTHING)
    return True


# ---------------------------------------------------------------------------------------- errors


def receive_error(s: State, m: int) -> bool:
    """A reply with an error arrives, or a request times out.

    The member resets the fields that the error takes (`lose_by`) and joins again. MEMBER_ID_REQUIRED gives it an id.
    INCONSISTENT_GROUP_PROTOCOL and FENCED_INSTANCE_ID end the process: no retry mends them, and ``poll`` throws.

    Source: ``AbstractCoordinator.resetStateOnResponseError``; ``AbstractCoordinator.joinGroupIfNeeded``.
    Leaves unchanged: id, generation and partitions, if the outcome is unknown or the error is retriable.
    """
    me = s.member[m]
    if not (is_error_reply(me.net) or is_unanswered(s, m)):
        return False
    if me.net.error == Error.INCONSISTENT_GROUP_PROTOCOL:
        stop(me)
        return True
    if me.net.error == Error.FENCED_INSTANCE_ID:
        give_up(s, m)
        stop(me)
        return True
    if me.net.error == Error.MEMBER_ID_REQUIRED:
        me.has_id = 1
    if not is_reset(me):
        lose_by(me, me.net.error)
    if not rediscovers(me):
        me.status = MemberStatus.UNJOINED
    put(me.net, MessageKind.NOTHING)
    return True


def lose_by(me: Member, error: int) -> None:
    """Lose by an error: UNKNOWN_MEMBER_ID takes the id, and like ILLEGAL_GENERATION the generation and all partitions.

    Source: ``AbstractCoordinator.resetStateOnResponseError``.
    """
    if error == Error.UNKNOWN_MEMBER_ID:
        me.has_id = 0
    if error == Error.UNKNOWN_MEMBER_ID or error == Error.ILLEGAL_GENERATION:
        lose_everything(me)
        me.origin = 0


def lose_everything(me: Member) -> None:
    """A member without a generation has lost its partitions: other members may own them by now.

    Source: ``ConsumerRebalanceListener.onPartitionsLost``; KIP-429.
    """
    me.generation = 0
    me.owned = 0
    me.aux_missed = 0


# ---------------------------------------------------------------------------------------- processes that end and start


def send_leave_group(c: Config, s: State, m: int) -> bool:
    """A stable member closes: it revokes its partitions, sends LeaveGroup and is gone.

    With ``new_members`` a process that has an id and no generation leaves, too, so that no group waits for that id. A
    static member names its instance id (as an administrator does; its own ``close`` sends no LeaveGroup).

    Source: ``AbstractCoordinator.maybeLeaveGroup``; KIP-345.
    Leaves unchanged: the coordinator, until the request arrives.
    """
    me = s.member[m]
    if me.net.kind != MessageKind.NOTHING or s.leaves >= c.leaves:
        return False
    if me.status != MemberStatus.STABLE and not may_return_id(c, me):
        return False
    s.leaves += 1
    stop(me)
    me.net.kind = MessageKind.LEAVE_REQUEST
    me.net.by_instance_id = 1 if is_static(s, m) else 0
    return True


def crash(c: Config, s: State, m: int) -> bool:
    """A process dies: it sends nothing more, and its connection breaks.

    Source: fault model; KIP-62 has the session timeout that notices it.
    Leaves unchanged: the coordinator, which notices by the session timeout only, and a duplicate on its way.
    """
    me = s.member[m]
    if me.status == MemberStatus.DOWN or s.crashes >= c.crashes:
        return False
    s.crashes += 1
    stop(me)
    return True


def stop(me: Member) -> None:
    """The process ends, with all it knew."""
    me.status = MemberStatus.DOWN
    me.origin = 0
    drop_heartbeat(me)
    me.has_id = 0
    me.generation = 0
    me.owned = 0
    me.aux_missed = 0
    put(me.net, MessageKind.NOTHING)


def restart(c: Config, s: State, m: int) -> bool:
    """A process starts again.

    A dynamic one has a new identity, so it starts once the coordinator has forgotten the old id: earlier it would be
    another slot. A static one may come back at any time; the reply to what it had parked reaches no process.

    Source: KIP-345.
    Leaves unchanged: the group: the coordinator still counts the old id of a static member.
    """
    me = s.member[m]
    if me.status != MemberStatus.DOWN or me.net.kind != MessageKind.NOTHING or is_fenced(s, m):
        return False
    if has(s.members | s.pending, m) and not is_static(s, m):
        return False
    take_next_list(c, s, m)
    me.status = MemberStatus.UNJOINED
    if is_parked(s, m):
        s.parked_duplicates = with_(s.parked_duplicates, m)
    return True


CLIENT: Final = Concern(
    rules=(
        Rule(ActionKind.SEND_JOIN_GROUP, send_join_group, fair=True),
        Rule(ActionKind.RECEIVE_JOIN_GROUP, receive_join_group, join_choices, fair=True),
        Rule(ActionKind.RECEIVE_SYNC_GROUP, receive_sync_group, fair=True),
        Rule(ActionKind.SEND_HEARTBEAT, send_heartbeat, fair=True),
        Rule(ActionKind.RECEIVE_HEARTBEAT, receive_heartbeat, fair=True),
        Rule(ActionKind.RECEIVE_ERROR, receive_error, fair=True),
        Rule(ActionKind.SEND_LEAVE_GROUP, send_leave_group),
        Rule(ActionKind.CRASH, crash),
        Rule(ActionKind.RESTART, restart),
    ),
)
