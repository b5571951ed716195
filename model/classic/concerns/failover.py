"""Concern *failovers* of the classic protocol: a coordinator dies or resigns, and another one loads its log.

What survives is the last record of the group (`classic_log`). Forgotten are ids that were handed out, parked requests,
a rebalance in progress, and with it generations that were begun and not assigned: their numbers are issued again. Only
the pair of incarnation and number is unique, and it is what the claims go by.

A coordinator that dies takes its connections with it: requests on their way are lost, and clients join again. One that
resigns answers whatever is parked with NOT_COORDINATOR. The record of an assignment that is not committed may be lost
with it (choice 1), or be found by the next one although nobody was ever told.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.coordinator import propagate
from rebalance_check.model.classic.invariants import any_refused, is_new_answer
from rebalance_check.model.classic.parts.group_log import (
    is_serving,
    is_told_by_zombie,
    is_writing,
    keep,
    names_its_id,
    wipe,
)
from rebalance_check.model.classic.parts.network import is_request, may_answer, put, refuse
from rebalance_check.model.classic.parts.protocol_vote import list_with_only, take_list
from rebalance_check.model.classic.parts.static_members import forget_ghost, is_static
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
    """The leader's record is committed: if the group still waits for it, the assignment is known.

    If a rebalance began meanwhile, nobody ever learns it; the record stays.
    """
    if c.failovers == 0 or not is_writing(c, s):
        return False
    keep(c, s)
    if s.status == GroupStatus.COMPLETING and s.generation == s.append[0].generation:
        for x in range(c.members):
            s.member[x].assignment = s.append[0].assignment[x]
        propagate(c, s)
    wipe(c, s.append[0])
    return True


def tail_choices(c: Config, s: State) -> int:
    """Whether a record that is not committed is kept or lost."""
    return 2 if is_writing(c, s) else 1


def crash_coordinator(c: Config, s: State, k: int) -> bool:
    """The coordinator dies, and its connections with it; another one begins to load."""
    if c.failovers == 0 or s.phase[0] != Phase.SERVING or s.incarnation[0] >= c.failovers:
        return False
    for x in range(c.members):
        if is_request(s.member[x].net.kind):
            put(c, s.member[x].net, MessageKind.NOTHING)
    end_incarnation(c, s, k)
    s.phase[0] = Phase.LOADING
    return True


def resign_coordinator(c: Config, s: State, k: int) -> bool:
    """The coordinator is told that it is none any more: it answers NOT_COORDINATOR to all that is parked, and to all
    that comes."""
    if c.failovers == 0 or s.phase[0] != Phase.SERVING or s.incarnation[0] >= c.failovers:
        return False
    for x in range(c.members):
        if has(s.joined, x) and may_answer(s, x):
            refuse(c, s, x, MessageKind.JOIN_REPLY, Error.NOT_COORDINATOR)
        elif has(s.synced, x) and may_answer(s, x):
            refuse(c, s, x, MessageKind.SYNC_REPLY, Error.NOT_COORDINATOR)
    end_incarnation(c, s, k)
    s.phase[0] = Phase.CLOSED
    return True


def end_incarnation(c: Config, s: State, k: int) -> None:
    """Nothing is left but the log."""
    if is_writing(c, s):
        if k == 0:
            keep(c, s)
        wipe(c, s.append[0])
    s.incarnation[0] += 1
    s.status = GroupStatus.DEAD
    s.initial = 0
    s.generation = 0
    s.origin[0] = 0
    s.leader = NIL
    s.members = 0
    s.strangers[0] = 0
    s.pending = 0
    s.joined = 0
    s.synced = 0
    s.orphans = 0
    if c.timeouts:
        s.owing[0] = 0
    forget_ghost(c, s)
    if c.path != 0:
        s.selected[0] = 0
    for x in range(c.members):
        take_list(s, x, 0)
        s.member[x].claims = 0
        s.member[x].claim_generation = 0
        s.member[x].assignment = 0


def elect_coordinator(c: Config, s: State) -> bool:
    """After one has resigned, another one is elected, and begins to load."""
    if c.failovers == 0 or s.phase[0] != Phase.CLOSED:
        return False
    s.phase[0] = Phase.LOADING
    return True


def load_coordinator(c: Config, s: State) -> bool:
    """The log is read: the group is as its last record tells, Stable or Empty (``GroupMetadataManager.onLoaded``)."""
    if c.failovers == 0 or s.phase[0] != Phase.LOADING:
        return False
    s.phase[0] = Phase.SERVING
    log = s.log[0]
    if log.kind == 1:
        s.status = GroupStatus.EMPTY if log.members == 0 else GroupStatus.STABLE
        s.generation = log.generation
        s.origin[0] = log.origin
        s.leader = log.leader
        s.members = log.members
        s.strangers[0] = log.old
        for x in range(c.members):
            s.member[x].claims = log.claims[x]
            s.member[x].claim_generation = log.claim_generation[x]
            s.member[x].assignment = log.assignment[x]
        if c.path != 0:
            load_votes(c, s)
    return True


def load_votes(c: Config, s: State) -> None:
    """The record has the selected protocol, and of each member what it said under that one."""
    s.selected[0] = s.log[0].protocol[0]
    for x in range(c.members):
        if has(s.members, x):
            take_list(s, x, list_with_only(c, s.selected[0]))


# ------------------------------------------------------------------------------------------------ claims


def generation_is_not_below_the_log(c: Config, s: State) -> bool:
    """A coordinator that serves is never below the generation of the last record."""
    return c.failovers == 0 or not is_serving(c, s) or s.generation >= s.log[0].generation


def stable_is_persisted(c: Config, s: State) -> bool:
    """A stable group is as its last record tells: generation, leader, members under their ids, and assignments."""
    if c.failovers == 0 or s.status != GroupStatus.STABLE:
        return True
    log = s.log[0]
    for x in range(c.members):
        if s.member[x].assignment != log.assignment[x]:
            return False
    if log.old != s.strangers[0] & s.members or (c.path != 0 and log.protocol[0] != s.selected[0]):
        return False
    return log.kind == 1 and log.generation == s.generation and log.members == s.members and log.leader == s.leader


def load_restores_the_log(c: Config, s: State, t: State) -> bool:
    """What is loaded is Stable or Empty, or absent, with the generation of the record, nothing parked or pending."""
    if c.failovers == 0 or s.phase[0] != Phase.LOADING or t.phase[0] != Phase.SERVING:
        return True
    if t.status == GroupStatus.PREPARING or t.status == GroupStatus.COMPLETING:
        return False
    return (
        t.pending | t.joined | t.synced == 0 and t.members == t.log[0].members and t.generation == t.log[0].generation
    )


def persisted_before_propagated(c: Config, s: State, t: State) -> bool:
    """A SyncGroup is answered with an assignment only if a committed record of that generation has it."""
    if c.failovers > 0:
        for m in range(c.members):
            net = t.member[m].net
            if is_new_answer(s.member[m].net, net, MessageKind.SYNC_REPLY):
                if is_told_by_zombie(c, s, m, t.member[m].generation):
                    continue
                if not has(t.log[0].members, m) or t.log[0].assignment[m] != net.partitions:
                    return False
                if t.log[0].generation != t.member[m].generation:
                    return False
    return True


def one_assignment_per_generation(c: Config, s: State, t: State) -> bool:
    """Within a generation of one incarnation the log holds one assignment."""
    if c.failovers == 0 or s.log[0].members == 0 or s.log[0].origin != t.log[0].origin:
        return True
    if s.log[0].generation != t.log[0].generation or s.deletions != t.deletions:
        return True
    for x in range(c.members):
        if in_record(c, s, s.log[0], x) != in_record(c, s, t.log[0], x):
            return False
    return True


def in_record(c: Config, s: State, record: Record, x: int) -> int:
    """What a record assigns to x, or to the twin that took its seat."""
    assigned = record.assignment[x]
    if is_static(c, s, x):
        assigned = assigned | record.assignment[s.member[x].twin[0]]
    return assigned


def stranger_is_refused(c: Config, s: State, t: State) -> bool:
    """A process whose id the coordinator has forgotten is not taken for the owner of the one that came back.

    A static member that asks for another id gets the seat.
    """
    if c.failovers > 0:
        for m in range(c.members):
            one, other = s.member[m].net, t.member[m].net
            vouched = is_told_by_zombie(c, s, m, t.member[m].generation)
            vouched = vouched or is_told_by_zombie(c, s, m, other.generation)
            if has(s.strangers[0] & s.members & t.members, m) and names_its_id(c, s, m) and not vouched:
                if is_new_answer(one, other, MessageKind.SYNC_REPLY) or is_new_answer(
                    one, other, MessageKind.JOIN_REPLY
                ):
                    return False
                if is_new_answer(one, other, MessageKind.HEARTBEAT_REPLY):
                    return False
    return True


def failover_resets_no_member(c: Config, s: State, t: State) -> bool:
    """A member that hears of no coordinator, or of one that loads, keeps its id, its generation and its partitions."""
    for m in range(c.members):
        one, other = s.member[m], t.member[m]
        retriable = one.net.error == Error.NOT_COORDINATOR or one.net.error == Error.COORDINATOR_LOAD_IN_PROGRESS
        if retriable and other.status != MemberStatus.DOWN:
            if one.has_id != other.has_id or one.generation != other.generation or one.owned != other.owned:
                return False
    return True


# ------------------------------------------------------------------------------------------------ somewhere


def generation_is_issued_again(c: Config, s: State) -> bool:
    """A member is in a generation of the group's number that began in another incarnation."""
    if c.failovers > 0 and is_serving(c, s) and s.generation > 0:
        for m in range(c.members):
            if s.member[m].generation == s.generation and s.member[m].origin[0] != s.origin[0]:
                return True
    return False


