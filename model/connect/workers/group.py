"""How workers join and sync, and the coordinator's reaction when one is gone (``WorkerCoordinator``).

An action is a function of (c, s, m, k), see `model.checker.specification`: m is the worker, k the choice.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL, reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.workers.state import (
    Config,
    Phase,
    State,
    Step,
    configured_mode,
    contains,
    current_mode,
    round_mode,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.worker_modes import WorkerMode

# ------------------------------------------------------------------------------------------------ membership


def begin_join_phase(s: State) -> None:
    """Every member has to join again, and the leader's computation is void."""
    s.phase = Phase.PREPARING
    s.joined = 0
    s.computed = 0


def forget_member_id(c: Config, s: State, m: int) -> None:
    """The member id of a worker is gone for good: it returns, if at all, as another member.

    Leaders that remember it notice in their next round that it has departed.
    """
    if c.cooperative != 0:
        for w in range(c.members):
            memory = s.workers[w].memory
            if contains(memory.members, m):
                memory.members &= ~(1 << m)
                memory.departed = 1
            memory.candidates &= ~(1 << m)


def remove_member(c: Config, s: State, m: int) -> None:
    """The coordinator removes a member, with the data of its JoinGroup; those that remain rebalance."""
    s.members &= ~(1 << m)
    forget_member_id(c, s, m)
    if s.workers[m].step == Step.DOWN:
        s.workers[m].claim = 0
        s.workers[m].sent = 0
        s.workers[m].given = 0
        s.workers[m].taken = 0
    if s.leader == m:
        s.leader = NIL
    if s.members == 0:
        begin_join_phase(s)
        s.phase = Phase.EMPTY
    elif s.phase == Phase.PREPARING:
        s.joined &= ~(1 << m)
    else:
        begin_join_phase(s)


def stop_process(c: Config, s: State, m: int) -> None:
    """The process ends, and with it its work and its memory; the coordinator keeps the data of its JoinGroup."""
    me = s.workers[m]
    mode_index = me.mode_index
    claim = me.claim
    sent = me.sent
    reset(me)
    me.step = Step.DOWN
    me.claim = claim
    me.sent = sent
    if c.modes != 0:
        me.mode_index = mode_index


def drop_member(c: Config, s: State, m: int) -> None:
    """A worker that has stopped is no member any more."""
    if contains(s.members, m):
        remove_member(c, s, m)
    else:
        s.workers[m].claim = 0
        s.workers[m].sent = 0


# ------------------------------------------------------------------------------------------------ joining


def needs_to_join(s: State, m: int) -> bool:
    """``rejoinNeededOrPending``, and what a Heartbeat reply says: that others rebalance, or that it is no member."""
    me = s.workers[m]
    if me.step == Step.OUT:
        return True
    if me.step != Step.MEMBER:
        return False
    left_behind = not contains(s.members, m) or (s.phase == Phase.PREPARING and not contains(s.joined, m))
    return left_behind or me.rejoin == 1 or me.error == 1 or (me.stale == 1 and me.resolved == 1)


def join_group(c: Config, s: State, m: int) -> bool:
    """A worker prepares and joins: an eager one stops its work before, a cooperative one goes on and claims it.

    It takes a new config snapshot, whose offset it sends. The first JoinGroup of a stable group begins a join phase.

    Source: ``WorkerCoordinator.onJoinPrepare``; ``WorkerCoordinator.metadata``.
    Leaves unchanged: what the worker claims.
    """
    if not needs_to_join(s, m):
        return False
    me = s.workers[m]
    if current_mode(c, s, m) == WorkerMode.EAGER and me.error == 0:
        me.running &= ~me.claim
    me.sent = me.offset
    me.stale = 0
    me.error = 0
    me.assigned_offset = 0
    me.delayed = 0
    me.resolved = 0
    me.follow_up = 0
    me.rejoin = 0
    me.leader = NIL
    me.step = Step.JOINING
    if s.phase != Phase.PREPARING:
        begin_join_phase(s)
    s.members |= 1 << m
    s.joined |= 1 << m
    return True


def mode_of_all(c: Config, s: State, m: int) -> int:
    """The highest mode that m and every other member offer: one eager worker makes the whole group eager."""
    mode = configured_mode(c, s, m)
    for w in range(c.members):
        if contains(s.members, w):
            mode = min(mode, configured_mode(c, s, w))
    return mode


def complete_join(c: Config, s: State, m: int) -> bool:
    """The join phase ends with the next generation, which m leads; a leader that is still a member stays the leader.

    The generation runs the highest mode that every member offers.

    Source: ``GroupMetadataManager.completeClassicGroupJoin``; KIP-415.
    Leaves unchanged: the workers' claims and work.
    """
    if s.phase != Phase.PREPARING or s.joined != s.members or not contains(s.members, m):
        return False
    if s.leader != NIL and s.leader != m:
        return False
    s.phase = Phase.COMPLETING
    s.generation += 1
    s.leader = m
    s.joined = 0
    if c.modes != 0:
        s.mode = mode_of_all(c, s, m)
    for w in range(c.members):
        if contains(s.members, w):
            if s.workers[w].step == Step.JOINING:
                s.workers[w].step = Step.SYNCING
            s.workers[w].given = 0
            s.workers[w].taken = 0
    return True


def sync_group(c: Config, s: State, m: int) -> bool:
    """A worker receives its assignment, or learns that the generation is over and joins again.

    Cooperative: it stops what is revoked, and adds what is assigned to the rest of its claim. Eager: the assignment
    replaces the claim, and what runs beyond it goes on running (KAFKA-13816).

    Source: ``WorkerCoordinator.onJoinComplete``.
    Leaves unchanged: work that is assigned; the herder starts it.
    """
    me = s.workers[m]
    if me.step != Step.SYNCING:
        return False
    if not contains(s.members, m) or s.phase == Phase.PREPARING:
        me.step = Step.OUT
        me.sent = 0
        me.given = 0
        me.taken = 0
        return True
    if s.phase == Phase.COMPLETING and (m != s.leader or s.computed == 0):
        return False
    s.phase = Phase.STABLE
    receive_assignment(c, s, m)
    return True


def receive_assignment(c: Config, s: State, m: int) -> None:
    """``onRevoked`` for what is revoked, then ``onAssigned``."""
    me = s.workers[m]
    if round_mode(c, s) == WorkerMode.EAGER:
        me.claim = me.given
    else:
        me.running &= ~me.taken
        me.claim = me.given | (me.claim & ~me.taken)
        me.follow_up = 1 if me.taken != 0 else 0
    if c.modes != 0:
        me.current = s.mode
    me.step = Step.MEMBER
    me.completed = s.generation
    me.leader = s.leader
    me.error = s.error
    me.assigned_offset = s.offset
    me.delayed = s.delayed
    me.sent = 0
    me.given = 0
    me.taken = 0


GROUP: Final = Concern(
    rules=(
        Rule(ActionKind.JOIN_GROUP, join_group, fair=True),
        Rule(ActionKind.COMPLETE_JOIN, complete_join, fair=True),
        Rule(ActionKind.SYNC_GROUP, sync_group, fair=True),
    ),
)
