"""Claims about small histories: violations, histories that look like one and are none, and exemptions.

The histories stand in ``tests/data/histories/*.scenario``: a call of an event class for each event, as a declaration of
an invariant has them. Many of them are false alarms that were mended.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.scenarios import Scenario
from rebalance_check.impl.simulator import simulate
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from tests.expectations import Expectations, scenario_files, scenario_parameters
from tests.properties.histories import verdicts_of

FILES: dict[Path, dict[str, Scenario]] = {}
for file, each in scenario_files("histories"):
    FILES.setdefault(file, {})[each.title] = each


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("histories"))
def test_a_history_has_the_verdicts_that_stand_there(
    path: Path, scenario: Scenario, expectations: Expectations
) -> None:
    expectations.scenario(path, scenario, verdicts_of(scenario, FILES[path]))


def test_each_history_has_a_verdict__or_is_the_opening_of_others() -> None:
    for path, scenarios in FILES.items():
        steps = {line.step for scenario in scenarios.values() for line in scenario.lines}
        for title, scenario in scenarios.items():
            has_verdict = any(line.step.startswith("verdict ") for line in scenario.lines)
            assert has_verdict != (f"after {title}" in steps), f"{path.name}: {title}"


def test_a_worker_that_lost_its_membership_removes_nothing_for_an_assignment_that_comes_late() -> None:
    """It joins anew in the place of acting on the assignment: a seed that was accused once."""
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT, steps=30)
    assert judge(simulate(3915, options), "removed_work_loses_its_status").outcome is Outcome.HELD