def member_is_ahead(c: Config, s: State) -> bool:
    """A member is in a generation that was never persisted, and that the coordinator does not know."""
    if c.failovers > 0 and is_serving(c, s):
        for m in range(c.members):
            if s.member[m].generation > s.generation and has(s.members, m):
                return True
    return False


def assignment_was_never_told(c: Config, s: State) -> bool:
    """A record is loaded whose assignment none of its members follows."""
    if c.failovers == 0 or is_serving(c, s) or s.log[0].members == 0:
        return False
    for m in range(c.members):
        me = s.member[m]
        if me.generation == s.log[0].generation and me.origin[0] == s.log[0].origin:
            if me.status == MemberStatus.STABLE or (
                me.net.kind == MessageKind.SYNC_REPLY and me.net.error == Error.NONE
            ):
                return False
    return True


def record_outlives_its_rebalance(c: Config, s: State) -> bool:
    """A rebalance begins while the assignment of the generation before is being written."""
    return is_writing(c, s) and s.status == GroupStatus.PREPARING


def forgotten_id_comes_back(c: Config, s: State) -> bool:
    """The log brings an id back whose process has another one by now."""
    return c.failovers > 0 and s.strangers[0] & s.members != 0


def heartbeat_is_believed(c: Config, s: State) -> bool:
    """A coordinator that is loading answers a heartbeat without looking."""
    if c.failovers > 0 and s.phase[0] == Phase.LOADING:
        for m in range(c.members):
            net = s.member[m].net
            if net.kind == MessageKind.HEARTBEAT_REPLY and net.error == Error.NONE:
                return True
    return False


