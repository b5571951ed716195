"""Every planted defect of the status store is caught by the claim that it names, and the clean store by none."""

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.properties.judge import judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.laws import status
from rebalance_check.properties.verdict import Outcome


def judged(seed: int, mutant: str = "", steps: int = 12) -> Judgement:
    options = SimulationOptions(protocol=SimulatedProtocol.STATUS, steps=steps, mutant=mutant)
    return judge(simulate(seed, options), status.LAWS)


STATUS_MUTANTS = [
    mutant
    for mutant in IMPL_MUTANTS.values()
    if isinstance(mutant.find, FuzzSearch) and mutant.find.options.protocol is SimulatedProtocol.STATUS
]


@pytest.mark.parametrize("mutant", STATUS_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_the_claim_that_it_names(mutant: Mutant) -> None:
    assert isinstance(mutant.find, FuzzSearch)
    seeds = range(mutant.find.first, mutant.find.last)
    caught = (judged(seed, mutant.name, mutant.find.options.steps).verdict(mutant.caught_by).outcome for seed in seeds)
    assert any(outcome is Outcome.VIOLATED for outcome in caught)


def test_a_clean_store_violates_nothing() -> None:
    for seed in range(40):
        judgement = judged(seed)
        judgement.check()
        assert judgement.outcome is Outcome.HELD, seed
