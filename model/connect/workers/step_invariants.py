"""Invariants of every step of a group of workers: limits of a round, and when work starts and stops.

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
)
from rebalance_check.model.vocabulary.worker_modes import WorkerMode


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
    Leaves unchanged: work without an owner.
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

    Lost work is in the leader's memory and in no claim. A leader without that memory assigns it at once.

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


STEP_INVARIANTS: Final = Concern(
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
