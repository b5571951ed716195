"""``rebalance-check mutants NAME --diff`` prints the edits of a mutant, of either kind, as a unified diff."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS
from rebalance_check.model.registry import MUTANTS as MODEL_MUTANTS

Command = Callable[..., Any]


def test_a_mutant_of_the_implementation_with_two_edits(command: Command, golden: Callable[[str, str], None]) -> None:
    answer = command("mutants", "config-mismatch-ignored", "--diff")
    assert answer.code == 0
    golden("config-mismatch-ignored.diff", answer.out)


@pytest.mark.parametrize("name", MODEL_MUTANTS)
def test_a_mutant_of_the_model(command: Command, name: str) -> None:
    (diff,) = command("mutants", f"model/{name}", "--diff", "--json").document["diffs"].values()
    edit = MODEL_MUTANTS[name].edit
    _header, *body = diff.split("\n@@ ")
    changed = [line for hunk in body for line in hunk.splitlines() if line.startswith(("-", "+"))]
    assert diff.startswith(f"--- a/{edit.module.removeprefix('rebalance_check.').replace('.', '/')}.py\n")
    assert changed
    added = [line for line in edit.new.splitlines() if line not in edit.old.splitlines()]
    assert all(any(line in one for one in changed if one.startswith("+")) for line in added)


def test_every_mutant_of_the_implementation_has_a_diff(command: Command) -> None:
    diffs = command("mutants", *IMPL_MUTANTS, "--diff", "--json").document["diffs"]
    assert diffs.keys() == IMPL_MUTANTS.keys()
    assert all(diff.startswith("--- a/impl/") and "\n@@ " in diff for diff in diffs.values())
