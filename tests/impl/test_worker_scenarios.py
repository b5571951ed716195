"""Scenarios of a Connect worker's coordinator: negotiation, claims, rejoining, revocation, leaving.

The scenarios stand in ``tests/data/workers/*.scenario``; ``docs/scenarios.md`` says how to read them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.scenarios import Scenario
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.expectations import Expectations, scenario_parameters
from tests.impl.worker_scenarios import LANGUAGE, WorkerScenario


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("workers"))
def test_a_scenario_of_a_worker_runs_as_it_is_written(
    path: Path, scenario: Scenario, expectations: Expectations
) -> None:
    expectations.scenario(path, scenario, LANGUAGE.answers(WorkerScenario(), scenario), aligned=True)


def test_the_defaults_are_those_of_connect() -> None:
    config = WorkerConfig(group_id="g")
    timeouts = (config.session_timeout_ms, config.heartbeat_interval_ms, config.rebalance_timeout_ms)
    assert timeouts == (10_000, 3_000, 60_000)
    assert (config.connect_protocol, config.scheduled_rebalance_max_delay_ms) == (ConnectMode.SESSIONED, 300_000)
    assert (config.worker_sync_timeout_ms, config.worker_unsync_backoff_ms) == (3_000, 300_000)
    assert config.task_shutdown_graceful_timeout_ms == 5_000
    assert config.leave_on_close


def test_a_static_worker_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="never static"):
        WorkerConfig(group_id="g", group_instance_id="i")


def test_settings_name_a_mode_in_any_case_and_protocols_in_one() -> None:
    assert ConnectMode.parse("Sessioned") is ConnectMode.SESSIONED
    with pytest.raises(RebalanceCheckError, match=r"connect\.protocol is 'static'"):
        ConnectMode.parse("static")
    with pytest.raises(RebalanceCheckError, match="none of Connect's"):
        ConnectMode.of_protocol("eager")
