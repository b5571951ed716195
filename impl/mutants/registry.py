"""The list of planted defects, and the look-up by name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from rebalance_check.impl.mutants.assignors import ASSIGNOR_MUTANTS
from rebalance_check.impl.mutants.client import CLIENT_MUTANTS
from rebalance_check.impl.mutants.client_claims import CLIENT_CLAIM_MUTANTS
from rebalance_check.impl.mutants.coordinator import COORDINATOR_MUTANTS
from rebalance_check.impl.mutants.coordinator_claims import CLAIM_MUTANTS
from rebalance_check.impl.mutants.mutant import ModelSearch, Mutant
from rebalance_check.impl.mutants.status import STATUS_MUTANTS
from rebalance_check.impl.mutants.upgrade import UPGRADE_MUTANTS
from rebalance_check.model.registry import MUTANTS as MODEL_MUTANTS
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def _by_name(mutants: Iterable[Mutant]) -> dict[str, Mutant]:
    """The mutants by name, sorted; a name that stands twice is our own mistake and stops the import."""
    found: dict[str, Mutant] = {}
    for mutant in sorted(mutants, key=lambda mutant: mutant.name):
        if mutant.name in found:
            raise ValueError(f"two mutants are called {mutant.name!r}: rename one")
        found[mutant.name] = mutant
    return found


IMPL_MUTANTS: Final = _by_name(
    [
        *COORDINATOR_MUTANTS,
        *CLAIM_MUTANTS,
        *CLIENT_MUTANTS,
        *CLIENT_CLAIM_MUTANTS,
        *ASSIGNOR_MUTANTS,
        *STATUS_MUTANTS,
        *UPGRADE_MUTANTS,
    ]
)
"""The defects of the implementation, found by fuzzing."""


def _of_the_model() -> list[Mutant]:
    """The mutants of the models, in the form of this list."""
    return [
        Mutant(
            name=mutant.name,
            what=mutant.what,
            caught_by=mutant.caught_by,
            where="model",
            find=ModelSearch(bounds=mutant.bounds, progress=mutant.progress),
            catalogue_id=mutant.catalogue,
        )
        for mutant in MODEL_MUTANTS.values()
    ]


MUTANTS: Final = {
    **{f"model/{name}": mutant for name, mutant in _by_name(_of_the_model()).items()},
    **IMPL_MUTANTS,
}
"""All planted defects: those of the implementation by name, those of the model by ``model/`` and their name.

One defect may be planted in both, under one name: `explore --mutant` finds the one, `fuzz --mutant` the other.
"""


def find_mutant(name: str) -> Mutant:
    """The mutant of that name, of the implementation if it has one; `RebalanceCheckError` lists the names."""
    found = IMPL_MUTANTS.get(name) or MUTANTS.get(f"model/{name}") or MUTANTS.get(name)
    if found is not None:
        return found
    close = get_close_matches(name, MUTANTS, n=1)
    hint = f"did you mean {close[0]!r}? The" if close else "choose one of these: the"
    raise RebalanceCheckError(f"no mutant is called {name!r}: {hint} names are {', '.join(MUTANTS)}")


def defects_of(name: str) -> frozenset[str]:
    """What the components of a run take as ``defects``: nothing for the empty name, else that one mutant.

    Raises `RebalanceCheckError` when there is no such mutant, or when it is one of the model, which no fuzzing finds.
    """
    if not name:
        return frozenset()
    mutant = find_mutant(name)
    if mutant.where == "model":
        raise RebalanceCheckError(f"{name!r} is a mutant of the model: find it with '{mutant.command}'")
    return frozenset({name})
