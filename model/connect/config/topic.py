"""Writing to the config topic, and the log cleaner's work on it (``KafkaConfigBackingStore``, ``LogCleaner``)."""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.config.state import Config, Kind, Record, State, has_read_all, same_key
from rebalance_check.model.vocabulary.actions import ActionKind


def append_config(s: State, kind: int, task: int, call: int, count: int) -> None:
    """The topic grows by one record."""
    record = s.records[s.length]
    record.kind = kind
    record.task = task
    record.call = call
    record.count = count
    s.length += 1


def may_begin(c: Config, s: State, m: int) -> bool:
    """Whether a worker may begin a call: it leads, is in no other call, and has read the topic to its end."""
    return s.leader == m and s.workers[m].call == 0 and s.calls < c.writes and has_read_all(s, m)


def write_connector(c: Config, s: State, m: int) -> bool:
    """The leader writes a connector config, new or changed; the task configs follow in calls of their own.

    The owner of a connector that is paused, or that fails to start, asks for no new task configs. With
    ``task_rewrites`` they always follow.

    Source: ``KafkaConfigBackingStore.putConnectorConfig``; ``AbstractHerder.publishConnectorTaskConfigs``.
    Leaves unchanged: the task configs.
    """
    if not may_begin(c, s, m) or s.owed == 1 or (c.task_rewrites == 1 and s.calls + 1 >= c.writes):
        return False
    s.calls += 1
    s.owed = c.task_rewrites
    append_config(s, Kind.CONNECTOR, 0, s.calls, 0)
    return True


def remove_connector(c: Config, s: State, m: int) -> bool:
    """The leader writes the tombstone of a connector, and leaves its task configs and its commit behind.

    Source: ``KafkaConfigBackingStore.removeConnectorConfig``.
    Leaves unchanged: task configs, commits and fencing records in the topic.
    """
    if not may_begin(c, s, m) or s.owed == 1 or s.workers[m].connector == 0:
        return False
    s.calls += 1
    s.removed = s.calls
    append_config(s, Kind.CONNECTOR, 0, 0, 0)
    return True


def write_task_choices(c: Config) -> int:
    """How many tasks the connector gets, less one."""
    return c.tasks


def write_task(c: Config, s: State, m: int, k: int) -> bool:
    """The leader writes the next task config of its call, or begins one; with fencing all of them in a transaction.

    A leader that was replaced goes on with its call unless it is fenced.

    Source: ``KafkaConfigBackingStore.putTaskConfigs``; KIP-618.
    Leaves unchanged: what readers run, until the commit.
    """
    me = s.workers[m]
    if me.call == 0:
        if not may_begin(c, s, m) or me.connector == 0:
            return False
        s.calls += 1
        me.call = s.calls
        me.written = 0
        me.target = k + 1
    elif me.written == me.target or k != 0:
        return False
    s.unfinished = 1
    append_config(s, Kind.TASK, me.written, me.call, 0)
    me.written += 1
    if c.fencing == 1:
        for task in range(me.written, me.target):
            append_config(s, Kind.TASK, task, me.call, 0)
        me.written = me.target
    return True


def write_commit(s: State, m: int) -> bool:
    """A writer that has read its task configs back commits them.

    Source: ``KafkaConfigBackingStore.putTaskConfigs``.
    Leaves unchanged: the connector config.
    """
    me = s.workers[m]
    if me.call == 0 or me.written != me.target or not has_read_all(s, m):
        return False
    append_config(s, Kind.COMMIT, 0, me.call, me.target)
    end_call(s, m)
    s.owed = 0
    s.unfinished = 0
    return True


def end_call(s: State, m: int) -> None:
    """The worker is in no call any more."""
    me = s.workers[m]
    me.call = 0
    me.written = 0
    me.target = 0


def change_leader(c: Config, s: State, m: int) -> bool:
    """Another worker leads; with fencing its predecessor can append nothing more.

    Source: ``KafkaConfigBackingStore.claimWritePrivileges``; KIP-618.
    Leaves unchanged: without fencing, a call of the previous leader that is under way.
    """
    if s.expiries >= c.expiries or s.leader == m:
        return False
    s.expiries += 1
    if c.fencing == 1:
        end_call(s, s.leader)
    s.leader = m
    return True


def start_again(c: Config, s: State, m: int) -> bool:
    """A worker dies, in whatever call it is, and starts again with an empty snapshot at the topic's beginning.

    Source: ``KafkaConfigBackingStore.start``.
    Leaves unchanged: the topic, and which worker leads.
    """
    if s.crashes >= c.crashes:
        return False
    s.crashes += 1
    reset(s.workers[m])
    return True


# ------------------------------------------------------------------------------------------------ compaction


def is_superseded(s: State, offset: int, end: int) -> bool:
    """Whether a later record below ``end`` has the same key."""
    for later in range(offset + 1, end):
        if same_key(s.records[later], s.records[offset]):
            return True
    return False


def is_tombstone(record: Record) -> bool:
    """Whether a record deletes the connector."""
    return record.kind == Kind.CONNECTOR and record.call == 0


def is_read_by_all(c: Config, s: State, offset: int) -> bool:
    """Whether every worker has read a record: ``delete.retention.ms`` is longer than a reader lags behind."""
    for w in range(c.members):
        if s.workers[w].position <= offset:
            return False
    return True


def is_removed(c: Config, s: State, offset: int, end: int) -> bool:
    """Whether the cleaner removes a record below ``end``."""
    if s.records[offset].kind == Kind.NONE:
        return False
    old_tombstone = is_tombstone(s.records[offset]) and is_read_by_all(c, s, offset)
    return old_tombstone or is_superseded(s, offset, end)


def compact_topic_choices(c: Config) -> int:
    """How many records the closed segments have, less one."""
    return c.offsets


def compact_topic(c: Config, s: State, k: int) -> bool:
    """The log cleaner keeps the last record of each key in the closed segments, at its place.

    A tombstone goes once every worker has read it. The last record is in the active segment, which is not cleaned.

    Source: ``LogCleaner``; KAFKA-17719.
    Leaves unchanged: offsets, the active segment, and what workers have read.
    """
    end = k + 1
    if s.compactions >= c.compactions or end >= s.length:
        return False
    gone = 0
    for offset in range(end):
        if is_removed(c, s, offset, end):
            gone += 1
    if gone == 0:
        return False
    s.compactions += 1
    for offset in range(end):
        if is_removed(c, s, offset, end):
            reset(s.records[offset])
    return True


TOPIC: Final = Concern(
    rules=(
        Rule(ActionKind.WRITE_CONNECTOR, write_connector),
        Rule(ActionKind.REMOVE_CONNECTOR, remove_connector),
        Rule(ActionKind.WRITE_TASK, write_task, write_task_choices, fair=True),
        Rule(ActionKind.WRITE_COMMIT, write_commit, fair=True),
        Rule(ActionKind.CHANGE_LEADER, change_leader),
        Rule(ActionKind.RESTART, start_again),
        Rule(ActionKind.COMPACT_TOPIC, compact_topic, compact_topic_choices, members=False),
    ),
)
