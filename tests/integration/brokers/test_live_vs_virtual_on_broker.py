"""The broker and the virtual Kafka of its release answer the same requests with the same replies, whole."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rebalance_check.impl.scenarios.random_scenarios import timeless_scenario
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.differential import hold_equal
from rebalance_check.integration.kits.broker.topics import ensure_topic
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.integration.wire.served import served_ranges

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

SCENARIOS = 1_024
LINES = 24


@pytest.fixture
def virtual(real: Broker) -> Iterator[VirtualKafka]:
    with VirtualKafka(virtual_counterpart(real)) as kafka:
        yield kafka


def test_a_thousand_random_scenarios_are_answered_alike(real: Broker, virtual: VirtualKafka) -> None:
    served = {key: each.latest for key, each in served_ranges(real.bootstrap).items()}
    ensure_topic(replace(real, served=served), "t", 2)  # the broker kit may have made it before

    result = hold_equal(real, virtual, [timeless_scenario(seed, steps=LINES) for seed in range(SCENARIOS)])
    print(result)

    assert [str(parted) for parted in result.parted] == []
    assert result.scenarios == SCENARIOS
    assert result.replies > SCENARIOS * LINES * 3 // 4
