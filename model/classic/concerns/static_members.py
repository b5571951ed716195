"""What must be true of static members (`model.classic.parts.static_members`): one seat per instance id, handed on as it is."""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.invariants import any_refused
from rebalance_check.model.classic.parts.group_log import same_life
from rebalance_check.model.classic.parts.static_members import SKIPS_ASSIGNMENT, holder, is_static
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, MessageKind, State, has, minus, size
from rebalance_check.model.vocabulary.errors import Error

# ------------------------------------------------------------------------------------------------ in every state


def one_member_per_instance(c: Config, s: State) -> bool:
    """Of the processes with one instance id at most one is a member."""
    for m in range(c.members):
        if has(s.members, m) and is_static(c, s, m):
            if s.member[m].twin[0] != m and has(s.members, s.member[m].twin[0]):
                return False
    return True


def replaced_id_owes_only_while_stable(c: Config, s: State) -> bool:
    """An id that was replaced can owe a SyncGroup only as long as its generation lasts, which is stable."""
    return c.static_members == 0 or not c.timeouts or s.ghost[0] == 0 or s.status == GroupStatus.STABLE


def eager_assignment_leaves_nothing_out(c: Config, s: State) -> bool:
    """In a stable group with static members, all of them EAGER, every partition is assigned."""
    if c.static_members == 0 or c.cooperative or c.path != 0 or s.status != GroupStatus.STABLE:
        return True
    given = 0
    for m in range(c.members):
        given = given | s.member[m].assignment
    return given == (1 << c.partitions) - 1


# ------------------------------------------------------------------------------------------------ of every step


def who_was_replaced_is_fenced(c: Config, s: State, t: State) -> bool:
    """A static member hears FENCED_INSTANCE_ID when another id has its seat, and UNKNOWN_MEMBER_ID when none has."""
    if c.static_members > 0:
        for m in range(c.members):
            if is_static(c, s, m) and s.member[m].net.error == 0 and t.member[m].net.error != 0:
                seated = holder(c, t, m) != NIL
                if t.member[m].net.error == Error.FENCED_INSTANCE_ID and not seated:
                    return False
                if t.member[m].net.error == Error.UNKNOWN_MEMBER_ID and seated:
                    return False
    return True


def seat_keeps_its_assignment(c: Config, s: State, t: State) -> bool:
    """While a group stays stable, a seat keeps its assignment, whoever has it."""
    if c.static_members > 0 and s.status == GroupStatus.STABLE and t.status == GroupStatus.STABLE:
        for m in range(c.members):
            if has(s.members, m) and is_static(c, s, m):
                heir = holder(c, t, m)
                if heir == NIL or t.member[heir].assignment != s.member[m].assignment:
                    return False
    return True


def join_phase_keeps_silent_static_members(c: Config, s: State, t: State) -> bool:
    """A join phase that ends without several members ends without dynamic ones only.

    One member alone may also have left, or its session may have ended.
    """
    if (
        c.static_members == 0
        or s.status != GroupStatus.PREPARING
        or t.generation == s.generation
        or not same_life(s, t)
    ):
        return True
    gone = 0
    static_goes = False
    for m in range(c.members):
        if has(minus(s.members, t.members), m) and holder(c, t, m) == NIL:
            gone += 1
            if is_static(c, s, m):
                static_goes = True
    return gone < 2 or not static_goes


# ------------------------------------------------------------------------------------------------ somewhere


def silent_static_member_is_kept(c: Config, s: State) -> bool:
    """A stable group counts on a member that lives, and knows nothing of its generation."""
    if c.static_members > 0 and s.status == GroupStatus.STABLE:
        for m in range(c.members):
            me = s.member[m]
            if has(s.members, m) and is_static(c, s, m) and me.status == MemberStatus.STABLE:
                if me.generation < s.generation:
                    return True
    return False


