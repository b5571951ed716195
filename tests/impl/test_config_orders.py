"""A worker's knowledge when it starts on the records which compaction leaves, in each order that can be left."""

import json
from typing import Any

import pytest

from rebalance_check.impl.connect.config.reading import ConfigState, read_record
from rebalance_check.impl.connect.config.values import ConfigRecord
from tests.config_orders import CHANGED, CONNECTOR, FENCED, GONE, PAUSED, RECONFIGURED_WHILE_PAUSED, commit, task

ORDERS: dict[str, tuple[list[ConfigRecord], dict[str, Any]]] = {
    "a first commit compacted away": (
        [CONNECTOR, task(1), commit(2), task(0, "2"), task(1, "2"), commit(2)],
        {"tasks": {"0": "2", "1": "2"}, "count": 2, "generation": 0, "pending": True},
    ),
    "a writer that died between tasks and commit": (
        [CONNECTOR, task(1), commit(2), task(0, "2")],
        {"tasks": {}, "count": 2, "inconsistent": True, "deferred": [0], "pending": True},
    ),
    "and the next commit mixes both writes": (
        [CONNECTOR, task(1), commit(2), task(0, "2"), task(1, "3"), commit(2)],
        {"tasks": {"0": "2", "1": "3"}, "count": 2, "generation": 0, "pending": True},
    ),
    "a commit before its tasks": (
        [CONNECTOR, commit(2), task(0), task(1)],
        {"tasks": {}, "count": 2, "inconsistent": True, "deferred": [0, 1], "pending": True},
    ),
    "tasks without a commit": ([CONNECTOR, task(0)], {"tasks": {}, "count": 0, "deferred": [0]}),
    "a task of a bigger set": (
        [CONNECTOR, task(1), task(0, "2"), commit(1)],
        {"tasks": {"0": "2"}, "count": 1, "generation": 0, "kept": [1], "pending": True},
    ),
    "the connector behind its commit (KAFKA-17719)": (
        [task(0), task(1), commit(2), CHANGED],
        {"tasks": {}, "count": 0},
    ),
    "the same, with a target state": (
        [PAUSED, task(0), task(1), commit(2), CHANGED],
        {"tasks": {}, "count": 0, "target": "PAUSED"},
    ),
    "a deleted connector that was created again": (
        [task(0), task(1), commit(2), CONNECTOR, task(0, "new"), commit(1)],
        {"tasks": {"0": "new"}, "count": 1, "generation": 0, "pending": True},
    ),
    "a count record before the tasks": (
        FENCED,
        {"tasks": {"0": "1", "1": "1"}, "count": 2, "generation": 0, "pending": True, "record": 2},
    ),
    "an inconsistent connector that was deleted": (
        [CONNECTOR, commit(1), *GONE, CONNECTOR],
        {"tasks": {}, "count": 0, "inconsistent": True, "pending": True},
    ),
}


def known(records: list[ConfigRecord]) -> dict[str, Any]:
    """The known state of the connector, without the parts that are as at its beginning."""
    state = ConfigState()
    for offset, record in enumerate(records):
        read_record(state, offset, *record)
    taken, of = state.snapshot(), state.of("a")
    tasks = {str(number): (taken.task_config("a", number) or {}).get("t") for number in taken.tasks("a")}
    found = {
        "tasks": tasks,
        "count": taken.task_count("a"),
        "generation": of.generation,
        "inconsistent": of.inconsistent,
        "pending": of.pending_fencing,
        "record": of.task_count_record,
        "deferred": sorted(state.deferred.get("a", {})),
        "kept": sorted(set(of.task_configs) - set(taken.tasks("a"))),
        "target": None if of.target_state == "STARTED" else of.target_state,
    }
    return {
        name: value
        for name, value in found.items()
        if value or name in ("tasks", "count") or (value == 0 and value is not False)
    }


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_that_compaction_leaves_is_read_as_kafka_reads_it(order: str) -> None:
    records, expected = ORDERS[order]
    assert json.loads(json.dumps(known(records))) == expected


def test_a_worker_that_read_everything_knows_more_than_one_that_starts_later() -> None:
    assert known(RECONFIGURED_WHILE_PAUSED)["tasks"] == {"0": "1", "1": "1"}
