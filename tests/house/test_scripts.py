"""The rules for scripts of pages: strict, short, headed by a comment, and never a history as markup or as code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "rebalance_check" / "report" / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
LINES, COLUMNS = 300, 140

MARKUP_OR_CODE = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc")
FROM_ELSEWHERE = re.compile(r"https?:|\bimport\b|//cdn")


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) > 5


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script__is_strict_short_and_headed(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"use strict";'
    assert lines[1].startswith("/* ")
    assert len(lines) < LINES
    assert [line for line in lines if len(line) > COLUMNS] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script__makes_no_markup_of_text__and_loads_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert MARKUP_OR_CODE.findall(text) == []
    assert FROM_ELSEWHERE.findall(text) == []


def test_the_rules_see_what_they_forbid() -> None:
    assert MARKUP_OR_CODE.search("row.innerHTML = name")
    assert FROM_ELSEWHERE.search('import { x } from "https://cdn"')
