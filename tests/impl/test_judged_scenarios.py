"""What the coordinator tells of itself while scenarios are told to it, judged by every invariant there is.

The mutants are those that a simulated group makes up for, or never meets; random scenarios find them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rebalance_check.commands import _mutant_search
from rebalance_check.impl.mutants import IMPL_MUTANTS, ScenarioInvariantSearch, planted
from rebalance_check.impl.scenarios import Scenario, history_of
from rebalance_check.impl.scenarios.random_scenarios import random_scenario
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Counterexample
from tests.expectations import scenario_files, scenario_parameters

JUDGED = [mutant.name for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, ScenarioInvariantSearch)]


def broken(scenario: Scenario | list[str], names: Sequence[str] = ()) -> list[Counterexample]:
    return list(judge(history_of(scenario), select(names)).counterexamples)


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("coordinator"))
def test_a_scenario_breaks_no_invariant(path: Path, scenario: Scenario) -> None:
    assert broken(scenario) == []


def test_no_random_scenario_breaks_an_invariant() -> None:
    assert {seed: found for seed in range(200) if (found := broken(random_scenario(seed)))} == {}


def test_no_wide_scenario_breaks_an_invariant() -> None:
    assert {seed: found for seed in range(80) if (found := broken(wide_scenario(seed)))} == {}


@pytest.mark.nightly
def test_no_random_scenario_breaks_an_invariant__in_many_more() -> None:
    assert {seed: found for seed in range(200, 10_000) if (found := broken(random_scenario(seed)))} == {}


@pytest.mark.parametrize("mutant", JUDGED)
def test_some_fixed_scenario_breaks_the_claim_that_a_mutant_names(mutant: str) -> None:
    named = [IMPL_MUTANTS[mutant].caught_by]

    with planted(mutant):
        assert any(broken(each, named) for _, each in scenario_files("coordinator"))


@pytest.mark.parametrize("mutant", JUDGED)
def test_a_random_scenario_breaks_the_claim_that_a_mutant_names__in_few_lines(mutant: str) -> None:
    caught = _mutant_search.catch(IMPL_MUTANTS[mutant])
    assert caught is not None
    assert caught.steps <= 20
