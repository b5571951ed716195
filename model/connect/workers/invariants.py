"""Invariants of a group of workers: claims about the owners of work, and the result of a round, in every state.

The numbers of the invariants that follow from ``WorkerCoordinator`` and both assignors stand in
`docs/connect-models.md`. A *round* is a `perform_assignment` step.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.connect.workers.state import (
    Config,
    Schedule,
    State,
    Step,
    contains,
    current_mode,
    round_mode,
    size_of,
)
from rebalance_check.model.vocabulary.worker_modes import WorkerMode

# ----------------------------------------------------------------------------------------------- which worker runs what


def work_runs_once(c: Config, s: State) -> bool:
    """A connector or task runs on one worker at most, while no live worker is removed from the group.

    A removed worker works on (`removed_worker_works_on`, KAFKA-16056). Kafka breaks the claim where an eager worker
    joins a cooperative group (KAFKA-13816).

    Source: KIP-415; ``DistributedHerder.startWork``.
    Leaves unchanged: tasks that outlive their stop timeout, which the model leaves out.
    """
    if s.expiries > 0:
        return True
    busy = 0
    for w in range(c.members):
        if busy & s.workers[w].running != 0:
            return False
        busy |= s.workers[w].running
    return True


def running_work_is_claimed(c: Config, s: State) -> bool:
    """A worker's running work is part of its claim, while no worker changes its mode.

    Where a cooperative group becomes eager, work that the eager assignment leaves out runs on without a claim.

    Source: ``WorkerCoordinator.onJoinComplete``; KAFKA-13816.
    Leaves unchanged: what is claimed and not started yet.
    """
    for w in range(0 if c.modes != 0 else c.members):
        if s.workers[w].running & ~s.workers[w].claim != 0:
            return False
    return True


def claims_are_disjoint(c: Config, s: State) -> bool:
    """Without a removal of a live worker, no two cooperative workers claim the same item.

    Source: ``IncrementalCooperativeAssignor.performTaskAssignment``.
    Leaves unchanged: eager workers, whose claims the leader does not read; groups in which a live worker was removed.
    """
    if s.expiries > 0 or c.modes != 0 or c.cooperative == 0:
        return True
    seen = 0
    for w in range(c.members):
        if s.workers[w].step != Step.DOWN:
            if seen & s.workers[w].claim != 0:
                return False
            seen |= s.workers[w].claim
    return True


def eager_worker_stops_before_joining(c: Config, s: State) -> bool:
    """An eager worker runs nothing from its JoinGroup until it starts the work of the new generation.

    Source: ``WorkerCoordinator.onJoinPrepare``.
    Leaves unchanged: work that was left over when a cooperative group became eager.
    """
    for w in range(c.members):
        me = s.workers[w]
        joins = me.step == Step.JOINING or me.step == Step.SYNCING
        if c.cooperative == 0 and joins and me.running != 0:
            return False
        if current_mode(c, s, w) == WorkerMode.EAGER and joins and me.running & me.claim != 0:
            return False
    return True


# ------------------------------------------------------------------------------------------------ one generation


def connect_assignment_is_agreed(c: Config, s: State) -> bool:
    """Members that completed the same generation have the same error, leader and config offset in their assignments.

    Source: ``WorkerCoordinator.onJoinComplete``; ``ConnectProtocol.Assignment``.
    Leaves unchanged: members that have joined the next one.
    """
    for w in range(c.members):
        for v in range(w):
            mine = s.workers[w]
            other = s.workers[v]
            both = mine.step == Step.MEMBER and other.step == Step.MEMBER and mine.completed == other.completed
            if both and (
                mine.assigned_offset != other.assigned_offset
                or mine.leader != other.leader
                or mine.error != other.error
            ):
                return False
    return True


def config_mismatch_assigns_nothing(c: Config, s: State) -> bool:
    """An answer with CONFIG_MISMATCH assigns and revokes nothing, has no delay, and an offset beyond the leader's.

    Source: ``ConnectAssignor.performAssignment``; ``ConnectProtocol.Assignment``.
    Leaves unchanged: the claims of cooperative workers.
    """
    if s.computed == 0 or s.error == 0:
        return True
    for w in range(c.members):
        if contains(s.members, w) and (s.workers[w].given != 0 or s.workers[w].taken != 0):
            return False
    return s.delayed == 0


def config_offset_covers_members(c: Config, s: State) -> bool:
    """The offset of an answer is at least the config offset that each member sent.

    Source: ``ConnectAssignor``; ``WorkerCoordinator.onLeaderElected``.
    Leaves unchanged: members that have read further meanwhile.
    """
    if s.computed == 0:
        return True
    for w in range(c.members):
        if contains(s.members, w) and s.workers[w].sent > s.offset:
            return False
    return True


def eager_round_covers_all(c: Config, s: State) -> bool:
    """An eager answer gives every configured item to one member, and numbers of items differ by one at most.

    Source: ``EagerAssignor.performTaskAssignment``.
    Leaves unchanged: what the members ran before.
    """
    if s.computed == 0 or s.error == 1 or round_mode(c, s) != WorkerMode.EAGER or s.joined != 0:
        return True
    once, least, most = 0, c.items, 0
    for w in range(c.members):
        me = s.workers[w]
        if contains(s.members, w) and (me.step == Step.SYNCING or me.step == Step.DOWN):
            if me.step == Step.DOWN and me.given == 0:
                return True
            if once & me.given != 0:
                return False
            once |= me.given
            least = min(least, size_of(c, me.given))
            most = max(most, size_of(c, me.given))
        elif contains(s.members, w):
            return True
    return once == s.configs[s.offset] and most - least <= 1


def delay_is_scheduled(c: Config, s: State) -> bool:
    """After a round the leader has a rebalance scheduled exactly when its answer has a delay.

    Source: ``IncrementalCooperativeAssignor.performTaskAssignment`` (``scheduledRebalance``).
    Leaves unchanged: what leaders of earlier generations remember.
    """
    if c.cooperative == 0 or s.computed == 0 or s.error == 1 or round_mode(c, s) == WorkerMode.EAGER:
        return True
    if s.workers[s.leader].step == Step.DOWN or s.workers[s.leader].step != Step.SYNCING:
        return True
    return (s.delayed == 1) == (s.workers[s.leader].memory.schedule != Schedule.NONE)


INVARIANTS: Final = Concern(
    invariants=(
        work_runs_once,
        running_work_is_claimed,
        claims_are_disjoint,
        eager_worker_stops_before_joining,
        connect_assignment_is_agreed,
        config_mismatch_assigns_nothing,
        config_offset_covers_members,
        eager_round_covers_all,
        delay_is_scheduled,
    ),
)
