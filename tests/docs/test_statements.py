"""Each statement of the documents has the test that shows it, or the reason why none does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from tests.docs.statements import DOCUMENTS, RowError, Statement, document, page, read

ROOT = Path(__file__).parents[2]
WITHOUT_FUNCTIONS = {"connect"}


def rows(name: str) -> list[Statement]:
    return [statement for statements in document(name).values() for statement in statements]


@cache
def named_in(path: str) -> set[str]:
    """The names of the tests in a file below ``tests/``."""
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def missing_tests(statements: list[Statement]) -> list[str]:
    """The named tests that are in no file, or lack the named case."""
    named = sorted({each.test for each in statements if each.test})
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


def missing_functions(statements: list[Statement]) -> list[str]:
    """The named functions, or attributes of classes, that the package does not have."""
    return sorted({name for each in statements for name in each.functions if not is_there(name)})


def is_there(function: str) -> bool:
    module, _, path = function.partition(":")
    try:
        attrgetter(path)(import_module(f"rebalance_check.{module}"))
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_test_and_function_that_a_row_names_exists(name: str) -> None:
    assert missing_tests(rows(name)) == []
    assert missing_functions(rows(name)) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_section_has_statements__each_once__with_a_test_or_a_reason(name: str) -> None:
    assert all(document(name).values())
    numbers = [f"{section} {each.number}" for section, statements in document(name).items() for each in statements]
    assert len(numbers) == len(set(numbers)) > 50
    assert all(each.text and (each.test or each.reason) for each in rows(name))
    assert all(each.functions or each.reason or name in WITHOUT_FUNCTIONS for each in rows(name))


def test_a_test_that_vanishes_is_noticed() -> None:
    (gone,) = read("@mw model/test_mutants.py\n== config\n1 | a statement | mw:test_that_is_not_there\n").values()
    assert missing_tests(gone) == ["model/test_mutants.py::test_that_is_not_there"]


def test_a_case_that_vanishes_is_noticed() -> None:
    named = "properties/test_connect_claims.py::test_one_wrong_step_breaks_the_claim"
    text = "@pc properties/test_connect_claims.py\n== config\n1 | a statement | pc:test_one_wrong_step_breaks_the_claim"
    assert missing_tests(read(f"{text}[two runners]\n")["config"]) == []
    assert missing_tests(read(f"{text}[six runners]\n")["config"]) == [f"{named}[six runners]"]


def test_a_function_that_vanishes_is_noticed() -> None:
    text = "@mw model/test_mutants.py\n== a\n1 | a statement | impl.client.core:CoordinatorCore.{} | mw:test_x\n"
    assert missing_functions(read(text.format("receive"))["a"]) == []
    assert missing_functions(read(text.format("recieve"))["a"]) == ["impl.client.core:CoordinatorCore.recieve"]


@pytest.mark.parametrize(
    ("row", "said"), [("1 | a | b | c | d", "5 cells"), ("1 | a", "2 cells"), ("1 | a | b:test", "file 'b'")]
)
def test_a_row_that_cannot_be_read_says_why(row: str, said: str) -> None:
    with pytest.raises(RowError, match=said):
        read(f"== section\n{row}\n")


def test_a_page_shows_statement_function_and_test() -> None:
    shown = page("connect")
    assert shown.startswith("# Kafka Connect")
    assert all(each.text in shown and (each.test or each.reason) in shown for each in rows("connect"))
