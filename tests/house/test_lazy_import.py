"""Importing the package imports nothing but the standard library; each public name is there when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rebalance_check

HEAVY = ("numpy", "kafka", "hypothesis", "click", "rich", "msgspec", "networkx", "llvmlite")


def test_the_package_alone_imports_nothing_heavy() -> None:
    script = f"import sys, rebalance_check; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", rebalance_check.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(rebalance_check, name) is not None
    assert name in dir(rebalance_check)


@pytest.mark.parametrize("name", ["no_such_name", "__path_of__"])
def test_a_name_that_is_none_is_refused_like_any_attribute(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'rebalance_check' has no attribute '{name}'"):
        getattr(rebalance_check, name)