def loading_keeps_a_second_owner(c: Config, s: State, t: State) -> bool:
    """A coordinator that is loading tells a member that all is well, of whose partition the log has another owner."""
    if c.failovers > 0 and s.phase[0] == Phase.LOADING:
        for m in range(c.members):
            if is_new_answer(s.member[m].net, t.member[m].net, MessageKind.HEARTBEAT_REPLY) and not in_log(s, m):
                for x in range(c.members):
                    if s.member[x].owned & s.member[m].owned != 0 and in_log(s, x):
                        return True
    return False


def in_log(s: State, m: int) -> bool:
    """Whether m's process belongs to the generation of the last record."""
    log, me = s.log[0], s.member[m]
    if not has(log.members, m) or has(log.old, m) or me.has_id == 0:
        return False
    return me.generation == log.generation and me.origin[0] == log.origin


def join_meets_loading(c: Config, s: State) -> bool:
    """A JoinGroup is refused with COORDINATOR_LOAD_IN_PROGRESS."""
    return c.failovers > 0 and any_refused(c, s, MessageKind.JOIN_REPLY, Error.COORDINATOR_LOAD_IN_PROGRESS)


def sync_meets_loading(c: Config, s: State) -> bool:
    """A SyncGroup is refused with COORDINATOR_LOAD_IN_PROGRESS."""
    return c.failovers > 0 and any_refused(c, s, MessageKind.SYNC_REPLY, Error.COORDINATOR_LOAD_IN_PROGRESS)


def join_meets_no_coordinator(c: Config, s: State) -> bool:
    """A JoinGroup is refused with NOT_COORDINATOR."""
    return c.failovers > 0 and any_refused(c, s, MessageKind.JOIN_REPLY, Error.NOT_COORDINATOR)


def heartbeat_meets_no_coordinator(c: Config, s: State) -> bool:
    """A Heartbeat is refused with NOT_COORDINATOR."""
    return c.failovers > 0 and any_refused(c, s, MessageKind.HEARTBEAT_REPLY, Error.NOT_COORDINATOR)


FAILOVER: Final = Concern(
    rules=(
        Rule(ActionKind.COMMIT_APPEND, commit_append, members=False, fair=True),
        Rule(ActionKind.CRASH_COORDINATOR, crash_coordinator, tail_choices, members=False),
        Rule(ActionKind.RESIGN_COORDINATOR, resign_coordinator, tail_choices, members=False),
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
        stranger_is_refused,
        failover_resets_no_member,
    ),
    reachable_states=(
        generation_is_issued_again,
        member_is_ahead,
        assignment_was_never_told,
        record_outlives_its_rebalance,
        forgotten_id_comes_back,
        heartbeat_is_believed,
        join_meets_loading,
        sync_meets_loading,
        join_meets_no_coordinator,
        heartbeat_meets_no_coordinator,
    ),
    reachable_steps=(loading_keeps_a_second_owner,),
)
