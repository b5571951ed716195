"""How soon the search for a mutant finds it: the seeds that it tries, and the processor time that this takes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from rebalance_check.commands import _mutant_search
from rebalance_check.impl.mutants import (
    AssignmentSearch,
    FuzzSearch,
    ModelSearch,
    Mutant,
    ScenarioSearch,
    planted,
)
from rebalance_check.impl.mutants.finds import Find
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.pipeline.scenario_runs import break_scenario
from rebalance_check.pipeline.seed_run import breaks
from rebalance_check.properties.catalogue import select


def first_find(mutant: Mutant) -> Find | None:
    """The search for a mutant up to its first find, without shrinking; None where it ends without one.

    A search of the model tries no seeds.
    """
    find, started = mutant.find, time.process_time()
    if isinstance(find, ModelSearch):
        seeds = 0 if _mutant_search.path_to(mutant, find) is not None else None
    elif isinstance(find, FuzzSearch):
        seeds = _seeds_until(range(find.first, find.last), _broken_by_run(mutant, find))
    else:
        with planted(mutant):
            seeds = _seeds_until(range(find.first, find.last), _broken_by_call(mutant, find))
    return None if seeds is None else Find(seeds, round(time.process_time() - started, 2))


def _seeds_until(seeds: range, breaks_claim: Callable[[int], bool]) -> int | None:
    """How many seeds are tried until one breaks the claim, that one with them."""
    return next((number for number, seed in enumerate(seeds, 1) if breaks_claim(seed)), None)


def _broken_by_run(mutant: Mutant, find: FuzzSearch) -> Callable[[int], bool]:
    options = replace(find.options, mutant=mutant.name)
    (invariant,) = select([mutant.caught_by])
    return lambda seed: breaks(seed, options, invariant) is not None


def _broken_by_call(mutant: Mutant, find: AssignmentSearch | ScenarioSearch) -> Callable[[int], bool]:
    """Whether the claim breaks where an assignor or a coordinator is called with what is drawn from a seed."""
    if isinstance(find, AssignmentSearch):
        return _mutant_search.assignment_breaks(mutant, find)
    (invariant,) = select([mutant.caught_by])
    return lambda seed: break_scenario(wide_scenario(seed), [invariant]) is not None


def finds_json(mutants: Iterable[Mutant]) -> str:
    """The finds of those that repeat a bug of the field, as ``impl/mutants/finds.json`` has them."""
    searched = [one for one in mutants if one.catalogue_id]
    found = {one.listed_name: first_find(one) for one in searched}
    rows = [f"  {json.dumps(name)}: {json.dumps([one.seeds, one.seconds])}" for name, one in found.items() if one]
    return "{\n" + ",\n".join(rows) + "\n}"
