"""Scenarios of the group coordinator: requests in a fixed order, and what Kafka 4.3 was seen to answer to each.

The scenarios stand in ``tests/data/coordinator/*.scenario``; `rebalance_check.impl.scenarios` says how to read them, and
``tests/integration/virtual`` tells them to Kafka's own coordinators.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.mutants import ScenarioPropertySearch
from rebalance_check.impl.mutants.coordinator import COORDINATOR_MUTANTS
from rebalance_check.impl.scenarios import InProcess, Played, scenarios_in, tell

NEEDS_EPOCHS = "late-unload-wipes-newer-load"
"""No scenario speaks of the epochs of the log's leader; the simulator does."""

SCENARIOS = Path(__file__).parent.parent / "data" / "coordinator"


def scenarios() -> Iterator[tuple[str, list[str]]]:
    """Title and lines of each scenario."""
    for path in sorted(SCENARIOS.glob("*.scenario")):
        for title, lines in scenarios_in(path.read_text(encoding="utf-8")):
            yield f"{path.stem}: {title}", lines


def told(lines: list[str], defects: frozenset[str] = frozenset()) -> tuple[list[str], list[str]]:
    """The scenario as it is written, and as it happens."""
    made = itertools.count(1)

    def cast(config: GroupConfig) -> Played:
        return InProcess(config, new_member_id=lambda prefix: f"{prefix}-{next(made):036d}", defects=defects)

    return tell(lines, cast)


@pytest.mark.parametrize("scenario", [pytest.param(lines, id=title) for title, lines in scenarios()])
def test_a_scenario_runs_as_kafka_was_seen_to_answer(scenario: list[str]) -> None:
    expected, seen = told(scenario)

    assert expected == seen


@pytest.mark.parametrize(
    "mutant",
    [
        mutant.name
        for mutant in COORDINATOR_MUTANTS
        if not isinstance(mutant.find, ScenarioPropertySearch) and mutant.name != NEEDS_EPOCHS
    ],
)
def test_some_scenario_runs_otherwise__with_a_mutant(mutant: str) -> None:
    def is_told_otherwise(scenario: list[str]) -> bool:
        expected, seen = told(scenario, frozenset({mutant}))
        return expected != seen

    assert any(is_told_otherwise(scenario) for _, scenario in scenarios())


def test_the_scenarios_are_there() -> None:
    assert len(list(scenarios())) > 200
