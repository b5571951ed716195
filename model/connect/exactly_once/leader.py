"""The leader's part: it commits task configs, assigns tasks, and fences producers of earlier tasks (KIP-618)."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.exactly_once.state import Config, Fencing, Phase, State
from rebalance_check.model.vocabulary.actions import ActionKind


def answer_all(c: Config, s: State, phase: int) -> None:
    """Every worker that waits for the leader gets its answer: the task may go on, or it fails."""
    for m in range(c.members):
        for task in range(c.tasks):
            if s.workers[m].phase[task] == Phase.ASKED:
                s.workers[m].phase[task] = phase


def write_commit_choices(c: Config) -> int:
    """How many tasks the connector gets, less one."""
    return c.tasks


def write_commit(c: Config, s: State, m: int, k: int) -> bool:
    """The leader commits task configs; a round of fencing that is under way is outdated, and so are its requests.

    Source: ``DistributedHerder.onTaskConfigUpdate``; ``KafkaConfigBackingStore.putTaskConfigs``.
    Leaves unchanged: the tasks that run, until their workers have read the commit.
    """
    if s.leader != m or s.workers[m].removed == 1 or s.commits >= c.writes:
        return False
    s.commits += 1
    s.count = k + 1
    s.fencing = Fencing.NONE
    answer_all(c, s, Phase.FAILED)
    return True


def is_assigned(c: Config, s: State, task: int) -> bool:
    """Whether a member of the group is assigned a task; a worker that was removed is none."""
    for m in range(c.members):
        if s.workers[m].removed == 0 and s.workers[m].assigned[task] == 1:
            return True
    return False


def perform_assignment_choices(c: Config) -> int:
    """One choice for each task."""
    return c.tasks


def perform_assignment(c: Config, s: State, m: int, k: int) -> bool:
    """A task that no member of the group is assigned goes to a member.

    Source: ``WorkerCoordinator.onLeaderElected``.
    Leaves unchanged: what a worker runs that was removed and does not know it.
    """
    if s.workers[m].removed == 1 or k >= s.count or is_assigned(c, s, k):
        return False
    s.workers[m].assigned[k] = 1
    return True


def is_asked(c: Config, s: State) -> bool:
    """Whether a task waits for the leader."""
    for m in range(c.members):
        for task in range(c.tasks):
            if s.workers[m].phase[task] == Phase.ASKED:
                return True
    return False


def write_record(c: Config, s: State) -> None:
    """The leader writes how many tasks the last commit has, and answers."""
    s.recorded = s.commits
    s.recorded_count = s.count
    s.fencing = Fencing.NONE
    answer_all(c, s, Phase.MAY_INITIALISE)


def fence_zombies(c: Config, s: State, m: int) -> bool:
    """The leader serves requests to fence: nothing is due, or producers must be fenced first.

    Nothing needs to be fenced before the first fencing record, and where one task follows one task: it fences its
    predecessor by its own producer.

    Source: ``DistributedHerder.fenceZombieSourceTasks``.
    Leaves unchanged: the producers.
    """
    if s.leader != m or s.fencing != Fencing.NONE or not is_asked(c, s):
        return False
    if s.recorded == s.commits:
        answer_all(c, s, Phase.MAY_INITIALISE)
    elif s.recorded_count == 0 or (s.recorded_count == 1 and s.count == 1):
        write_record(c, s)
    else:
        s.fencing = Fencing.BEGUN
    return True


def fence_producers(c: Config, s: State, m: int) -> bool:
    """The brokers fence the producers of all tasks that the last fencing record counts.

    Source: ``Worker.fenceZombies``; ``Admin.fenceProducers``.
    Leaves unchanged: the tasks, which run on until they commit.
    """
    if s.leader != m or s.fencing != Fencing.BEGUN:
        return False
    s.fencing = Fencing.FENCED
    for w in range(c.members):
        for task in range(c.tasks):
            if task < s.recorded_count:
                s.workers[w].unfenced[task] = 0
    return True


def write_fencing_record(c: Config, s: State, m: int) -> bool:
    """The leader writes the fencing record after the producers were fenced.

    Source: ``KafkaConfigBackingStore.putTaskCountRecord``.
    Leaves unchanged: the commits.
    """
    if s.leader != m or s.fencing != Fencing.FENCED:
        return False
    write_record(c, s)
    return True


def change_leader(c: Config, s: State, m: int) -> bool:
    """Another worker leads in the place of one that was removed, whose writes it fences; what waits for that one fails.

    Source: ``KafkaConfigBackingStore.claimWritePrivileges``.
    Leaves unchanged: producers of tasks.
    """
    if s.workers[s.leader].removed == 0 or s.workers[m].removed == 1:
        return False
    s.leader = m
    s.fencing = Fencing.NONE
    answer_all(c, s, Phase.FAILED)
    return True


LEADER: Final = Concern(
    rules=(
        Rule(ActionKind.WRITE_COMMIT, write_commit, write_commit_choices),
        Rule(ActionKind.PERFORM_ASSIGNMENT, perform_assignment, perform_assignment_choices),
        Rule(ActionKind.FENCE_ZOMBIES, fence_zombies, fair=True),
        Rule(ActionKind.FENCE_PRODUCERS, fence_producers, fair=True),
        Rule(ActionKind.WRITE_FENCING_RECORD, write_fencing_record, fair=True),
        Rule(ActionKind.CHANGE_LEADER, change_leader, fair=True),
    ),
)
