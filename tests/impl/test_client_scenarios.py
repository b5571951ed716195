"""Scenarios of a consumer: what it sends and which callbacks it runs, whatever the coordinator replies.

The scenarios stand in ``tests/data/clients/*.scenario``; ``docs/scenarios.md`` says how to read them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.impl.scenarios import Scenario
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.event_rows import aligned
from tests.expectations import Expectations, scenario_parameters
from tests.impl.client_scenarios import LANGUAGE, ClientScenario


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("clients"))
def test_a_scenario_of_a_client_runs_as_it_is_written(
    path: Path, scenario: Scenario, expectations: Expectations
) -> None:
    expectations.scenario(path, scenario, aligned(LANGUAGE.answers(ClientScenario(), scenario)), aligned=True)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("reply Heartbeat NONE", "x:1: no Heartbeat waits for a reply; those that wait: none"),
        ("table FetchOffsets NONE", "x:1: 'FetchOffsets' is no API of a member: use FindCoordinator, JoinGroup"),
    ],
)
def test_a_reply_that_cannot_be_given_is_refused(line: str, sentence: str) -> None:
    with pytest.raises(RebalanceCheckError, match=sentence):
        LANGUAGE.answers(ClientScenario(), Scenario.of([line], file="x"))
