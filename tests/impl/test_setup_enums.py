"""Members of enums in copies that are compiled: functions read them from names of their module, and say the same."""

import ast
import importlib.util
import inspect
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rebalance_check.model.vocabulary import apis
from rebalance_check.model.vocabulary.apis import Api

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rewriting() -> ModuleType:
    spec = importlib.util.spec_from_file_location("setup_enums", ROOT / "setup_enums.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SAMPLE = '''"""Ä."""

from __future__ import annotations

from enum import Enum

from rebalance_check.model.vocabulary.apis import Api


class Color(Enum):
    RED = 1
    BLUE = 2

    def other(self) -> Color:
        return Color.BLUE if self is Color.RED else Color.RED


FIRST = Api.HEARTBEAT


def asked(api: str, color: Color = Color.BLUE) -> str:
    """Ö."""
    name = lambda: "é" if api == Api.JOIN_GROUP else f"{Api.SYNC_GROUP}"
    match color:
        case Color.RED:
            return name() + str(api in {Api.JOIN_GROUP, Api.LEAVE_GROUP})
    return Api.HEARTBEAT.name + Api.__name__
'''


def test_functions_say_the_same__and_read_names_of_their_own(rewriting: Any) -> None:
    enums = rewriting.Enums(ROOT).visible_in(ast.parse(SAMPLE))

    text = rewriting.rewritten(SAMPLE, enums)

    before, after = dict[str, Any](__name__="before"), dict[str, Any](__name__="after")
    exec(SAMPLE, before)
    exec(text, after)
    for api in Api:
        for color in ("RED", "BLUE"):
            said = [each["asked"](api, each["Color"][color]) for each in (before, after)]
            assert said[0] == said[1]
    assert [one.name for one in map(after["Color"].other, after["Color"])] == ["BLUE", "RED"]
    assert "return _Color_BLUE if self is _Color_RED else _Color_RED" in text
    assert 'name = lambda: "é" if api == _Api_JOIN_GROUP else f"{Api.SYNC_GROUP}"' in text


def test_what_is_read_once__patterns_and_other_attributes_stay(rewriting: Any) -> None:
    text = rewriting.rewritten(SAMPLE, rewriting.Enums(ROOT).visible_in(ast.parse(SAMPLE)))

    for line in ("FIRST = Api.HEARTBEAT", "color: Color = Color.BLUE)", "case Color.RED:", "+ Api.__name__"):
        assert line in text


def test_the_members_of_an_enum_are_those_that_python_knows(rewriting: Any) -> None:
    defined = dict(rewriting.defined_in(ast.parse(inspect.getsource(apis))))

    assert defined == {"Api": frozenset(Api.__members__)}


@pytest.mark.nightly
def test_in_no_module_is_a_member_left_to_read_again(rewriting: Any, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "rebalance_check", tmp_path / "rebalance_check")
    paths, left, made = sorted((tmp_path / "rebalance_check").rglob("*.py")), [], 0

    rewriting.rewrite(paths, tmp_path)

    enums = rewriting.Enums(tmp_path)
    for path in paths:
        tree = ast.parse(path.read_text())
        made += path.read_text().count("\nfrom typing import Final\n_")
        left += [(path, *use) for use in rewriting.uses(tree, enums.visible_in(tree))]
    assert left == []
    assert made > 100
