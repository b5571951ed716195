"""Mutants of the models: defects switched on by name, each a one-line edit of a model's source.

A mutant proves that a claim can fail: exploring it in its bounds finds a shortest counterexample to exactly that claim.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.classic.mutants.core import CLASSIC_MUTANTS
from rebalance_check.model.classic.mutants.liveness import LIVENESS_MUTANTS
from rebalance_check.model.classic.mutants.new_members import NEW_MEMBER_MUTANTS
from rebalance_check.model.classic.mutants.static_membership import STATIC_MEMBER_MUTANTS
from rebalance_check.model.classic.mutants.timeouts import TIMEOUT_MUTANTS
from rebalance_check.model.classic.mutants.upgrades import UPGRADE_MUTANTS
from rebalance_check.model.connect.status.mutants import STATUS_MUTANTS
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MUTANTS: Final[dict[str, ModelMutant]] = {
    mutant.name: mutant
    for mutant in (
        *CLASSIC_MUTANTS,
        *TIMEOUT_MUTANTS,
        *STATIC_MEMBER_MUTANTS,
        *UPGRADE_MUTANTS,
        *NEW_MEMBER_MUTANTS,
        *LIVENESS_MUTANTS,
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
