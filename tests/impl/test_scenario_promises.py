"""What coordinators promise: scenarios break none of it in a healthy one, and each planted defect breaks its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.commands import _mutant_search
from rebalance_check.impl.mutants import IMPL_MUTANTS, AssignmentSearch, Mutant, ScenarioPropertySearch, planted
from rebalance_check.impl.scenarios.invariants import PROMISES
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.scenarios.search import broken_promise, shrunk

NARRATED = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, ScenarioPropertySearch)]
POSED = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, AssignmentSearch)]


def broken_by_the_healthy(seeds: range) -> list[object]:
    return [told for seed in seeds if (told := broken_promise(wide_scenario(seed))) is not None]


def test_a_healthy_coordinator_keeps_every_promise() -> None:
    assert broken_by_the_healthy(range(150)) == []


@pytest.mark.nightly
def test_a_healthy_coordinator_keeps_every_promise__in_many_more_scenarios() -> None:
    assert broken_by_the_healthy(range(150, 6_000)) == []


@pytest.mark.parametrize("mutant", NARRATED, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_the_promise_it_names__in_a_short_scenario(mutant: Mutant) -> None:
    caught = _mutant_search.catch(mutant)
    assert caught is not None
    assert caught.steps <= 20


def test_every_promise_is_broken_by_a_mutant() -> None:
    assert {f"promises.{promise.name}" for promise in PROMISES} == {mutant.caught_by for mutant in NARRATED}


def test_the_healthy_coordinator_lives_through_the_scenario_of_a_mutant() -> None:
    mutant = IMPL_MUTANTS["no-sync-deadline"]
    with planted(mutant):
        told = broken_promise(wide_scenario(0))
        assert told is not None
        promise = next(promise for promise in PROMISES if promise.name == told.promise)
        small = shrunk(told, promise)
        assert small.steps < told.steps
        assert broken_promise(small.scenario) == replace(small)
    assert broken_promise(small.scenario) is None


def test_a_scenario_is_a_function_of_its_seed() -> None:
    assert [wide_scenario(seed) for seed in range(20)] == [wide_scenario(seed) for seed in range(20)]


@pytest.mark.parametrize("mutant", POSED, ids=lambda mutant: mutant.name)
def test_a_mutant_of_an_assignor_breaks_the_claim_it_names__in_a_small_problem(mutant: Mutant) -> None:
    caught = _mutant_search.catch(mutant)
    assert caught is not None
    assert caught.steps <= 20
