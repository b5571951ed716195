"""The orders in which compaction can leave the records of a connector, and what a worker knows that starts on them."""

from rebalance_check.impl.connect.config.keys import RecordKind
from rebalance_check.impl.connect.config.values import (
    ConfigRecord,
    TargetState,
    commit_record,
    connector_record,
    target_state_record,
    task_count_record,
    task_record,
    tombstone,
)

Records = list[ConfigRecord]

CONNECTOR = connector_record("a", {"v": "1"})
CHANGED = connector_record("a", {"v": "2"})
PAUSED = target_state_record("a", TargetState.PAUSED)
GONE = [tombstone(RecordKind.CONNECTOR, "a"), tombstone(RecordKind.TARGET_STATE, "a")]


def task(number: int, version: str = "1") -> ConfigRecord:
    return task_record("a", number, {"t": version})


def commit(tasks: int) -> ConfigRecord:
    return commit_record("a", tasks)


RECONFIGURED_WHILE_PAUSED = [CONNECTOR, task(0), task(1), commit(2), PAUSED, CHANGED]
"""KAFKA-17719: nothing rewrites the tasks of a paused connector."""

REWRITTEN = [*RECONFIGURED_WHILE_PAUSED, task(0), task(1), commit(2)]
"""The same, where the tasks are written again behind the connector."""

FENCED = [CONNECTOR, task_count_record("a", 2), task(0), task(1), commit(2)]
