"""Client scenarios with a mutant planted: each mutant of a consumer changes the answer of one of them.

Among them are mutants that a healthy group around the member makes up for, or that need two threads in one order.
"""

from __future__ import annotations

from typing import Final

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.mutants.client import CLIENT_MUTANTS
from rebalance_check.impl.scenarios import Scenario
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.expectations import scenario_files
from tests.impl.client_scenarios import LANGUAGE, ClientScenario

ELSEWHERE: Final = {
    "config-mismatch-ignored",
    "leader-group-subscription-lingers",
    "pattern-looks-at-topics-once",
    "pattern-takes-internal-topics",
    "primary-acts-while-joining",
    "schema-registry-elector-thread-dies",
    "schema-registry-two-masters-without-epoch",
    "worker-keeps-tasks-while-joining",
    "zombie-worker-keeps-tasks",
}
"""Mutants of workers, electors, leaders of several members, and subscriptions by pattern: the simulator finds them."""

IN_SCENARIOS: Final = [mutant.name for mutant in CLIENT_MUTANTS if mutant.name not in ELSEWHERE]


def runs_otherwise(scenario: Scenario) -> bool:
    """Whether an answer is not the expected one, or a line cannot be done any more."""
    try:
        return scenario.answered(LANGUAGE.answers(ClientScenario(), scenario)) != scenario.expected()
    except RebalanceCheckError:
        return True


@pytest.mark.parametrize("name", IN_SCENARIOS)
def test_some_client_scenario_runs_otherwise__with_the_mutant(name: str) -> None:
    with planted(name):
        assert any(runs_otherwise(scenario) for _, scenario in scenario_files("clients"))


def test_what_the_simulator_finds_is_a_mutant_of_a_client() -> None:
    assert {mutant.name for mutant in CLIENT_MUTANTS} >= ELSEWHERE
