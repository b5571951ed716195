"""Each statement about Connect has the test that shows it, or the reason why none does.

The statements stand in tests/data/connect/statements.txt.
"""

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
STATEMENTS = ROOT / "tests" / "data" / "connect" / "statements.txt"

SECTIONS = {
    "coordination": "Groups of workers, assignors, herder",
    "status": "The status store",
    "config": "The config store and the leader's duties",
}


class Statement(NamedTuple):
    """A statement by its section and item; ``test`` is empty where ``reason`` says why nothing shows it."""

    number: str
    text: str
    test: str
    reason: str


def read(text: str) -> dict[str, list[Statement]]:
    """The statements of each part, in their order."""
    files, parts = dict[str, str](), dict[str, list[Statement]]()
    for line in text.splitlines():
        if line.startswith("@"):
            short, _, path = line[1:].partition(" ")
            files[short] = path
        elif line.startswith("== "):
            parts[line[3:]] = []
        elif line and not line.startswith("#"):
            number, said, shown = (cell.strip() for cell in line.split(" | "))
            short, _, name = shown.partition(":")
            test = "" if shown.startswith("- ") else f"{files[short]}::{name}"
            list(parts.values())[-1].append(Statement(number, said, test, shown[2:] if not test else ""))
    return parts


@cache
def named_in(path: str) -> set[str]:
    """The names of the tests in a file below ``tests/``."""
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.fixture(scope="module")
def parts() -> dict[str, list[Statement]]:
    return read(STATEMENTS.read_text(encoding="utf-8"))


def test_every_test_that_the_page_names_exists(parts: dict[str, list[Statement]]) -> None:
    assert missing_tests(parts) == []


def missing_tests(parts: dict[str, list[Statement]]) -> list[str]:
    """The named tests that are in no file, or lack the named case."""
    named = sorted({each.test for statements in parts.values() for each in statements if each.test})
    return [test for test in named if not exists(*test.partition("::")[::2])]


def exists(path: str, test: str) -> bool:
    """Whether the file has the test, and the test the case: its id, its first word, or a part of it between colons."""
    name, _, case = test.partition("[")
    if name not in named_in(path):
        return False
    return not case or any(case[:-1] in (each, each.split(" ")[0], *each.split(": ")) for each in cases_of(path, name))


def cases_of(path: str, name: str) -> Iterator[str]:
    """The ids of the cases of a test, by each of its ``parametrize`` marks."""
    module = import_module("tests." + path.removesuffix(".py").replace("/", "."))
    for mark in getattr(getattr(module, name), "pytestmark", ()):
        if mark.name == "parametrize":
            ids = mark.kwargs.get("ids")
            for place, value in enumerate(mark.args[1]):
                yield id_of(value) if ids is None else ids(value) if callable(ids) else ids[place]


def id_of(value: Any) -> str:
    """The id of a case as pytest makes it of names and numbers; "" for others, which cannot be named."""
    given = getattr(value, "id", None)
    values = value if isinstance(value, tuple) else (value,)
    if isinstance(given, str):
        return given
    return "-".join(map(str, values)) if all(isinstance(one, str | int) for one in values) else ""


def test_a_test_that_vanishes_is_noticed() -> None:
    gone = read("@mw model/test_mutants.py\n== config\n1 | a statement | mw:test_that_is_not_there\n")
    assert missing_tests(gone) == ["model/test_mutants.py::test_that_is_not_there"]


def test_a_case_that_vanishes_is_noticed() -> None:
    named = "properties/test_connect_claims.py::test_one_wrong_step_breaks_the_claim"
    text = "@pc properties/test_connect_claims.py\n== config\n1 | a statement | pc:test_one_wrong_step_breaks_the_claim"
    assert missing_tests(read(f"{text}[two runners]\n")) == []
    assert missing_tests(read(f"{text}[six runners]\n")) == [f"{named}[six runners]"]


def test_every_part_has_its_statements__each_once(parts: dict[str, list[Statement]]) -> None:
    assert list(parts) == list(SECTIONS)
    for statements in parts.values():
        numbers = [each.number for each in statements]
        assert len(numbers) == len(set(numbers)) > 40
        assert all(each.text and (each.test or each.reason) for each in statements)
