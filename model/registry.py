"""Mutants of the models: defects switched on by name, each a one-line edit of a model's source.

A mutant proves that a claim can fail: exploring it in its bounds finds a shortest counterexample to exactly that claim.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.classic.mutants.core import CLASSIC_MUTANTS
from rebalance_check.model.classic.mutants.liveness import PROGRESS_MUTANTS
from rebalance_check.model.classic.mutants.new_members import NEWCOMER_MUTANTS
from rebalance_check.model.classic.mutants.static_membership import STATIC_MUTANTS
from rebalance_check.model.classic.mutants.timeouts import TIMER_MUTANTS
from rebalance_check.model.classic.mutants.upgrades import VOTING_MUTANTS
from rebalance_check.model.connect.status.mutants import STATUS_MUTANTS
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MUTANTS: Final[dict[str, ModelMutant]] = {
    mutant.name: mutant
    for mutant in (
        *CLASSIC_MUTANTS,
        *TIMER_MUTANTS,
        *STATIC_MUTANTS,
        *VOTING_MUTANTS,
        *NEWCOMER_MUTANTS,
        *PROGRESS_MUTANTS,
        *STATUS_MUTANTS,
    )
}
"""Every mutant of a model, by name."""


def mutant_named(name: str) -> ModelMutant:
    """The mutant of this name; `RebalanceCheckError` lists the names when there is none."""
    if name not in MUTANTS:
        raise RebalanceCheckError(
            f"there is no mutant {name!r} of the model: choose one of {', '.join(sorted(MUTANTS))}"
        )
    return MUTANTS[name]
