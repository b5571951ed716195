"""Every planted defect of Kafka Connect is caught by the claim that it names, in a simulated group."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, FuzzSearch, Mutant
from rebalance_check.impl.mutants.connect import CONNECT_MUTANTS
from rebalance_check.impl.simulator import simulate
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.connect.catalogue import ConnectWorkers
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

FUZZED = [mutant for mutant in CONNECT_MUTANTS if isinstance(mutant.find, FuzzSearch)]


@pytest.mark.parametrize("mutant", FUZZED, ids=lambda mutant: str(mutant.name))
def test_a_mutant_is_caught_by_the_claim_that_it_names(mutant: Mutant) -> None:
    assert mutant.name in IMPL_MUTANTS
    assert isinstance(mutant.find, FuzzSearch)
    options = replace(mutant.find.options, mutant=mutant.name)
    claim = select([mutant.caught_by])
    seeds = range(mutant.find.first, mutant.find.last)
    verdicts = (judge(simulate(seed, options), claim).verdict(mutant.caught_by).outcome for seed in seeds)
    assert any(outcome is Outcome.VIOLATED for outcome in verdicts)


def test_every_claim_about_workers_is_named_by_a_mutant__or_has_a_reason() -> None:
    named = {mutant.caught_by for mutant in CONNECT_MUTANTS}
    assert {invariant.name for invariant in ConnectWorkers} - named == set(WITHOUT_A_MUTANT)


WITHOUT_A_MUTANT = {
    "work_stops_while_away": "simulated config topics can always be read in time",
    "producer_epochs_grow": "simulated workers have no transactional producers",
    "fenced_before_start": "simulated workers have no transactional producers",
    "fencing_fails_for_new_configs_only": "simulated workers have no transactional producers",
}
"""Claims that hand-made histories alone break, and why."""
