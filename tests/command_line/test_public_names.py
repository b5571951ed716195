"""The public names: each is exported once, exists, is documented, and is cheap to have."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version
from types import ModuleType

import pytest

import rebalance_check
from rebalance_check import CATALOGUE, Invariant
from rebalance_check.model.vocabulary.events import EVENT_TYPES


def test_each_name__is_exported_once_and_sorted() -> None:
    assert len(set(rebalance_check.__all__)) == len(rebalance_check.__all__)
    assert rebalance_check.__all__ == sorted(rebalance_check.__all__) == dir(rebalance_check)


def test_nothing_else__is_public() -> None:
    public = {
        name
        for name, value in vars(rebalance_check).items()
        if not name.startswith("_") and (not isinstance(value, ModuleType) or name == "events")
    }
    assert public <= set(rebalance_check.__all__)


def test_each_event__is_public() -> None:
    assert {name: getattr(rebalance_check, name) for name in EVENT_TYPES} == EVENT_TYPES


def test_the_version__stands_in_one_place() -> None:
    assert rebalance_check.__version__ == version("rebalance-check")


def test_the_module__runs_as_the_command() -> None:
    line = [sys.executable, "-m", "rebalance_check", "--version"]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert said == f"rebalance-check, version {rebalance_check.__version__}\n"


@pytest.mark.parametrize("name", rebalance_check.__all__)
def test_each_name__is_documented(name: str) -> None:
    value = getattr(rebalance_check, name)
    if isinstance(value, Invariant):
        assert value.claim
        assert value.premises
    elif not isinstance(value, tuple):
        assert inspect.getdoc(value)


def test_each_invariant_of_the_catalogue__is_public_or_in_a_public_family() -> None:
    public = {id(getattr(rebalance_check, name)) for name in rebalance_check.__all__}
    family = {id(invariant) for invariant in rebalance_check.WireClaims}
    assert [i.name for i in CATALOGUE if id(i) not in public | family] == []


def test_the_import__is_cheap() -> None:
    script = "import sys, rebalance_check; print(len(sys.modules), 'asyncio' in sys.modules, 'rich' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert int(said[0]) < 250
    assert said[1:] == ["False", "False"]
