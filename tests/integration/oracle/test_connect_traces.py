"""The known traces of the incremental Connect assignor: ours, and Kafka's own, do in each round what the file says."""

from pathlib import Path

import pytest

from rebalance_check.impl.scenarios.document import Scenario
from rebalance_check.integration.comparison.connect_assignors.java import JavaConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from tests.connect_traces import answers
from tests.expectations import Expectations, scenario_files, scenario_parameters

FOLDER = "connect_assignors"


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters(FOLDER))
def test_a_trace(path: Path, scenario: Scenario, expectations: Expectations) -> None:
    expectations.scenario(path, scenario, answers(OurConnectAssignors(), scenario))


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_the_traces_are_those_of_kafka(version: str) -> None:
    with JavaConnectAssignors(version) as assignors:
        for _, scenario in scenario_files(FOLDER):
            assert scenario.answered(answers(assignors, scenario)) == scenario.expected(), scenario.title
