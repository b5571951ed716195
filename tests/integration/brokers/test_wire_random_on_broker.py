"""Random requests on a live broker: its release in virtual time answers alike, and the embedded broker as Kafka 4."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.comparison.requests.comparisons import Comparison, live_with_virtual, with_live
from rebalance_check.integration.virtual import VirtualKafka

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

SEEDS = range(10)
FRAMES = 200


@contextmanager
def with_its_counterpart(real: Broker) -> Iterator[Comparison]:
    with VirtualKafka(virtual_counterpart(real)) as kafka:
        yield live_with_virtual(real.bootstrap, real.name, kafka)


def test_every_answer_is_equal(real: Broker) -> None:
    if not real.name.startswith("kafka 3"):
        assert_equal(with_live(real.bootstrap, real.name))
    with with_its_counterpart(real) as comparison:
        assert_equal(comparison)


def assert_equal(comparison: Comparison) -> None:
    total = Compared(comparison.terms.names)
    for seed in SEEDS:
        total.add(comparison.run(seed, FRAMES))
    print(total)
    assert list(map(str, total.differences)) == []
    assert total.counts["requests"] == len(SEEDS) * FRAMES
