"""The broker kit on the broker: Kafka breaks none of its claims, and all that the kit has is put to the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.kits.broker.kit import PARTS
from rebalance_check.integration.kits.broker.scenario_rows import socket_scenarios
from rebalance_check.properties.verdict import Outcome
from tests.integration.broker_kit import conform, outcomes, violated

pytestmark = pytest.mark.broker


REQUEST_ROWS = 11
"""An api each, and one for what the broker survived."""

SHOWN_BY_LIVE_CLIENTS = 20
"""So many claims about clients their groups put to the test, at least."""


def test_the_broker_breaks_no_claim(real: Broker, tmp_path: Path) -> None:
    """Live clients are up to time: a breach that they show in one of two runs is not the broker's."""
    report = conform(real, tmp_path, tuple(PARTS))
    again = conform(real, tmp_path / "again", tuple(PARTS)) if violated(report) else report

    assert {claim: row.detail for claim, row in violated(report).items() if claim in violated(again)} == {}
    assert report.unfinished == ""
    assert outcomes(report, "versions") == {Outcome.HELD: 6}
    assert outcomes(report, "transitions of the model") == {Outcome.HELD: 10}
    assert outcomes(report, "scenarios") == {Outcome.HELD: len(socket_scenarios())}
    assert outcomes(report, "random requests").keys() == {Outcome.HELD}
    assert outcomes(report, "random requests")[Outcome.HELD] >= REQUEST_ROWS
    assert outcomes(report, "live clients")[Outcome.HELD] >= SHOWN_BY_LIVE_CLIENTS
