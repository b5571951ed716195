"""The list of mutants, and the look-up by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from rebalance_check.impl.mutants.assignors import ASSIGNOR_MUTANTS
from rebalance_check.impl.mutants.client import CLIENT_MUTANTS
from rebalance_check.impl.mutants.client_claims import CLIENT_CLAIM_MUTANTS
from rebalance_check.impl.mutants.configs import CONFIG_MUTANTS
from rebalance_check.impl.mutants.connect import CONNECT_MUTANTS
from rebalance_check.impl.mutants.connect_assignors import CONNECT_ASSIGNOR_MUTANTS
from rebalance_check.impl.mutants.contract import CONTRACT_MUTANTS
from rebalance_check.impl.mutants.coordinator import COORDINATOR_MUTANTS
from rebalance_check.impl.mutants.coordinator_claims import CLAIM_MUTANTS
from rebalance_check.impl.mutants.edits import EDITS
from rebalance_check.impl.mutants.group_claims import GROUP_CLAIM_MUTANTS
from rebalance_check.impl.mutants.mutant import ModelSearch, Mutant
from rebalance_check.impl.mutants.need import NEED_MUTANTS
from rebalance_check.impl.mutants.status import STATUS_MUTANTS
from rebalance_check.impl.mutants.upgrade import UPGRADE_MUTANTS
from rebalance_check.impl.mutants.worker_duties import WORKER_DUTY_MUTANTS
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


_KNOWN: Final = _by_name(
    [
        *COORDINATOR_MUTANTS,
        *CLAIM_MUTANTS,
        *CLIENT_MUTANTS,
        *CLIENT_CLAIM_MUTANTS,
        *NEED_MUTANTS,
        *CONTRACT_MUTANTS,
        *GROUP_CLAIM_MUTANTS,
        *WORKER_DUTY_MUTANTS,
        *ASSIGNOR_MUTANTS,
        *CONNECT_ASSIGNOR_MUTANTS,
        *STATUS_MUTANTS,
        *CONNECT_MUTANTS,
        *CONFIG_MUTANTS,
        *UPGRADE_MUTANTS,
    ]
)
IMPL_MUTANTS: Final = {name: replace(mutant, edits=EDITS[name]) for name, mutant in _KNOWN.items()}
"""The mutants of the implementation, each with its edits."""


def _of_the_model() -> list[Mutant]:
    """The mutants of the models, in the form of this list."""
    return [
        Mutant(
            name=mutant.name,
            what=mutant.what,
            caught_by=mutant.caught_by,
            where="model",
            find=ModelSearch(bounds=mutant.bounds, liveness=mutant.liveness),
            catalogue_id=mutant.catalogue,
        )
        for mutant in MODEL_MUTANTS.values()
    ]


MUTANTS: Final = {
    **{f"model/{name}": mutant for name, mutant in _by_name(_of_the_model()).items()},
    **IMPL_MUTANTS,
}
"""All mutants: those of the implementation by name, those of the model by ``model/`` and their name.

One defect may be planted in both, under one name: `explore --mutant` finds the one, `fuzz --mutant` the other.
"""


def find_mutant(name: str) -> Mutant:
    """The mutant of that name, of the implementation if it has one.

    Raises `RebalanceCheckError`, which lists the names, when there is none.
    """
    found = IMPL_MUTANTS.get(name) or MUTANTS.get(f"model/{name}") or MUTANTS.get(name)
    if found is not None:
        return found
    close = get_close_matches(name, MUTANTS, n=1)
    hint = f"did you mean {close[0]!r}? The" if close else "choose one of these: the"
    raise RebalanceCheckError(f"no mutant is called {name!r}: {hint} names are {', '.join(MUTANTS)}")
