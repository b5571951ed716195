"""Random scenarios on Kafka's own coordinators are recorded: all that they reply is accepted."""

from __future__ import annotations

import pytest

from rebalance_check.integration.acceptor import accept
from rebalance_check.integration.virtual import VirtualKafka, find_release
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator
from tests.integration.recorded_scenarios import performed, scenario_of

pytestmark = pytest.mark.virtual

SCENARIOS = 250


@pytest.mark.parametrize("spec", ["virtual:4.3.1", "virtual:3.9.2"])
def test_what_kafka_replies_is_accepted(spec: str) -> None:
    accepted = 0
    with VirtualKafka(find_release(spec)) as kafka:
        for number in range(SCENARIOS):
            config, lines = scenario_of(number)
            coordinator = VirtualCoordinator(kafka, config, number)
            history = performed(coordinator, lines)
            coordinator.close()
            found = accept(history, "g", initial_delay_ms=config.initial_rebalance_delay_ms)
            assert found.refusal is None, (number, found.refusal)
            accepted += found.is_accepted
    assert accepted >= SCENARIOS * 0.9
