"""What is known about a mutant of a model.

A mutant answers the question whether a claim could fail at all: a claim that no mutant breaks may be vacuous. Its
``bounds`` are small, so that a test can explore every mutant. `model.registry.MUTANTS` has them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMutant:
    """A defect: what it does, the ``catalogue`` id of a real bug like it ("" if none), and the claim that catches it
    when ``bounds`` are explored; ``liveness`` where that is a liveness property."""

    name: str
    what: str
    edit: Edit
    caught_by: str
    bounds: Bounds
    catalogue: str = ""
    liveness: bool = False
