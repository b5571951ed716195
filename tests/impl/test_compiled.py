"""A judge that is compiled finds what the one of Python finds; mutants are planted in Python in either case."""

import ast
import os
from pathlib import Path
from typing import Any

from rebalance_check.impl.mutants import IMPL_MUTANTS
from rebalance_check.impl.mutants.planting import edited_code
from rebalance_check.properties import judge as judging

ROOT = Path(__file__).parents[2]
SETUP = ROOT / "setup.py"


def constant(name: str) -> Any:
    """What setup.py says, which runs a build when it is imported."""
    for node in ast.parse(SETUP.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"setup.py has no {name}")


def test_the_judge_is_compiled_where_that_was_asked_for() -> None:
    is_compiled = not str(judging.__file__).endswith(".py")
    assert is_compiled == (os.environ.get("REBALANCE_CHECK_COMPILE") == "1"), judging.__file__


def test_what_mutants_edit_is_python() -> None:
    edited = {function.__module__ for mutant in IMPL_MUTANTS.values() for function, _ in edited_code(mutant)}
    assert all(name.startswith("rebalance_check.impl.") for name in edited), sorted(edited)
    assert not any(pattern.startswith("impl/") for pattern in constant("COMPILED"))


def test_what_is_to_be_compiled_is_there() -> None:
    found = {pattern: sorted(ROOT.glob(pattern)) for pattern in constant("COMPILED")}
    assert [pattern for pattern, paths in found.items() if not paths] == []


def test_what_is_open_to_python_classes_is_a_class_of_a_compiled_module() -> None:
    for name, classes in constant("OPEN").items():
        defined = [node.name for node in ast.parse((ROOT / name).read_text()).body if isinstance(node, ast.ClassDef)]
        assert set(classes) <= set(defined)
        assert name in constant("COMPILED")
