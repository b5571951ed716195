"""The state of an exactly-once source: its commits of task configs, the leader's fencing, and each worker's tasks."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from rebalance_check.model.checker.layout import (
    SYMMETRIC,
    Age,
    Dimension,
    Index,
    Layout,
    Number,
    PerMember,
    Spent,
    layout,
)
from rebalance_check.model.vocabulary.bounds import Bounds


class Phase(IntEnum):
    """How far a worker is with a task that it was assigned."""

    STOPPED = 0
    ASKED = 1  # the leader was asked to fence
    MAY_INITIALISE = 2  # the leader has answered
    INITIALISED = 3  # the task has its producer
    RUNNING = 4
    FAILED = 5


class Fencing(IntEnum):
    """How far the leader is with a round of fencing."""

    NONE = 0
    BEGUN = 1  # it has read which producers to fence
    FENCED = 2  # the brokers have fenced them


class Config(NamedTuple):
    """The bounds as the model reads them."""

    members: int
    tasks: int
    writes: int
    expiries: int


@layout
class Worker(Layout):
    """A worker: the configs that it has read, and its tasks with the configs that they began with."""

    removed: Number  # 1 from its removal until it learns of that
    known: Number  # the last commit that it has read
    assigned: Annotated[list[Number], Dimension("tasks")]  # as far as it knows
    phase: Annotated[list[Number], Dimension("tasks")]
    generation: Annotated[list[Number], Dimension("tasks")]  # the commit whose config the task began with
    unfenced: Annotated[list[Number], Dimension("tasks")]  # 1 while no younger producer of its id exists


@layout
class State(Layout):
    """Everything: the last commit and the last fencing record in the config topic, the leader, and the workers."""

    commits: Age
    count: Number  # the tasks of the last commit
    recorded: Number  # the commit that the last fencing record follows, 0 for none
    recorded_count: Number  # the tasks that it counts
    leader: Index
    fencing: Number
    workers: PerMember[Worker]
    expiries: Spent


def sizes(bounds: Bounds) -> dict[str, int]:
    """The dimensions of the state."""
    return {SYMMETRIC: bounds.members, "tasks": bounds.partitions}


def configure(bounds: Bounds) -> Config:
    """The bounds as the model reads them."""
    return Config(members=bounds.members, tasks=bounds.partitions, writes=bounds.writes, expiries=bounds.expiries)


def runs(s: State, m: int, task: int) -> bool:
    """Whether a worker runs a task."""
    return s.workers[m].phase[task] == Phase.RUNNING


def runs_earlier_configs(s: State, m: int, task: int, generation: int) -> bool:
    """Whether a worker runs a task that began before this commit, with a producer that is not fenced."""
    me = s.workers[m]
    return me.phase[task] == Phase.RUNNING and me.generation[task] < generation and me.unfenced[task] == 1
