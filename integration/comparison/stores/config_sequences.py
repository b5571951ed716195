"""Random sequences for a config store: records of every kind, well formed and not, and calls that write and fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from rebalance_check.integration.comparison.stores.sequence import Step, StepSequence

CONNECTORS: Final = ("a", "b", "b-1", "b-", "", "ä", "a b")
STATES: Final = ("STARTED", "PAUSED", "STOPPED")
_ODD_VALUES: Final = (
    "null", "", " ", "\t\n", "[]", "{}", "7", "7x", "0x1", "01", "-", "-0", "-01", "00", "00x", "[01]",
    "1.0", "true", "truex", "nul", "nullx",
    '"text"', '"text"x', "{", '{"properties":{}', '{"a":1,}', "NaN", "[1,]", '{"properties":[]}', "{} trailing",
    '{"properties":null}', '{"properties":{"x":1,"y":null,"z":true,"w":[1,{"v":"u"}],"d":{"e":"f"}}}',
    ' {"properties" : {"k":"v"} , "extra":1} ', '{"properties":{"k":"v"},"properties":{"k":"w"}}', "\ufeff{}",
    '{"properties":{"k":1.5,"big":99999999999999999999}}', '{"properties":{"k":"\\u00e9\\ud83d\\ude00 \\n"}}',
    '{"tasks":"1"}', '{"tasks":01}', '{"tasks":-00}', '{"tasks":1e01}', '{"tasks":"01 01"}',
    '{"tasks":1.0}', '{"tasks":-1}', '{"tasks":4294967297}', '{"tasks":null}', '{"tasks":true}',
    '{"task-count":"1"}', '{"task-count":-3}', '{"task-count":1e1}', '{"task-count":4294967298}',
    '{"state":"paused"}', '{"state":"PAUSED","state.v2":"BOGUS"}', '{"state":"STARTED","state.v2":5}',
    '{"state.v2":"STOPPED"}', '{"state":5}', '{"key":"!!"}', '{"key":""}', '{"key":"AAAA"}', '{"key":5}',
    '{"key":"A","algorithm":"x","creation-timestamp":1}', '{"key":"AA","algorithm":"x","creation-timestamp":1}',
    '{"key":"AAA","algorithm":"x","creation-timestamp":1}', '{"key":"AA==","algorithm":"x","creation-timestamp":1}',
    '{"key":"AA=","algorithm":"x","creation-timestamp":1}', '{"key":"AAA=AAAA","algorithm":"x","creation-timestamp":1}',
    '{"key":"AAAA","algorithm":"","creation-timestamp":1.5}', '{"key":"A_-A","algorithm":"x","creation-timestamp":1}',
    '{"key":"","algorithm":"x","creation-timestamp":1}', '{"key":"AAAA","algorithm":5,"creation-timestamp":1}',
    '{"include-tasks":"true","only-failed":1}', '{"only-failed":true}', '{"level":null}', '{"level":"nonsense"}',
)  # fmt: skip
"""Values that writers of Kafka never write; the counts of tasks stay small."""

_ODD_KEYS: Final = (
    None, "", "foo", "connector", "connector-", "task-", "task-a", "task-a-x", "task--0", "task-a--1", "task-a-1-",
    "task-a-+1", "task-a-01", "task-a-99999999999", "task-a-٣", "task---", "tasks-a-0", "tasks-fencing-", "commit-",
    "session-keyX", "session-key-", "target-state-connector-a", "target-state-", "restart-connector-",
    "logger-cluster-", "logger-cluster", "CONNECTOR-a", "connector-connector-a",
)  # fmt: skip


def record_sequences(random: Random, count: int) -> list[StepSequence]:
    """Sequences of records alone, before and after the start."""
    return [StepSequence(tuple(_records(random))) for _ in range(count)]


def call_sequences(random: Random, count: int) -> list[StepSequence]:
    """Sequences of calls, failures and records, with plain and with transactional producers."""
    return [
        StepSequence(tuple(_calls(random)), {"exactly_once": random.choice(("disabled", "preparing", "enabled"))})
        for _ in range(count)
    ]


def _records(random: Random) -> list[Step]:
    steps = [_record(random, "append") for _ in range(random.randrange(8))]
    steps.append({"op": "start"})
    return steps + [_record(random, "read") for _ in range(random.randrange(1, 16))]


def _record(random: Random, op: str) -> Step:
    kind = random.random()
    if kind < 0.03:
        return {"op": "read", "key": "connector-a", "hex": random.choice(("ff", "7b7dff", "7bff7d", "efbbbf7b7d"))}
    if kind < 0.18:
        return {"op": op, "key": random.choice(_ODD_KEYS + tuple(_key(random)[0] for _ in range(9))),
                "value": random.choice((*_ODD_VALUES, None))}  # fmt: skip
    key, value = _key(random)
    return {"op": op, "key": key, "value": None if value is None else _json(value)}


def _key(random: Random) -> tuple[str, Any]:
    """A record of one of the kinds, mostly of the first connectors, with few tasks."""
    name = random.choice(CONNECTORS[:2] * 4 + CONNECTORS)
    choices: list[tuple[int, Callable[[], tuple[str, Any]]]] = [
        (4, lambda: (f"connector-{name}", _maybe(random, {"properties": _config(random)}))),
        (8, lambda: (f"task-{name}-{random.randrange(3)}", _maybe(random, {"properties": _config(random)}, 0.05))),
        (6, lambda: (f"commit-{name}", _maybe(random, {"tasks": random.randrange(4)}, 0.05))),
        (3, lambda: (f"target-state-{name}", _maybe(random, _state(random)))),
        (2, lambda: (f"tasks-fencing-{name}", _maybe(random, {"task-count": random.randrange(4)}, 0.1))),
        (1, lambda: (f"restart-connector-{name}", {"include-tasks": random.random() < 0.5, "only-failed": True})),
        (1, lambda: ("session-key", _session_key(random))),
        (1, lambda: (f"logger-cluster-{name}", {"level": random.choice(("DEBUG", "x"))})),
    ]
    return random.choices([make for _, make in choices], [weight for weight, _ in choices])[0]()


def _maybe(random: Random, value: Any, tombstone: float = 0.3) -> Any:
    return None if random.random() < tombstone else value


def _config(random: Random) -> dict[str, str | None]:
    names = random.sample(("k", "name", 'with "quote"', "tab\t", "é", ""), random.randrange(3))
    return {name: random.choice(("1", "2", "\x01", "/", "\u2028", "😀", None)) for name in names}


def _state(random: Random) -> dict[str, str]:
    fields = {"state": random.choice(STATES)}
    return fields if random.random() < 0.3 else {**fields, "state.v2": random.choice(STATES)}


def _session_key(random: Random) -> dict[str, Any]:
    return {"key": random.choice(("AAAA", "AAA=", "/+8=")), "algorithm": random.choice(("HmacSHA256", "no")),
            "creation-timestamp": random.randrange(9)}  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _calls(random: Random) -> list[Step]:
    steps: list[Step] = []
    if random.random() < 0.9:
        steps.append({"op": "start"})
    if random.random() < 0.7:
        steps += [{"op": "transactions", "mode": "ok"}, {"op": "claim"}]
    steps += [_call(random) for _ in range(random.randrange(1, 14))]
    return steps + ([{"op": "stop"}] if random.random() < 0.2 else [])


def _call(random: Random) -> Step:
    name = random.choice(CONNECTORS[:3])
    choices: Mapping[str, tuple[int, Callable[[], Step]]] = {
        "putConnector": (6, lambda: {"c": name, "cfg": _config(random), "target": _maybe(random, "STOPPED", 0.7)}),
        "putTasks": (8, lambda: {"c": name, "cfgs": [_config(random) for _ in range(random.randrange(4))]}),
        "remove": (3, lambda: {"c": name}),
        "removeTasks": (1, lambda: {"c": name}),
        "putTarget": (4, lambda: {"c": name, "target": random.choice(STATES)}),
        "putCount": (2, lambda: {"c": name, "n": random.randrange(4)}),
        "putRestart": (2, lambda: {"c": name, "onlyFailed": random.random() < 0.5, "includeTasks": False}),
        "putKey": (2, lambda: {"ts": random.randrange(1 << 40)}),
        "putLogger": (2, lambda: {"c": "org.x", "level": "DEBUG"}),
        "refresh": (4, lambda: {"ms": 5}),
        "fail": (2, lambda: {"w": random.choice(("send", "readToEnd", None, None, None))}),
        "transactions": (1, lambda: {"mode": random.choice(("ok", "fenced"))}),
        "claim": (2, dict),
        "isClaimed": (1, dict),
        "contains": (1, lambda: {"c": name}),
        "q": (3, lambda: {"c": name}),
        "err": (1, dict),
    }
    if random.random() < 0.2:
        return _record(random, random.choice(("read", "append")))
    op = random.choices(list(choices), [weight for weight, _ in choices.values()])[0]
    return {"op": op, **choices[op][1]()}
