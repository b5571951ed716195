"""`tox list` shows the environments that there are: no line of a description reads as a factor with a colon."""

import configparser
import re
from pathlib import Path

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
