"""Client scenarios with a mutant planted: each mutant of a consumer changes the answer of one of them.

Among them are mutants that a healthy group around the member makes up for, or that need two threads in one order.
"""

from __future__ import annotations

from typing import Final

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, planted
from rebalance_check.impl.scenarios import Scenario
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.expectations import scenario_files
from tests.impl.client_scenarios import LANGUAGE, ClientScenario

ELSEWHERE: Final = {
    "any-cooperative-assignor-counts",
    "leader-group-subscription-lingers",
    "schema-registry-two-masters-without-epoch",
}
"""Mutants of electors, of leaders of several members and of upgrades: the simulator finds them."""

OF_CLIENTS: Final = {
    name
    for name, mutant in IMPL_MUTANTS.items()
    if mutant.catalogue_id and mutant.edits[0].module.startswith("rebalance_check.impl.client.")
}


def runs_otherwise(scenario: Scenario) -> bool:
    """Whether an answer is not the expected one, or a line cannot be done any more."""
    try:
        return scenario.answered(LANGUAGE.answers(ClientScenario(), scenario)) != scenario.expected()
    except RebalanceCheckError:
        return True


@pytest.mark.parametrize("name", sorted(OF_CLIENTS - ELSEWHERE))
def test_some_client_scenario_runs_otherwise__with_the_mutant(name: str) -> None:
    with planted(name):
        assert any(runs_otherwise(scenario) for _, scenario in scenario_files("clients"))


def test_what_the_simulator_finds_is_a_mutant_of_a_client() -> None:
    assert OF_CLIENTS >= ELSEWHERE
