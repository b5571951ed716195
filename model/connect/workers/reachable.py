"""States that some run of a group of workers must reach, so that the proofs are not vacuous, or is known to reach."""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.connect.workers.state import (
    Config,
    Phase,
    Schedule,
    State,
    Step,
    claimed_items,
    claimed_twice,
    configured_items,
    contains,
    round_mode,
)
from rebalance_check.model.connect.workers.step_invariants import is_round
from rebalance_check.model.vocabulary.worker_modes import WorkerMode


def all_work_runs(c: Config, s: State) -> bool:
    """Everything that is configured runs.

    Source: ``DistributedHerder.startWork``.
    """
    busy = 0
    for w in range(c.members):
        busy |= s.workers[w].running
    return busy == configured_items(s) and busy != 0


def configs_mismatch(s: State) -> bool:
    """The leader answers CONFIG_MISMATCH.

    Source: ``ConnectProtocol.CONFIG_MISMATCH``.
    """
    return s.computed == 1 and s.error == 1


def worker_is_ahead_of_its_assignment(c: Config, s: State) -> bool:
    """A worker has read more of the configs than its assignment was computed from, and starts nothing.

    Source: ``DistributedHerder.handleRebalanceCompleted``.
    """
    for w in range(c.members):
        me = s.workers[w]
        if me.step == Step.MEMBER and me.error == 0 and me.resolved == 0 and me.offset > me.assigned_offset:
            return True
    return False


def claimed_is_not_running(c: Config, s: State) -> bool:
    """A cooperative worker claims in its JoinGroup what it has never started.

    Source: ``WorkerCoordinator.metadata``; ``DistributedHerder.startWork``.
    """
    for w in range(c.members):
        me = s.workers[w]
        if c.cooperative == 1 and me.step == Step.JOINING and me.claim & ~me.running != 0:
            return True
    return False


def lost_work_has_no_owner(c: Config, s: State) -> bool:
    """Work of a departed worker runs nowhere, because its leader waits for the worker to return.

    Source: KIP-415 (``scheduled.rebalance.max.delay.ms``).
    """
    if c.cooperative == 0 or s.phase != Phase.STABLE or s.leader >= c.members:
        return False
    memory = s.workers[s.leader].memory
    return memory.schedule == Schedule.RUNNING and memory.previous & ~claimed_items(c, s) != 0


def removed_worker_works_on(c: Config, s: State) -> bool:
    """A worker that the coordinator has removed runs what another worker runs as well.

    Source: KAFKA-16056; ``WorkerCoordinator.handlePollTimeoutExpiry``.
    """
    busy = 0
    for w in range(c.members):
        if s.expiries > 0 and busy & s.workers[w].running != 0:
            return True
        busy |= s.workers[w].running
    return False


def deleted_work_runs_on(c: Config, s: State) -> bool:
    """A stable group runs what is not configured.

    Its leader forgot, or never knew, that it was assigned, so it does not count as deleted.

    Source: ``IncrementalCooperativeAssignor.performTaskAssignment``.
    """
    if s.phase != Phase.STABLE:
        return False
    for w in range(c.members):
        me = s.workers[w]
        settled = me.step == Step.MEMBER and me.resolved == 1 and me.rejoin == 0 and me.stale == 0
        if settled and me.offset == s.end and me.running & ~configured_items(s) != 0:
            return True
    return False


def two_modes_in_one_group(c: Config, s: State) -> bool:
    """Workers of two modes are in one generation.

    Source: KIP-415.
    """
    if c.modes == 0 or s.phase != Phase.STABLE:
        return False
    lowest, highest = 9, 0
    for w in range(c.members):
        if contains(s.members, w):
            lowest = min(lowest, c.path[s.workers[w].mode_index])
            highest = max(highest, c.path[s.workers[w].mode_index])
    return lowest < highest


def mode_path_is_complete(c: Config, s: State) -> bool:
    """Every worker has the last mode of the path, and the generation runs it.

    Source: KIP-415; KIP-507.
    """
    if c.modes == 0 or s.phase != Phase.STABLE or s.mode != c.path[c.mode_count - 1]:
        return False
    for w in range(c.members):
        if not contains(s.members, w) or s.workers[w].mode_index + 1 < c.mode_count:
            return False
    return True


def new_leader_drops_the_delay(c: Config, s: State, t: State) -> bool:
    """A leader without memory assigns, as if it were new, the work that the leader before it let wait.

    Source: ``IncrementalCooperativeAssignor`` (fields in memory).
    """
    if not is_round(s, t) or c.cooperative == 0 or round_mode(c, t) == WorkerMode.EAGER:
        return False
    return s.delayed == 1 and t.delayed == 0 and s.workers[t.leader].memory.generation == 0


def returning_worker_ends_the_delay(c: Config, s: State, t: State) -> bool:
    """A round drops its scheduled rebalance, because nothing is lost any more.

    Source: ``IncrementalCooperativeAssignor.resetDelay``.
    """
    if not is_round(s, t) or c.cooperative == 0 or round_mode(c, t) == WorkerMode.EAGER:
        return False
    return s.workers[t.leader].memory.schedule == Schedule.RUNNING and t.delayed == 0


def candidates_get_lost_work(c: Config, s: State, t: State) -> bool:
    """After the delay, workers that came while it ran get the lost work.

    Source: KAFKA-10413; ``IncrementalCooperativeAssignor.handleLostAssignments``.
    """
    if not is_round(s, t) or c.cooperative == 0 or round_mode(c, t) == WorkerMode.EAGER:
        return False
    memory = s.workers[t.leader].memory
    if memory.schedule != Schedule.PASSED or memory.generation != s.workers[t.leader].completed:
        return False
    lost = memory.previous & ~claimed_items(c, s)
    for w in range(c.members):
        if contains(memory.candidates, w) and t.workers[w].given & lost != 0:
            return True
    return False


def successive_revocations_are_delayed(c: Config, s: State, t: State) -> bool:
    """A second round in a row that would revoke for balance schedules a rebalance instead.

    Source: KAFKA-12495; ``IncrementalCooperativeAssignor.performTaskAssignment``.
    """
    if not is_round(s, t) or c.cooperative == 0 or round_mode(c, t) == WorkerMode.EAGER:
        return False
    memory = s.workers[t.leader].memory
    return memory.revoking == 1 and memory.schedule == Schedule.NONE and memory.departed == 0 and t.delayed == 1


def two_workers_claim_one_item(c: Config, s: State, t: State) -> bool:
    """A round sees an item in two claims.

    Source: KAFKA-9841.
    """
    return c.cooperative == 1 and is_round(s, t) and claimed_twice(c, s) != 0


REACHABLE: Final = Concern(
    reachable_states=(
        all_work_runs,
        configs_mismatch,
        worker_is_ahead_of_its_assignment,
        claimed_is_not_running,
        lost_work_has_no_owner,
        removed_worker_works_on,
        deleted_work_runs_on,
        two_modes_in_one_group,
        mode_path_is_complete,
    ),
    reachable_steps=(
        new_leader_drops_the_delay,
        returning_worker_ends_the_delay,
        candidates_get_lost_work,
        successive_revocations_are_delayed,
        two_workers_claim_one_item,
    ),
)
