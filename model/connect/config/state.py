"""The state of the config topic: the log of one connector and its tasks, and each worker's snapshot of it.

A connector config and a task config are known by the number of the call that wrote them, from 1. A compacted record is
gone; offsets stay.
"""

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


class Kind(IntEnum):
    """The key of a record; NONE where compaction removed it."""

    NONE = 0
    CONNECTOR = 1
    TASK = 2
    COMMIT = 3


class Config(NamedTuple):
    """The bounds as the model reads them."""

    members: int
    tasks: int
    writes: int
    crashes: int
    expiries: int
    compactions: int
    task_rewrites: int
    fencing: int
    offsets: int


@layout
class Record(Layout):
    """A record: its key, and its content. A connector whose call is 0 is a tombstone."""

    kind: Number
    task: Number  # the number of the task
    call: Number  # which call wrote the config; 0 for none
    count: Number  # of a commit: how many tasks there are


@layout
class Worker(Layout):
    """A worker: the fold of its reading (``ClusterConfigState``), and the call that it is in, if it writes."""

    position: Number  # the next offset to read
    connector: Number  # the config of the connector, 0 for none
    count: Number  # connectorTaskCounts
    committed: Annotated[list[Number], Dimension("tasks")]  # the task configs, 0 for none
    deferred: Annotated[list[Number], Dimension("tasks")]  # read, and not committed yet
    inconsistent: Number
    pending: Number  # 1 while zombie fencing is pending
    applied: Number  # the connector config at the last complete commit
    generation: Number  # of the task configs, 0 for none
    call: Number  # the call of putTaskConfigs that is under way, 0 for none
    written: Number  # how many of its task configs are appended
    target: Number  # how many tasks it writes


@layout
class State(Layout):
    """Everything: the log, the workers, the leader, and the spent budgets."""

    length: Number
    records: Annotated[list[Record], Dimension("offsets")]
    workers: PerMember[Worker]
    leader: Index
    calls: Age  # calls begun: of putConnectorConfig, removeConnectorConfig and putTaskConfigs
    owed: Number  # 1 while a connector config was written whose task configs are not
    unfinished: Number  # 1 from the first task config of a call until some call's commit
    removed: Number  # the call that last removed the connector, 0 for none
    crashes: Spent
    expiries: Spent
    compactions: Spent


def sizes(bounds: Bounds) -> dict[str, int]:
    """The dimensions of the state: each call appends at most every task config and a commit."""
    return {
        SYMMETRIC: bounds.members,
        "tasks": bounds.partitions,
        "offsets": max(bounds.writes * (bounds.partitions + 1), 1),
    }


def configure(bounds: Bounds) -> Config:
    """The bounds as the model reads them."""
    return Config(
        members=bounds.members,
        tasks=bounds.partitions,
        writes=bounds.writes,
        crashes=bounds.crashes,
        expiries=bounds.expiries,
        compactions=bounds.compactions,
        task_rewrites=int(bounds.task_rewrites),
        fencing=int(bounds.fencing),
        offsets=max(bounds.writes * (bounds.partitions + 1), 1),
    )


def has_read_all(s: State, m: int) -> bool:
    """Whether a worker has read the topic to its end."""
    return s.workers[m].position == s.length


def same_key(record: Record, other: Record) -> bool:
    """Whether two records have the same key."""
    return record.kind == other.kind and record.task == other.task


def lists_tasks(s: State, m: int) -> int:
    """How many tasks ``tasks()`` lists: none while the connector is unknown or inconsistent."""
    me = s.workers[m]
    return 0 if me.connector == 0 or me.inconsistent == 1 else me.count
