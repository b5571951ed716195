"""`tox list` shows the environments that there are: no line of a description reads as a factor with a colon."""

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FACTOR = re.compile(r"^(?P<factor>[\w {}.!,-]+):\s+(?P<content>.*)")
"""How tox reads ``py311: value``, also inside a description (tox.config.loader.ini.factor)."""


def settings() -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    parser.read_string((ROOT / "tox.ini").read_text(encoding="utf-8"))
    return {name: dict(parser[name]) for name in parser.sections()}


def test_no_description_makes_an_environment_of_its_first_word() -> None:
    found = {name: values["description"] for name, values in settings().items() if "description" in values}
    assert len(found) > 5
    assert {name: text for name, text in found.items() if FACTOR.match(text)} == {}


def test_the_rule_sees_what_it_forbids() -> None:
    assert FACTOR.match("ruff: rules and format")
    assert not FACTOR.match("the suites on HOST:PORT")


def test_every_environment_says_what_it_is_for() -> None:
    named = {name for name in settings() if name.startswith("testenv")}
    assert {name for name in named if not settings()[name].get("description")} == set()


MARKED = ("brokers", "virtual", "oracle", "clients", "browser", "spark")
"""Environments that collect the tests with one marker, and only in the folders that have such tests."""


def collected(environment: str) -> tuple[str, set[str], list[str]]:
    """The marker of an environment's tests, the markers of those that it leaves to others, and its folders."""
    command = settings()[f"testenv:{environment}"]["commands"].replace("{tox_root}{/}", "").replace("{/}", "/")
    [wanted] = re.findall(r'-m (\w+|"[^"]*")', command)
    first, *others = re.sub(r'"', "", wanted).split(" and ")
    return first, {other.removeprefix("not ") for other in others}, re.findall(r"\btests(?:/\w+)*", command)


@pytest.mark.parametrize("environment", MARKED)
def test_an_environment_collects_each_file_that_has_its_marker(environment: str) -> None:
    marker, left_out, folders = collected(environment)
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if has_mark(path, marker)]
    missed = [path for path in marked if not any(path.is_relative_to(ROOT / folder) for folder in folders)]
    assert folders
    assert marked
    assert [str(path) for path in missed if not any(has_mark(path, other) for other in left_out)] == []


def has_mark(path: Path, marker: str) -> bool:
    return re.search(rf"\bmark\.{marker}\b", path.read_text(encoding="utf-8")) is not None
