"""The status store, rule by rule, and its race catalogue: each race as a scenario of its own name, with its verdict.

The scenarios stand in ``tests/data/status``. Every race was found in Kafka's store, ours has it too, and
no claim of the catalogue accuses what Kafka permits.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rebalance_check.impl.scenarios import Scenario
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.expectations import Expectations, scenario_files, scenario_parameters
from tests.status_scenarios import LANGUAGE, StatusScenario


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("status"))
def test_a_store_does_what_stands_there(path: Path, scenario: Scenario, expectations: Expectations) -> None:
    expectations.scenario(path, scenario, LANGUAGE.answers(StatusScenario(), scenario))


def test_each_race_has_a_scenario_of_its_own_name__and_a_verdict() -> None:
    races: Counter[str] = Counter()
    for path, scenario in scenario_files("status"):
        if path.stem != "races":
            continue
        races[scenario.title.partition(":")[0]] += 1
        assert scenario.lines[-1].step == "verdict"
        assert scenario.lines[-1].expected.startswith("held"), scenario.title
    assert set(races) == {f"R{number}" for number in range(1, 21)}


def test_a_status_that_kafka_does_not_know_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="line 1: DONE is no status: use one of UNASSIGNED, RUNNING"):
        LANGUAGE.answers(StatusScenario(), Scenario.of(["put w c-0 DONE 1"]))
