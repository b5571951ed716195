"""What must be true of a group of workers in every state and of every step: who runs what, and what a round may do.

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
    claimed_items,
    claimed_twice,
    contains,
    current_mode,
    round_mode,
    size_of,
)
from rebalance_check.model.vocabulary.worker_modes import WorkerMode

# ------------------------------------------------------------------------------------------------ who runs what


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
    """What a worker runs is part of what it claims, while no worker changes its mode.

    Where a cooperative group becomes eager, what the eager assignment leaves out runs on without a claim.

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
    Leaves unchanged: eager workers, whose claims nobody reads; groups in which a live worker was removed.
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


# ------------------------------------------------------------------------------------------------ steps


def is_round(s: State, t: State) -> bool:
    """Whether the step computed an answer that assigns work."""
    return s.computed == 0 and t.computed == 1 and t.error == 0


def start_waits_for_configs(c: Config, s: State, t: State) -> bool:
    """A worker starts work only while its config offset is that of its assignment, which has no error.

    Source: ``DistributedHerder.handleRebalanceCompleted``.
    Leaves unchanged: what runs already while the worker reads further configs.
    """
    for w in range(c.members):
        me = t.workers[w]
        starts = me.running & ~s.workers[w].running != 0
        if starts and (me.error == 1 or me.offset != me.assigned_offset):
            return False
    return True


def claimed_work_is_not_granted(c: Config, s: State, t: State) -> bool:
    """A cooperative round assigns nothing that a member claims, so what it revokes waits for a later round.

    Source: ``IncrementalCooperativeAssignor.performTaskAssignment``; KIP-415.
    Leaves unchanged: eager rounds, in which every item is assigned anew.
    """
    if not is_round(s, t) or round_mode(c, t) == WorkerMode.EAGER:
        return True
    claimed = claimed_items(c, s)
    for w in range(c.members):
        if contains(t.members, w) and t.workers[w].given & claimed != 0:
            return False
    return True


def work_is_granted_once(c: Config, s: State, t: State) -> bool:
    """A round assigns no item to two workers, and none that it does not know as configured or lost.

    Source: ``IncrementalCooperativeAssignor.assignConnectors``; ``EagerAssignor.performTaskAssignment``.
    Leaves unchanged: what is assigned to nobody.
    """
    if not is_round(s, t):
        return True
    seen = 0
    for w in range(c.members):
        if contains(t.members, w):
            if seen & t.workers[w].given != 0 or t.workers[w].given & ~t.configs[t.offset] != 0:
                return False
            seen |= t.workers[w].given
    return True


def duplicated_work_is_revoked(c: Config, s: State, t: State) -> bool:
    """A cooperative round revokes what two members claim from both.

    Source: KAFKA-9841; ``IncrementalCooperativeAssignor.duplicatedAssignments``.
    Leaves unchanged: the next round, which assigns it once.
    """
    if not is_round(s, t) or round_mode(c, t) == WorkerMode.EAGER:
        return True
    twice = claimed_twice(c, s)
    for w in range(c.members):
        if contains(s.members, w) and t.workers[w].claim & twice & ~t.workers[w].taken != 0:
            return False
    return True


def delay_forbids_balancing(c: Config, s: State, t: State) -> bool:
    """While an answer has a delay, only deleted and duplicated work is revoked.

    Source: ``IncrementalCooperativeAssignor.performTaskAssignment``.
    Leaves unchanged: created work, which is assigned during a delay as well.
    """
    if c.cooperative == 0 or not is_round(s, t) or t.delayed == 0:
        return True
    allowed = claimed_twice(c, s) | ~t.configs[t.offset]
    for w in range(c.members):
        if contains(t.members, w) and t.workers[w].taken & ~allowed != 0:
            return False
    return True


def delay_is_honoured(c: Config, s: State, t: State) -> bool:
    """A leader that noticed a departure assigns what departed only after its scheduled rebalance.

    What is lost is in the leader's memory and in no claim. A leader without that memory assigns it at once.

    Source: KIP-415; ``IncrementalCooperativeAssignor.handleLostAssignments``.
    Leaves unchanged: groups without a delay, and new leaders.
    """
    if c.cooperative == 0 or not is_round(s, t) or c.rebalance_delay == 0:
        return True
    if round_mode(c, t) == WorkerMode.EAGER:
        return True
    before = s.workers[t.leader].memory
    remembers = before.generation == s.workers[t.leader].completed and before.revoked & claimed_items(c, s) == 0
    if not remembers or before.departed == 0 or before.schedule == Schedule.PASSED:
        return True
    lost = before.previous & ~claimed_items(c, s)
    for w in range(c.members):
        if contains(t.members, w) and t.workers[w].given & lost != 0:
            return False
    return True


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


def revocation_leads_to_rejoin(c: Config, s: State, t: State) -> bool:
    """A worker from which work was revoked joins once more after it has started the rest.

    Source: ``DistributedHerder.handleRebalanceCompleted``; KIP-415.
    Leaves unchanged: workers that lost nothing in the round.
    """
    for w in range(c.members):
        started = s.workers[w].resolved == 0 and t.workers[w].resolved == 1
        if started and s.workers[w].follow_up == 1 and t.workers[w].rejoin == 0:
            return False
    return True


def revoked_work_has_stopped(c: Config, s: State, t: State) -> bool:
    """A cooperative worker has stopped what is revoked when it takes over its new assignment.

    Source: ``WorkerCoordinator.onJoinComplete``; ``DistributedHerder.RebalanceListener``.
    Leaves unchanged: work that is not revoked, which runs on.
    """
    for w in range(c.members):
        received = s.workers[w].step == Step.SYNCING and t.workers[w].step == Step.MEMBER
        cooperative = round_mode(c, s) != WorkerMode.EAGER
        if received and cooperative and t.workers[w].running & s.workers[w].taken != 0:
            return False
    return True


def undisturbed_work_runs_on(c: Config, s: State, t: State) -> bool:
    """A cooperative worker stops nothing but what is revoked, unless it loses the coordinator or ends.

    Source: KIP-415; ``WorkerCoordinator.onJoinPrepare``.
    Leaves unchanged: eager workers, which stop everything before they join.
    """
    if c.cooperative == 0 or s.losses != t.losses:
        return True
    for w in range(c.members):
        stopped = s.workers[w].running & ~t.workers[w].running & ~s.workers[w].taken
        ended = t.workers[w].step == Step.DOWN
        if stopped != 0 and not ended and current_mode(c, s, w) != WorkerMode.EAGER:
            return False
    return True


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
    step_invariants=(
        start_waits_for_configs,
        claimed_work_is_not_granted,
        work_is_granted_once,
        duplicated_work_is_revoked,
        delay_forbids_balancing,
        delay_is_honoured,
        revocation_leads_to_rejoin,
        revoked_work_has_stopped,
        undisturbed_work_runs_on,
    ),
)
