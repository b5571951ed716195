"""The page on JSON output shows what the commands print: the same keys, and values of the same types."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest

from rebalance_check.cli import COMMANDS, run
from rebalance_check.model.vocabulary.bounds import Bounds
from tests.expectations import HINT, Expectations

PAGE: Final = Path(__file__).parents[2] / "docs" / "json.md"
EXAMPLE: Final = re.compile(
    r"^```sh\n(rebalance-check [^\n]* --json)\n```\n\n```json\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
FILE: Final = re.compile(r"^<!-- file: (\S+) -->\n```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAPS: Final = frozenset(
    {"verdicts", "claims", "reachable", "actions", "cells", "diffs", "properties", "latency_by_cause"}
)
"""Keys of objects whose own keys are names: of claims, of states and steps, of members, of mutants, of fields."""
LONGEST: Final = 100
"""So many characters of a text are shown."""

COMMAND_LINES: Final = [command for command, _ in EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))]


def shape(value: Any, key: str = "") -> Any:
    """Keys and types: of a list, and of a map, the forms of its values, each once."""
    if isinstance(value, dict) and key in MAPS:
        return {"any name": forms(list(value.values()))}
    if isinstance(value, dict):
        return {name: shape(inner, name) for name, inner in sorted(value.items())}
    if isinstance(value, list):
        return forms(value)
    return {bool: "boolean", int: "number", float: "number", str: "text", type(None): "null"}[type(value)]


def forms(values: list[Any]) -> list[Any]:
    """The different shapes of these values."""
    found = {json.dumps(shape(value)): shape(value) for value in values if value != "..."}
    return [found[text] for text in sorted(found)]


def shortened(value: Any, key: str = "") -> Any:
    """The value as the page shows it: one entry of each form of a list or map, and no long text."""
    if isinstance(value, dict):
        names = firsts(value) if key in MAPS else dict.fromkeys(value)
        rest = {"...": "..."} if len(names) < len(value) else {}
        return {name: shortened(value[name], name) for name in names} | rest
    if isinstance(value, list):
        return [shortened(value[place]) for place in firsts(dict(enumerate(value)))]
    if isinstance(value, str) and len(value) > LONGEST:
        return value[:LONGEST] + "..."
    return value


def firsts(values: dict[Any, Any]) -> dict[Any, None]:
    """The first key of each form of value, in order."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found.setdefault(json.dumps(shape(value)), key)
    return dict.fromkeys(found.values())


@pytest.fixture
def small_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """`rebalance-check run` at the smallest bounds, interpreted and without Java: the same keys, in seconds."""
    job = importlib.import_module("rebalance_check.commands.run")
    monkeypatch.setattr(job, "java_available", lambda: False)
    monkeypatch.setattr(job, "find_spec", lambda name: None if name == "llvmlite" else object())
    small = [Bounds(protocol=b.protocol, members=2, partitions=1, generations=2, writes=1) for b in job.EXPLORED]
    monkeypatch.setattr(job, "EXPLORED", tuple(small))


@pytest.mark.usefixtures("small_job")
@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_command_prints_the_keys_and_types_that_the_page_shows(
    line: str,
    expectations: Expectations,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    for name, text in FILE.findall(page):
        (tmp_path / name).write_text(text, encoding="utf-8")
    code = run(shlex.split(line)[1:])
    printed = json.loads(capfd.readouterr().out)
    shown = json.loads(dict(EXAMPLE.findall(page))[line])
    assert printed["exit_code"] == code
    if expectations.update and shape(shown) != shape(printed):
        answer = json.dumps(shortened(printed), indent=2, ensure_ascii=False)
        begin = page.index("```json\n", page.index(line)) + len("```json\n")
        end = page.index("\n```", begin - 1) + 1
        expectations.text(PAGE, f"{page[:begin]}{answer}\n{page[end:]}")
        return
    assert shape(shown) == shape(printed), HINT


def test_the_page_has_an_example_of_each_command() -> None:
    assert {shlex.split(line)[1] for line in COMMAND_LINES} == set(COMMANDS)


def test_a_difference_is_seen() -> None:
    shown = {"verdicts": {"a": {"verdict": "held"}, "...": "..."}, "runs": [{"seed": 1, "text": None}]}
    same = {
        "verdicts": {"b": {"verdict": "held"}, "c": {"verdict": "violated"}},
        "runs": [{"seed": 2, "text": None}] * 2,
    }
    assert shape(shown) == shape(same)
    assert shape(shown) != shape(same | {"more": 1})
    assert shape(shown) != shape(same | {"runs": [{"seed": "2", "text": None}]})
    assert shape(shown) != shape(same | {"verdicts": {"b": {"verdict": "held", "checked_events": 3}}})
