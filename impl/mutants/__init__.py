"""Planted defects, each switched on by name and each caught by the invariant it names.

A component of the implementation takes ``defects: frozenset[str] = frozenset()``; the one line that a mutant breaks
reads ``if "the-name" in self.defects``, so the defect stands beside the rule it breaks and nowhere else (a test holds
every name to exactly one place). Mutants of the model are one-line edits of its source (`model.registry`); `MUTANTS`
lists both kinds.
"""

from __future__ import annotations

from rebalance_check.impl.mutants.mutant import (
    AssignmentSearch,
    FuzzSearch,
    ModelSearch,
    Mutant,
    PytestCase,
    ScenarioInvariantSearch,
    ScenarioPropertySearch,
)
from rebalance_check.impl.mutants.registry import IMPL_MUTANTS, MUTANTS, defects_of, find_mutant

__all__ = [
    "IMPL_MUTANTS",
    "MUTANTS",
    "AssignmentSearch",
    "FuzzSearch",
    "ModelSearch",
    "Mutant",
    "PytestCase",
    "ScenarioInvariantSearch",
    "ScenarioPropertySearch",
    "defects_of",
    "find_mutant",
]
