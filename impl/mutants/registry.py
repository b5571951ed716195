"""The list of mutants, and the look-up by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib.resources import files
from typing import Final

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.mutant import ModelSearch, Mutant, find_written
from rebalance_check.model.checker.mutant import rows_of
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


_IMPL: Final = "rebalance_check.impl."


def _of_the_table(name: str) -> Iterator[Mutant]:
    """The mutants in the file ``<name>.mutants`` of this package."""
    table = files("rebalance_check.impl.mutants").joinpath(f"{name}.mutants").read_text(encoding="utf-8")
    for row in rows_of(table):
        yield Mutant(
            name=row.name,
            what=row.what,
            caught_by=row.caught_by,
            where="impl",
            find=find_written(row.find),
            catalogue_id=row.catalogue,
            edits=tuple(Edit(_IMPL + function, old, new) for function, old, new in row.edits),
        )


IMPL_MUTANTS: Final = _by_name(
    mutant for table in ("coordinator", "client", "connect", "assignors") for mutant in _of_the_table(table)
)
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
