"""Random sequences for a status store: writes, answers, retries, records read, queries, and the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from rebalance_check.integration.comparison.stores.sequence import Step, StepSequence

_CONNECTORS: Final = ("a", "a", "a", "b", "a-1", "a-", "ä")
_STATES: Final = ("UNASSIGNED", "RUNNING", "RUNNING", "PAUSED", "FAILED", "DESTROYED", "RESTARTING", "STOPPED")
_WORKERS: Final = ("w0:8083", "w1:8083", "w1:8083")
_OUTCOMES: Final = ("ok", "retriable", "retriable", "fatal")
_ODD_VALUES: Final = (
    "", " ", "null", "{}", "[]", "{", "7", "x", '{"state":"RUNNING"}',
    '{"state":"running","worker_id":"w","generation":1}',
    '{"state":"RUNNING","worker_id":"w","generation":1.0}', '{"state":"RUNNING","worker_id":"w","generation":"1"}',
    '{"state":"RUNNING","worker_id":null,"generation":3}', '{"state":"RUNNING","generation":3}',
    '{"state":"RUNNING","worker_id":5,"generation":3}', '{"state":"RUNNING","worker_id":"w","generation":07}',
    '{"state":"RUNNING","worker_id":"w","generation":4294967299}',
    '{"state":"DESTROYED","worker_id":"w","generation":1}',
    '{"state":"RUNNING","worker_id":"w","generation":1,"version":5}', '{"state":5,"worker_id":"w","generation":1}',
    '{"state":"RUNNING","worker_id":"w","generation":1,"version":"1.2"}',
    '{"state":"RUNNING","worker_id":"w","generation":1,"trace":7}', '{"topic":{}}', '{"topic":7}',
    '{"topic":{"name":"t","connector":"c","task":0.5,"discoverTimestamp":1}}',
    '{"topic":{"name":"t","connector":"c","task":4294967297,"discoverTimestamp":99999999999999999999}}',
    '{"topic":{"name":"t","connector":"c","task":0,"discoverTimestamp":5},"x":1} trailing',
    '{"topic":{"name":null,"connector":"c","task":0,"discoverTimestamp":5}}',
)  # fmt: skip
_ODD_KEYS: Final = (
    None, "", "foo", "status-", "status-connector-", "status-task-", "status-task-a-", "status-task--1",
    "status-task-a--1", "status-task-a-1-", "status-task-a-+1", "status-task-a-x", "status-task-a-99999999999",
    "status-topic-", "status-topic-t", "status-topic-:connector-a", "status-topic-t:connector-",
    "status-topic-t:xxxxxxxxxxa",
    "status-topic-t:conn", "status-topic-t:u:connector-a", "status-topicx:connector-a",
)  # fmt: skip


def status_sequences(random: Random, count: int) -> list[StepSequence]:
    """Sequences of every kind of step."""
    return [StepSequence(tuple(_steps(random))) for _ in range(count)]


def _steps(random: Random) -> list[Step]:
    steps = [_step(random) for _ in range(random.randrange(4, 40))]
    if random.random() < 0.3:
        steps.append({"op": "stop"})
        steps += [s for s in (_step(random) for _ in range(8)) if s["op"] not in ("read", "stop")]
    return steps


def _step(random: Random) -> Step:
    makers: Mapping[str, tuple[int, Callable[[], Step]]] = {
        "put": (10, lambda: _put(random)),
        "read": (9, lambda: _record(random)),
        "complete": (10, lambda: {"n": random.randrange(8), "outcome": random.choice(_OUTCOMES)}),
        "retry": (5, dict),
        "putTopic": (2, lambda: {"topic": "t", "c": random.choice(_CONNECTORS), "task": 0, "ts": random.randrange(9)}),
        "deleteTopic": (1, lambda: {"topic": "t", "c": random.choice(_CONNECTORS)}),
        "flush": (1, dict),
        "get": (2, lambda: {"c": random.choice(_CONNECTORS), "task": random.choice((None, 0, 1))}),
        "getAll": (1, lambda: {"c": random.choice(_CONNECTORS)}),
        "connectors": (1, dict),
        "getTopic": (1, lambda: {"topic": "t", "c": random.choice(_CONNECTORS)}),
        "getAllTopics": (1, lambda: {"c": random.choice(_CONNECTORS)}),
    }  # fmt: skip
    op = random.choices(list(makers), [weight for weight, _ in makers.values()])[0]
    return {"op": op, **makers[op][1]()}


def _put(random: Random) -> Step:
    return {
        "c": random.choice(_CONNECTORS),
        "task": random.choice((None, 0, 0, 1)),
        "state": random.choice(_STATES),
        "worker": random.choice(_WORKERS) if random.random() < 0.97 else None,
        "generation": random.randrange(4),
        "trace": random.choice((None, None, 'x"\n😀')),
        "safe": random.random() < 0.5,
    }


def _record(random: Random) -> Step:
    if random.random() < 0.15:
        return {"key": random.choice(_ODD_KEYS), "value": _status(random)}
    name, kind = random.choice(_CONNECTORS), random.random()
    if kind < 0.15:
        topic = {"topic": {"name": "t", "connector": name, "task": 0, "discoverTimestamp": 4}}
        return {"key": f"status-topic-t:connector-{name}", "value": _maybe(random, topic)}
    key = f"status-connector-{name}" if kind < 0.4 else f"status-task-{name}-{random.randrange(2)}"
    return {"key": key, "value": _status(random)}


def _status(random: Random) -> str | None:
    value = {
        "state": random.choice(_STATES),
        "trace": None,
        "worker_id": random.choice(_WORKERS),
        "generation": random.randrange(4),
    }
    return _maybe(random, value)


def _maybe(random: Random, value: Any) -> str | None:
    if random.random() < 0.2:
        return random.choice(_ODD_VALUES)
    return None if random.random() < 0.2 else json.dumps(value, separators=(",", ":"))
