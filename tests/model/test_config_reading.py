"""A worker of the model makes of the config topic what our config store makes of the same records.

The store itself is held against Kafka's (`tests/integration/lockstep`).
"""

from random import Random
from typing import Any, NamedTuple

import pytest

from rebalance_check.impl.connect.config.compaction import compacted
from rebalance_check.impl.connect.config.reading import ConfigState, read_record
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.connect.config.model import MODEL
from rebalance_check.model.connect.config.state import Kind, lists_tasks
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds

WALKED = (
    "connect-config?members=3&partitions=3&writes=9&crashes=2&expiries=2&compactions=3",
    "connect-config?members=2&partitions=2&writes=9&crashes=2&expiries=1&compactions=3&fencing",
    "connect-config?members=2&partitions=2&writes=9&crashes=1&compactions=3&task_rewrites",
)


class Record(NamedTuple):
    """A record of the model as the topic has it."""

    offset: int
    key: str
    value: bytes | None


def record_at(state: Any, offset: int) -> Record | None:
    """The record at an offset; None where compaction removed it."""
    record = state.records[offset]
    match Kind(record.kind):
        case Kind.NONE:
            return None
        case Kind.CONNECTOR:
            value = properties(record.call) if record.call else None
            return Record(offset, "connector-c", value)
        case Kind.TASK:
            return Record(offset, f"task-c-{record.task}", properties(record.call))
        case Kind.COMMIT:
            return Record(offset, "commit-c", b'{"tasks":%d}' % record.count)


def properties(call: int) -> bytes:
    """A config that names the call that wrote it."""
    return b'{"properties":{"call":"%d"}}' % call


def call_of(config: Any) -> int:
    return 0 if config is None else int(config["call"])


def of_the_model(machine: Machine, state: Any, m: int) -> dict[str, Any]:
    """The knowledge of a worker of the model."""
    me = state.workers[m]
    return {
        "connector": me.connector,
        "count": me.count,
        "committed": tuple(me.committed),
        "deferred": tuple(me.deferred),
        "inconsistent": me.inconsistent == 1,
        "pending": me.pending == 1,
        "applied": me.applied,
        "generation": me.generation - 1 if me.generation else None,
        "listed": list(range(lists_tasks(state, m))),
    }


def of_the_store(machine: Machine, state: ConfigState) -> dict[str, Any]:
    """The same knowledge, from our store's fold of the records."""
    known, tasks = state.of("c"), range(machine.config.tasks)
    deferred = state.deferred.get("c", {})
    listed = [] if known.config is None or known.inconsistent else list(range(known.task_count or 0))
    return {
        "connector": call_of(known.config),
        "count": known.task_count or 0,
        "committed": tuple(call_of(known.task_configs.get(task)) for task in tasks),
        "deferred": tuple(call_of(deferred.get(task)) for task in tasks),
        "inconsistent": known.inconsistent,
        "pending": known.pending_fencing,
        "applied": call_of(known.applied),
        "generation": known.generation,
        "listed": listed,
    }


def records_of(state: Any) -> list[Record]:
    return [record for offset in range(state.length) if (record := record_at(state, offset))]


@pytest.mark.parametrize("address", WALKED)
def test_both_make_the_same_of_every_record(address: str) -> None:
    machine, kinds = Machine(MODEL, Bounds.from_address(address)), set[str]()
    for seed in range(40):
        random, state = Random(seed), machine.initial()
        folds = [ConfigState() for _ in range(machine.config.members)]
        for _ in range(120):
            possible = machine.enabled(state)
            if not possible:
                break
            action = drawn(random, possible)
            before = machine.copy(state)
            machine.step(state, action)
            kinds.add(action.kind)
            follow(folds, before, state, action)
            for m, fold in enumerate(folds):
                assert of_the_store(machine, fold) == of_the_model(machine, state, m)
    assert {ActionKind.COMPACT_TOPIC, ActionKind.REMOVE_CONNECTOR, ActionKind.RESTART} <= kinds


def drawn(random: Random, possible: list[Action]) -> Action:
    """An action, of which the kinds are drawn evenly."""
    kind = random.choice(sorted({action.kind for action in possible}))
    return random.choice([action for action in possible if action.kind is kind])


def follow(folds: list[ConfigState], before: Any, after: Any, action: Action) -> None:
    """Let the store's fold, and its compaction, do what the step did."""
    match action.kind:
        case ActionKind.READ_CONFIG:
            record = record_at(before, after.workers[action.member].position - 1)
            if record is not None:
                read_record(folds[action.member], record.offset, record.key, record.value)
        case ActionKind.RESTART:
            folds[action.member] = ConfigState()
        case ActionKind.COMPACT_TOPIC:
            left = compacted(records_of(before), below=action.choice + 1)
            gone = [record for record in left if record not in records_of(after)]
            assert all(record.value is None for record in gone)
            assert [record for record in left if record not in gone] == records_of(after)
