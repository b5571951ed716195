"""Guarantees of fencing: no task runs next to a task of earlier configs that can still write."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, LivenessProperty
from rebalance_check.model.connect.exactly_once.state import Config, Phase, State, runs, runs_earlier_configs

# ------------------------------------------------------------------------------------------------ states


def fenced_before_start(c: Config, s: State) -> bool:
    """While a task runs, every task of earlier configs of its connector has stopped or is fenced.

    Source: KIP-618; ``DistributedHerder.fenceZombieSourceTasks``.
    Leaves unchanged: fenced tasks, which run on until they commit.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            if runs(s, m, task):
                for w in range(c.members):
                    for other in range(c.tasks):
                        if runs_earlier_configs(s, w, other, s.workers[m].generation[task]):
                            return False
    return True


def task_has_one_producer(c: Config, s: State) -> bool:
    """Of the producers of a task, wherever it runs, one at most is not fenced.

    Source: KIP-618; ``TransactionCoordinator`` (KIP-98).
    Leaves unchanged: producers of different tasks.
    """
    for task in range(c.tasks):
        found = 0
        for m in range(c.members):
            found += s.workers[m].unfenced[task]
        if found > 1:
            return False
    return True


# ------------------------------------------------------------------------------------------------ steps


def fenced_producer_stays_fenced(c: Config, s: State, t: State) -> bool:
    """A task that has a producer does not get back from being fenced; it starts anew.

    Source: ``ProducerFencedException`` is fatal.
    Leaves unchanged: a task's next start.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            before = s.workers[m].phase[task]
            had = before == Phase.INITIALISED or before == Phase.RUNNING
            if had and s.workers[m].unfenced[task] == 0 and t.workers[m].unfenced[task] == 1:
                return False
    return True


def last_configs_start(c: Config, s: State, t: State) -> bool:
    """A task begins to run with the configs of the last commit.

    Source: ``DistributedHerder.verifyTaskGenerationAndOwnership``.
    Leaves unchanged: tasks that run already.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            if not runs(s, m, task) and runs(t, m, task) and t.workers[m].generation[task] != t.commits:
                return False
    return True


def record_follows_fencing(c: Config, s: State, t: State) -> bool:
    """When a fencing record is written, no task of earlier configs runs unfenced, but for one task after one.

    Source: ``DistributedHerder.doFenceZombieSourceTasks``; KIP-618.
    Leaves unchanged: one task that follows one task, which fences it by its own producer.
    """
    if t.recorded == s.recorded or (s.recorded_count == 1 and t.recorded_count == 1):
        return True
    for m in range(c.members):
        for task in range(c.tasks):
            if runs_earlier_configs(t, m, task, t.recorded):
                return False
    return True


# ------------------------------------------------------------------------------------------------ reachable


def fenced_task_runs_on(c: Config, s: State) -> bool:
    """A fenced task runs next to its successor, and can write nothing.

    Source: KIP-618.
    """
    for m in range(c.members):
        for w in range(c.members):
            for task in range(c.tasks):
                if m != w and runs(s, m, task) and runs(s, w, task):
                    return True
    return False


def task_after_task_needs_no_round(s: State, t: State) -> bool:
    """One task follows one task, and the leader fences nothing.

    Source: ``DistributedHerder.doFenceZombieSourceTasks``.
    """
    return s.recorded_count == 1 and t.recorded != s.recorded and s.fencing == 0


def start_is_refused(c: Config, s: State, t: State) -> bool:
    """A task has its producer and must not start: its configs are not the last ones any more.

    Source: ``DistributedHerder.verifyTaskGenerationAndOwnership``.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            if s.workers[m].phase[task] == Phase.INITIALISED and t.workers[m].phase[task] == Phase.FAILED:
                return True
    return False


def round_is_outdated(s: State, t: State) -> bool:
    """Task configs are committed while the leader fences, and the round counts no more.

    Source: ``DistributedHerder.onTaskConfigUpdate``.
    """
    return s.fencing != 0 and t.commits > s.commits


# ------------------------------------------------------------------------------------------------ liveness


def starts_end(c: Config, s: State, m: int) -> bool:
    """A task that is to start comes to run, or fails.

    Source: ``ExactlyOnceWorkerSourceTask``.
    """
    for task in range(c.tasks):
        phase = s.workers[m].phase[task]
        if phase == Phase.ASKED or phase == Phase.MAY_INITIALISE or phase == Phase.INITIALISED:
            return False
    return True


CLAIMS: Final = Concern(
    invariants=(fenced_before_start, task_has_one_producer),
    step_invariants=(fenced_producer_stays_fenced, last_configs_start, record_follows_fencing),
    reachable_states=(fenced_task_runs_on,),
    reachable_steps=(task_after_task_needs_no_round, start_is_refused, round_is_outdated),
    liveness=(LivenessProperty(starts_end, stabilises=True),),
)
