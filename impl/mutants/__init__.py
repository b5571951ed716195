"""Mutants, each an edit of the source and each caught by the invariant it names.

The implementation knows nothing of them: a mutant says which text of which function becomes which (`edits`), and
`planted` lets the edited code run for a while. Mutants of the model are edits of its source, too (`model.registry`);
`MUTANTS` lists both kinds, and ``rebalance-check mutants NAME --diff`` shows one.
"""

from __future__ import annotations

from rebalance_check.impl.mutants.mutant import (
    AssignmentSearch,
    FuzzSearch,
    ModelSearch,
    Mutant,
    ScenarioSearch,
)
from rebalance_check.impl.mutants.planting import implementation_mutant, planted
from rebalance_check.impl.mutants.registry import IMPL_MUTANTS, MUTANTS, find_mutant

__all__ = [
    "IMPL_MUTANTS",
    "MUTANTS",
    "AssignmentSearch",
    "FuzzSearch",
    "ModelSearch",
    "Mutant",
    "ScenarioSearch",
    "find_mutant",
    "implementation_mutant",
    "planted",
]
