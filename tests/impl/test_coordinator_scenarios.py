"""Scenarios of the group coordinator: requests in a fixed order, and what Kafka 4.3 was seen to answer to each.

The scenarios stand in ``tests/data/coordinator/*.scenario``; ``docs/scenarios.md`` says how to read them, and
``tests/integration/virtual`` runs them on Kafka's own coordinators.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.mutants import IMPL_MUTANTS, ScenarioSearch, planted
from rebalance_check.impl.scenarios import Scenario, answers_to
from rebalance_check.impl.steered.coordinator import SteeredCoordinator
from rebalance_check.impl.steered.in_process import InProcess
from tests.expectations import Expectations, scenario_files, scenario_parameters

ELSEWHERE = {"late-unload-wipes-newer-load", "followers-get-their-last-choice", "parked-sync-answered-twice"}
"""No scenario speaks of the epochs of the log's leader or shows a follower's protocol, and a runner takes one reply to
a request; the simulator finds these."""


def answers(scenario: Scenario) -> list[str]:
    """Our coordinator's answer to each line."""
    made = itertools.count(1)

    def coordinator(config: GroupConfig) -> SteeredCoordinator:
        return InProcess(config, new_member_id=lambda prefix: f"{prefix}-{next(made):036d}")

    return answers_to(scenario, coordinator)


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("coordinator"))
def test_a_scenario_runs_as_kafka_was_seen_to_answer(
    path: Path, scenario: Scenario, expectations: Expectations
) -> None:
    expectations.scenario(path, scenario, answers(scenario))


@pytest.mark.parametrize(
    "mutant",
    [
        mutant.name
        for mutant in IMPL_MUTANTS.values()
        if mutant.edits[0].module.startswith("rebalance_check.impl.coordinator.")
        and not isinstance(mutant.find, ScenarioSearch)
        and mutant.name not in ELSEWHERE
    ],
)
def test_some_scenario_runs_otherwise__with_a_mutant(mutant: str) -> None:
    with planted(mutant):
        assert any(each.answered(answers(each)) != each.expected() for _, each in scenario_files("coordinator"))


def test_the_scenarios_are_there() -> None:
    assert len(list(scenario_files("coordinator"))) > 200
