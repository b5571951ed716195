"""Mutants of the models: defects switched on by name, each a one-line edit of a model's source.

A mutant proves that a claim can fail: exploring it in its bounds finds a shortest counterexample to exactly that claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.bounds import Bounds
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.model.specification import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMutant:
    """A defect: what it does, the ``catalogue`` id of a real bug like it ("" if none), and the claim that catches it
    when ``bounds`` are explored."""

    name: str
    what: str
    edit: Edit
    caught_by: str
    bounds: Bounds
    catalogue: str = ""


MUTANTS: Final[dict[str, ModelMutant]] = {}
"""Every mutant of a model, by name."""


def mutant_named(name: str) -> ModelMutant:
    """The mutant of this name; `RebalanceCheckError` lists the names when there is none."""
    if name not in MUTANTS:
        raise RebalanceCheckError(
            f"there is no mutant {name!r} of the model: choose one of {', '.join(sorted(MUTANTS))}"
        )
    return MUTANTS[name]
