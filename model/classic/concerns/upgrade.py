"""What must be true of groups whose members list several assignors, and what must be met while one is upgraded."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.client import stop
from rebalance_check.model.classic.invariants import any_refused, is_current, is_new_answer
from rebalance_check.model.classic.parts.protocol_vote import (
    candidates,
    keeps_partitions,
    may_bounce,
    would_change_the_protocol,
)
from rebalance_check.model.classic.parts.static_members import is_static
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, MessageKind, State, has
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error


def bounce(c: Config, s: State, m: int) -> bool:
    """A stable member closes, to come back with the next list of its path; or a process that is down gets that list.

    A static member does not leave: its seat waits for it.
    """
    me = s.member[m]
    if c.path == 0 or s.rolling_restarts[0] >= c.rolling_restarts or not may_bounce(c, s, m):
        return False
    if me.status != MemberStatus.DOWN:
        if me.status != MemberStatus.STABLE or me.net.kind != MessageKind.NOTHING:
            return False
        stop(c, me)
        if not is_static(c, s, m):
            me.net.kind = MessageKind.LEAVE_REQUEST
    s.rolling_restarts[0] += 1
    me.bouncing[0] = 1
    return True


# ------------------------------------------------------------------------------------------------ in every state


def nobody_is_refused_for_its_protocols(c: Config, s: State) -> bool:
    """Whoever joins offers an assignor that every member lists, so that nobody is refused for its protocols.

    Until a coordinator takes over, which has of each member only the name that was selected.
    """
    return (
        c.path == 0
        or has_failed_over(c, s)
        or not any_refused(c, s, MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL)
    )


def selected_protocol_is_listed_by_all(c: Config, s: State) -> bool:
    """The protocol of a generation is one that every member lists; a group that has none is dead or empty."""
    if c.path == 0:
        return True
    if s.status == GroupStatus.DEAD or s.status == GroupStatus.EMPTY:
        return s.selected[0] == 0
    if s.status == GroupStatus.PREPARING:
        return True
    return has(candidates(c, s), s.selected[0])


def has_failed_over(c: Config, s: State) -> bool:
    """Whether another coordinator took over."""
    return c.failovers > 0 and s.incarnation[0] > 0


def stable_group_keeps_its_vote(c: Config, s: State) -> bool:
    """A stable group runs the protocol that its members would select now."""
    return s.status != GroupStatus.STABLE or not would_change_the_protocol(c, s)


# ------------------------------------------------------------------------------------------------ of every step


def protocol_changes_with_the_generation(c: Config, s: State, t: State) -> bool:
    """Within a generation the selected protocol stays as it was."""
    if c.path == 0 or s.deletions != t.deletions or s.generation != t.generation:
        return True
    return s.selected[0] == t.selected[0]


def join_tells_the_selected_protocol(c: Config, s: State, t: State) -> bool:
    """A JoinGroup is answered with the protocol of its generation, which the member lists."""
    if c.path == 0:
        return True
    for m in range(c.members):
        net = t.member[m].net
        if is_new_answer(s.member[m].net, net, MessageKind.JOIN_REPLY):
            if net.protocol[0] != t.selected[0] or not has(c.offered[t.member[m].step[0]], net.protocol[0]):
                return False
    return True


# ------------------------------------------------------------------------------------------------ somewhere


def join_meets_inconsistent_protocol(c: Config, s: State) -> bool:
    """A JoinGroup is refused with INCONSISTENT_GROUP_PROTOCOL."""
    return c.path != 0 and any_refused(c, s, MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL)


def join_is_refused_by_what_the_log_forgot(c: Config, s: State) -> bool:
    """A JoinGroup is refused with INCONSISTENT_GROUP_PROTOCOL after a failover: the log has one name of each member."""
    return has_failed_over(c, s) and join_meets_inconsistent_protocol(c, s)


def bounced_member_keeps_its_seat(c: Config, s: State) -> bool:
    """A static member comes back with another list, and the group stays stable."""
    return s.status == GroupStatus.STABLE and bounced_member_waits(c, s, MessageKind.JOIN_REPLY)


def bounced_member_changes_the_vote(c: Config, s: State) -> bool:
    """A static member comes back with a list by which the group selects another protocol, in a new generation."""
    if (
        c.static_members == 0
        or s.status != GroupStatus.PREPARING
        or not bounced_member_waits(c, s, MessageKind.NOTHING)
    ):
        return False
    return would_change_the_protocol(c, s)


def bounced_member_waits(c: Config, s: State, kind: int) -> bool:
    """Whether a member that came back with another list has not learned its new id, with this message in its slot."""
    if c.path != 0 and c.static_members > 0:
        for m in range(c.members):
            me = s.member[m]
            if has(s.members, m) and me.step[0] > 0 and me.has_id == 0 and me.net.kind == kind:
                if me.status == MemberStatus.JOINING and me.net.error == Error.NONE:
                    return True
    return False


def eager_and_cooperative_are_stable_together(c: Config, s: State) -> bool:
    """An EAGER and a COOPERATIVE member own partitions in one stable generation."""
    if c.path == 0 or s.status != GroupStatus.STABLE:
        return False
    kinds = 0
    for m in range(c.members):
        if s.member[m].status == MemberStatus.STABLE and s.member[m].owned != 0 and is_current(s, m):
            kinds = kinds | (2 if keeps_partitions(c, s, m) else 1)
    return kinds == 3


def everybody_is_stable_at(c: Config, s: State, step: int) -> bool:
    """Whether all members are stable in one generation, each with the list at this place of the path."""
    if s.status != GroupStatus.STABLE:
        return False
    for m in range(c.members):
        if s.member[m].status != MemberStatus.STABLE or s.member[m].step[0] != step or not is_current(s, m):
            return False
    return True


def upgrade_is_over(c: Config, s: State) -> bool:
    """All members are stable in one generation with the last list of the path."""
    return c.path != 0 and everybody_is_stable_at(c, s, c.steps - 1)


def cooperative_assignor_runs_among_eager_members(c: Config, s: State) -> bool:
    """All members are EAGER, for each lists an assignor that is, and yet they selected one that withholds."""
    if c.path == 0 or c.steps != 3 or not everybody_is_stable_at(c, s, 1):
        return False
    return has(c.withholding[1], s.selected[0])


UPGRADE: Final = Concern(
    rules=(Rule(ActionKind.ROLLING_RESTART, bounce),),
    invariants=(
        nobody_is_refused_for_its_protocols,
        selected_protocol_is_listed_by_all,
        stable_group_keeps_its_vote,
    ),
    step_invariants=(
        protocol_changes_with_the_generation,
        join_tells_the_selected_protocol,
    ),
    reachable_states=(
        join_meets_inconsistent_protocol,
        eager_and_cooperative_are_stable_together,
        cooperative_assignor_runs_among_eager_members,
        upgrade_is_over,
        bounced_member_keeps_its_seat,
        bounced_member_changes_the_vote,
        join_is_refused_by_what_the_log_forgot,
    ),
)