def silent_static_member_returns_as_an_owner(c: Config, s: State) -> bool:
    """A member that missed a generation is in the present one, and owns what another owns."""
    if c.static_members > 0:
        for m in range(c.members):
            if s.member[m].aux_missed == 1 and has(s.members, m) and s.member[m].generation == s.generation:
                for x in range(c.members):
                    if x != m and s.member[x].owned & s.member[m].owned != 0 and has(s.members, x):
                        return True
    return False


def leader_comes_back_without_assigning(c: Config, s: State) -> bool:
    """A static leader restarts, and is told not to assign anew (KIP-814)."""
    for m in range(c.members):
        if s.member[m].net.kind == MessageKind.JOIN_REPLY and s.member[m].net.flag == SKIPS_ASSIGNMENT:
            return True
    return False


def join_meets_fenced_instance(c: Config, s: State) -> bool:
    """A JoinGroup is refused with FENCED_INSTANCE_ID."""
    return any_refused(c, s, MessageKind.JOIN_REPLY, Error.FENCED_INSTANCE_ID)


def sync_meets_fenced_instance(c: Config, s: State) -> bool:
    """A SyncGroup is refused with FENCED_INSTANCE_ID."""
    return any_refused(c, s, MessageKind.SYNC_REPLY, Error.FENCED_INSTANCE_ID)


def heartbeat_meets_fenced_instance(c: Config, s: State) -> bool:
    """A Heartbeat is refused with FENCED_INSTANCE_ID."""
    return any_refused(c, s, MessageKind.HEARTBEAT_REPLY, Error.FENCED_INSTANCE_ID)


def member_is_fenced_by_its_own_past(c: Config, s: State) -> bool:
    """The log brought back the id that a static member had before it restarted, and the member is fenced by it."""
    if c.static_members > 0 and c.failovers > 0:
        for m in range(c.members):
            if s.member[m].net.error == Error.FENCED_INSTANCE_ID and has(s.members & s.strangers[0], m):
                return True
    return False


def restarted_member_finds_its_seat_in_the_log(c: Config, s: State) -> bool:
    """A static member that was down when the coordinator changed is told of its seat by the next one."""
    if c.static_members > 0 and c.failovers > 0 and s.incarnation[0] > 0:
        for m in range(c.members):
            net = s.member[m].net
            if net.kind == MessageKind.JOIN_REPLY and net.flag == SKIPS_ASSIGNMENT and s.origin[0] < s.incarnation[0]:
                return True
    return False


def replaced_id_owes_a_sync(c: Config, s: State) -> bool:
    """The sync timeout is bound to fire, because a member was replaced before it synced."""
    return c.static_members > 0 and c.timeouts and s.ghost[0] == 1


def seat_is_taken_while_the_group_prepares(c: Config, s: State) -> bool:
    """A static member waits in the join phase under an id that it has not learned yet."""
    if c.static_members == 0 or s.status != GroupStatus.PREPARING or s.initial == 1:
        return False
    for m in range(c.members):
        if has(s.joined, m) and is_static(c, s, m) and s.member[m].has_id == 0 and size(s.members) > 1:
            return True
    return False


STATIC_MEMBERS: Final = Concern(
    invariants=(
        one_member_per_instance,
        replaced_id_owes_only_while_stable,
        eager_assignment_leaves_nothing_out,
    ),
    step_invariants=(
        who_was_replaced_is_fenced,
        seat_keeps_its_assignment,
        join_phase_keeps_silent_static_members,
    ),
    reachable_states=(
        silent_static_member_is_kept,
        silent_static_member_returns_as_an_owner,
        leader_comes_back_without_assigning,
        join_meets_fenced_instance,
        sync_meets_fenced_instance,
        heartbeat_meets_fenced_instance,
        replaced_id_owes_a_sync,
        seat_is_taken_while_the_group_prepares,
        member_is_fenced_by_its_own_past,
        restarted_member_finds_its_seat_in_the_log,
    ),
)
