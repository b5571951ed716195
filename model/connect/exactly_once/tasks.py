"""A worker's handling of a task of an exactly-once source: it asks, initialises, verifies, runs, and stops."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.exactly_once.state import Config, Phase, State
from rebalance_check.model.vocabulary.actions import ActionKind


def stop_task(s: State, m: int, task: int) -> None:
    """A worker runs a task no more."""
    s.workers[m].phase[task] = Phase.STOPPED
    s.workers[m].generation[task] = 0
    s.workers[m].unfenced[task] = 0


def task_choices(c: Config) -> int:
    """One choice for each task."""
    return c.tasks


def read_config(c: Config, s: State, m: int) -> bool:
    """A worker reads the last commit, and stops the tasks that began with earlier configs; they may start anew.

    Source: ``DistributedHerder.processTaskConfigUpdatesWithIncrementalCooperative``.
    Leaves unchanged: tasks of workers that have not read it.
    """
    if s.workers[m].known >= s.commits:
        return False
    s.workers[m].known = s.commits
    for task in range(c.tasks):
        stop_task(s, m, task)
        if task >= s.count:
            s.workers[m].assigned[task] = 0
    return True


def start_task(s: State, m: int, k: int) -> bool:
    """A task is to start, with the configs that its worker has read: the leader is asked to fence.

    Source: ``DistributedHerder.startTask``; ``WorkerSourceTask`` with ``ExactlyOnceWorkerSourceTask.preProducerCheck``.
    Leaves unchanged: the producers.
    """
    me = s.workers[m]
    if me.assigned[k] == 0 or me.phase[k] != Phase.STOPPED or me.known == 0:
        return False
    me.phase[k] = Phase.ASKED
    me.generation[k] = me.known
    return True


def init_producer(c: Config, s: State, m: int, k: int) -> bool:
    """The task initialises its producer, which fences every earlier one of the same transactional id.

    Source: ``ExactlyOnceWorkerSourceTask.initializeAndStart``; ``KafkaProducer.initTransactions``.
    Leaves unchanged: producers of other tasks.
    """
    if s.workers[m].phase[k] != Phase.MAY_INITIALISE:
        return False
    for w in range(c.members):
        s.workers[w].unfenced[k] = 0
    s.workers[m].phase[k] = Phase.INITIALISED
    s.workers[m].unfenced[k] = 1
    return True


def verify_task(s: State, m: int, k: int) -> bool:
    """A task with a producer reads the config topic to its end, and starts only if its configs are still the last.

    Source: ``DistributedHerder.verifyTaskGenerationAndOwnership``.
    Leaves unchanged: the other tasks.
    """
    me = s.workers[m]
    if me.phase[k] != Phase.INITIALISED:
        return False
    if me.generation[k] == s.commits:
        me.phase[k] = Phase.RUNNING
    else:
        me.phase[k] = Phase.FAILED
        me.unfenced[k] = 0
    return True


def expire_session(c: Config, s: State, m: int) -> bool:
    """The coordinator removes a live worker, which works on and does not know it; another worker is in the group.

    Source: ``WorkerCoordinator``; KAFKA-16056.
    Leaves unchanged: what the worker runs.
    """
    if s.expiries >= c.expiries or s.workers[m].removed == 1:
        return False
    for w in range(c.members):
        if w != m and s.workers[w].removed == 0:
            s.expiries += 1
            s.workers[m].removed = 1
            return True
    return False


def revoke_all(c: Config, s: State, m: int) -> bool:
    """A worker learns that it was removed, stops everything, and is in the group again; another worker leads.

    Source: ``WorkerCoordinator.onJoinPrepare``.
    Leaves unchanged: the configs that it has read.
    """
    if s.workers[m].removed == 0 or s.leader == m:
        return False
    s.workers[m].removed = 0
    for task in range(c.tasks):
        stop_task(s, m, task)
        s.workers[m].assigned[task] = 0
    return True


TASKS: Final = Concern(
    rules=(
        Rule(ActionKind.READ_CONFIG, read_config, fair=True),
        Rule(ActionKind.START_TASK, start_task, task_choices),
        Rule(ActionKind.INIT_PRODUCER, init_producer, task_choices, fair=True),
        Rule(ActionKind.VERIFY_TASK, verify_task, task_choices, fair=True),
        Rule(ActionKind.EXPIRE_SESSION, expire_session),
        Rule(ActionKind.REVOKE_ALL, revoke_all, fair=True),
    ),
)
