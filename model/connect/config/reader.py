"""Reading the config topic: a worker's handling of each record (``KafkaConfigBackingStore.ConsumeCallback``)."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.config.state import Config, Kind, State, Worker
from rebalance_check.model.vocabulary.actions import ActionKind


def drop_deferred(c: Config, me: Worker) -> None:
    """Task configs that were not committed are forgotten."""
    for task in range(c.tasks):
        me.deferred[task] = 0


def apply_removal(c: Config, me: Worker) -> None:
    """The connector is gone with its tasks; flags and generation stay."""
    me.connector = 0
    me.count = 0
    me.applied = 0
    for task in range(c.tasks):
        me.committed[task] = 0
    drop_deferred(c, me)


def is_complete(c: Config, me: Worker, count: int) -> bool:
    """Whether a commit of ``count`` tasks finds a deferred config of each; committed ones do not count."""
    for task in range(c.tasks):
        if task < count and me.deferred[task] == 0:
            return False
    return True


def apply_commit(c: Config, me: Worker, count: int) -> None:
    """The deferred task configs take the place of those committed before, if none is missing."""
    if me.connector == 0:
        drop_deferred(c, me)
        return
    if is_complete(c, me, count):
        for task in range(c.tasks):
            if me.deferred[task] != 0:
                me.committed[task] = me.deferred[task]
        me.generation += 1
        me.inconsistent = 0
        me.applied = me.connector
    else:
        me.inconsistent = 1
    drop_deferred(c, me)
    me.count = count
    me.pending = 1


def read_record(c: Config, s: State, m: int) -> bool:
    """A worker reads the next record that is left.

    Task configs wait for their commit. A commit without all of them makes the connector inconsistent; one of a
    connector that is unknown drops them (KAFKA-16838).

    Source: ``KafkaConfigBackingStore.ConsumeCallback``; ``KafkaConfigBackingStore.processTasksCommitRecord``.
    Leaves unchanged: the topic, and the other workers.
    """
    me = s.workers[m]
    if me.position >= s.length:
        return False
    while me.position + 1 < s.length and s.records[me.position].kind == Kind.NONE:
        me.position += 1
    record = s.records[me.position]
    me.position += 1
    if record.kind == Kind.CONNECTOR:
        if record.call == 0:
            apply_removal(c, me)
        else:
            me.connector = record.call
    elif record.kind == Kind.TASK:
        me.deferred[record.task] = record.call
    elif record.kind == Kind.COMMIT:
        apply_commit(c, me, record.count)
    return True


READER: Final = Concern(rules=(Rule(ActionKind.READ_CONFIG, read_record, fair=True),))
