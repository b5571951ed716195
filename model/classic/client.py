"""The client side of the classic protocol: ``AbstractCoordinator`` and ``ConsumerCoordinator``, one request at a time.

What a reply resets: UNKNOWN_MEMBER_ID the id and the generation; ILLEGAL_GENERATION the generation; both lose all
partitions. REBALANCE_IN_PROGRESS and a request that nobody answers reset nothing; the member joins again.
INCONSISTENT_GROUP_PROTOCOL ends the process: it surfaces from ``poll`` as an error that no retry mends.
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


def send_join_group(c: Config, s: State, m: int) -> bool:
    """An unjoined member asks to join. EAGER revokes everything first; COOPERATIVE keeps it, and claims it."""
    me = s.member[m]
    if me.status != MemberStatus.UNJOINED or me.net.kind != MessageKind.NOTHING or awaits_heartbeat(me):
        return False
    if me.has_id == 0 and has(s.members | s.pending, m) and not is_static(s, m):
        return False  # an id that it never learned: as in `restart`, the next one would be another slot's
    if not keeps_partitions(c, s, m):
        me.owned = 0
        me.aux_missed = 0
    put(me.net, MessageKind.JOIN_REQUEST)
    me.net.flag = me.has_id
    if keeps_partitions(c, s, m):
        me.net.partitions = me.owned
        me.net.generation = me.generation
    me.status = MemberStatus.JOINING
    return True


def join_choices(c: Config, s: State, m: int) -> int:
    """A leader chooses among the targets of its group."""
    net = s.member[m].net
    if net.kind == MessageKind.JOIN_REPLY and net.flag == 1:
        return target_count(c, net.group)
    return 1


def receive_join_group(c: Config, s: State, m: int, k: int) -> bool:
    """The member belongs to the new generation from here on, and syncs; the leader with the assignment of target k."""
    me = s.member[m]
    net = me.net
    if net.kind != MessageKind.JOIN_REPLY or is_error_reply(net):
        return False
    if net.flag == 1:
        target = c.targets[c.target_start[net.group] + k]
        withholding = withholds(c, s, m)
        if withholding and kept(c, net, target) < most_kept(c, net):
            return False
        assign_partitions(c, net, target, withholding)
    if net.flag == SKIPS_ASSIGNMENT:
        net.flag = 0
    me.status = MemberStatus.SYNCING
    me.has_id = 1
    me.generation = net.generation
    me.origin = net.origin
    net.origin = 0
    net.kind = MessageKind.SYNC_REQUEST
    net.partitions = 0
    net.group = 0
    net.protocol = 0
    return True


def receive_sync_group(c: Config, s: State, m: int) -> bool:
    """The member takes over its assignment. COOPERATIVE revokes what is missing from it, and then joins again."""
    me = s.member[m]
    net = me.net
    if net.kind != MessageKind.SYNC_REPLY or is_error_reply(net):
        return False
    if is_reset(me):
        me.status = MemberStatus.UNJOINED
        put(net, MessageKind.NOTHING)
        return True
    revoked = minus(me.owned, net.partitions)
    me.owned = net.partitions
    me.aux_missed = 0
    me.status = MemberStatus.UNJOINED if revoked != 0 and keeps_partitions(c, s, m) else MemberStatus.STABLE
    put(net, MessageKind.NOTHING)
    return True


def is_reset(me: Member) -> bool:
    """Whether m learned beside its SyncGroup that it has lost its generation (`classic_beats`): it is told in vain."""
    return me.status == MemberStatus.SYNCING and me.generation == 0


def send_heartbeat(s: State, m: int) -> bool:
    """A stable member tells that it is alive."""
    me = s.member[m]
    if me.status != MemberStatus.STABLE or me.net.kind != MessageKind.NOTHING or awaits_heartbeat(me):
        return False
    put(me.net, MessageKind.HEARTBEAT_REQUEST)
    me.net.generation = me.generation
    return True


def receive_heartbeat(s: State, m: int) -> bool:
    """All is well."""
    net = s.member[m].net
    if net.kind != MessageKind.HEARTBEAT_REPLY or is_error_reply(net):
        return False
    put(net, MessageKind.NOTHING)
    return True


def receive_error(s: State, m: int) -> bool:
    """A request was refused, or its time ran out: reset what the error says, and join again, or end."""
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
    """UNKNOWN_MEMBER_ID takes the member's id, and as ILLEGAL_GENERATION does, its generation and its partitions."""
    if error == Error.UNKNOWN_MEMBER_ID:
        me.has_id = 0
    if error == Error.UNKNOWN_MEMBER_ID or error == Error.ILLEGAL_GENERATION:
        lose_everything(me)
        me.origin = 0


def lose_everything(me: Member) -> None:
    """The member belongs to no generation, so its partitions are lost (``onPartitionsLost``)."""
    me.generation = 0
    me.owned = 0
    me.aux_missed = 0


def send_leave_group(c: Config, s: State, m: int) -> bool:
    """A stable member closes: it revokes everything, says goodbye and is gone. So does one with an unused id."""
    me = s.member[m]
    if me.net.kind != MessageKind.NOTHING or s.leaves >= c.leaves:
        return False
    if me.status != MemberStatus.STABLE and not may_return_id(c, me):
        return False
    s.leaves += 1
    stop(me)
    me.net.kind = MessageKind.LEAVE_REQUEST
    me.net.flag = 1 if is_static(s, m) else 0
    return True


def crash(c: Config, s: State, m: int) -> bool:
    """A process dies without a word, and its connection with it."""
    me = s.member[m]
    if me.status == MemberStatus.DOWN or s.crashes >= c.crashes:
        return False
    s.crashes += 1
    stop(me)
    return True


def stop(me: Member) -> None:
    """The process is gone, with all it knew."""
    me.status = MemberStatus.DOWN
    me.origin = 0
    drop_heartbeat(me)
    me.has_id = 0
    me.generation = 0
    me.owned = 0
    me.aux_missed = 0
    put(me.net, MessageKind.NOTHING)


def restart(c: Config, s: State, m: int) -> bool:
    """A process starts again; before the coordinator has forgotten its old id it would be another slot.

    A static member may come back earlier, to its seat: nobody hears the answer to what it had parked.
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
