"""The config store does what Kafka's own did: 112 recorded sequences step by step, and 150 random folds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.integration.comparison.stores.config_ours import OurConfigStores
from rebalance_check.integration.comparison.stores.sequence import StepSequence

DATA = Path(__file__).parents[1] / "data" / "connect" / "config_vectors.json"
RECORDED = json.loads(DATA.read_text(encoding="utf-8"))
WITH_SCHEMAS = "v01 schemas.enable=true reader"  # no worker configures its converter so
VECTORS = [vector for vector in RECORDED["vectors"] if vector["name"] != WITH_SCHEMAS]
FOLDS = RECORDED["fold_vectors"]
RENAMED = {"append-unread": "append"}


def step_of(recorded: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        name: value for name, value in recorded.items() if name not in ("io", "callbacks", "state_changes", "error")
    }
    action = recorded["action"]
    if action == "claimStub":
        return {"op": "claim", "mode": recorded.get("mode", "ok")}
    return {**kept, "op": RENAMED.get(action, action)}


def pieces(recorded: Mapping[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """The requests to the log, the callbacks that came, and the exceptions thrown, without their texts."""
    error = recorded.get("error", "")
    kind = error.split(": ")[:2] if error.startswith("ESCAPES") else error.split(":")[:1]
    return recorded.get("io", []), recorded.get("callbacks", []), [": ".join(kind)] if error else []


def split(trace: tuple[str, ...]) -> tuple[list[str], list[str], list[str]]:
    thrown = [line for line in trace if line.startswith(("THROWS", "ESCAPES"))]
    callbacks = [line.removeprefix("CALLBACK ") for line in trace if line.startswith("CALLBACK")]
    return [line for line in trace if not line.startswith(("THROWS", "ESCAPES", "CALLBACK"))], callbacks, thrown


def traced(parts: tuple[list[str], list[str], list[str]]) -> dict[str, list[str]]:
    return dict(zip(("requests", "callbacks", "exceptions"), parts, strict=True))


def test_nothing_of_what_was_recorded_is_left_out_but_a_converter_with_schemas() -> None:
    assert (len(RECORDED["vectors"]), len(VECTORS), len(FOLDS)) == (113, 112, 150)


def cut(value: object) -> str:
    """A value as a failure shows it."""
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}... ({len(text)} characters)"


def differences(where: str, observed: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """A line for each field that was not observed as it was recorded."""
    return [
        f"{where}: {name} is {cut(observed.get(name, 'absent'))}, recorded was {cut(expected.get(name, 'absent'))}"
        for name in sorted({*observed, *expected})
        if name not in observed or name not in expected or observed[name] != expected[name]
    ]


def test_a_difference_names_the_step_and_the_field_and_is_short() -> None:
    observed, expected = {"offset": 1, "taskConfigs": "x" * 10_000}, {"offset": 1, "taskConfigs": "y", "applied": {}}
    missing, other = differences("step 3 (start)", observed, expected)
    assert missing == "step 3 (start): applied is 'absent', recorded was {}"
    assert other.startswith("step 3 (start): taskConfigs is 'xxx")
    assert other.endswith("... (10002 characters), recorded was 'y'")
    assert len(other) < 400


def test_the_names_of_a_thousand_million_tasks_are_not_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConfigSnapshot, "tasks", lambda _, __: range(1_661_992_959))
    read = {"op": "append", "offset": 0, "key": "connector-c", "value": '{"properties":{}}'}
    (_, started) = OurConfigStores().perform(StepSequence((read, {"op": "start"})))
    assert started.state["tasks()"] == {"c": ["1661992959 tasks"]}


@pytest.mark.parametrize("vector", [pytest.param(v, id=v["name"]) for v in VECTORS])
def test_each_step_has_the_recorded_effects(vector: Mapping[str, Any]) -> None:
    recorded = vector["steps"]
    steps = tuple(step_of(step) for step in recorded)
    if vector["started_before_first_step"]:
        steps = ({"op": "start"}, *steps)
    options = {"exactly_once": vector["exactly_once"], "partitions": 2 if "many partitions" in vector["name"] else 1}
    seen = OurConfigStores().perform(StepSequence(steps, options))[-len(recorded) or None :] if recorded else []
    state: dict[str, Any] = {}
    wrong: list[str] = []
    for number, (expected, observed) in enumerate(zip(recorded, seen, strict=True)):
        where = f"step {number} ({expected['action']})"
        state.update(expected.get("state_changes", {}))
        wrong += differences(where, traced(split(observed.trace)), traced(pieces(expected)))
        wrong += differences(where, {name: observed.state[name] for name in state}, state)
    if seen:
        wrong += differences("the end", seen[-1].state, vector["final"])
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("vector", [pytest.param(v, id=v["name"]) for v in FOLDS])
def test_a_random_log_is_folded_to_the_recorded_state(vector: Mapping[str, Any]) -> None:
    records = tuple({"op": "append", "offset": o, "key": k, "value": v} for o, k, v in vector["records"])
    last = OurConfigStores().perform(StepSequence((*records, {"op": "start"})))[-1]
    wrong = differences("the end", last.state, vector["final"])
    assert not wrong, "\n".join(wrong)
