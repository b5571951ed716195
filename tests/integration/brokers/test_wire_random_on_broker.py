"""Random requests on a live broker: the embedded broker answers as Kafka 4, and virtual Kafka as Kafka 3."""

from collections.abc import Iterator

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.integration.wire_random.comparisons import Comparison, live_with_virtual, with_live
from rebalance_check.integration.wire_random.run import WireRun

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

SEEDS = range(10)
FRAMES = 200


@pytest.fixture
def comparison(real: Broker) -> Iterator[Comparison]:
    if not real.name.startswith("kafka 3"):
        yield with_live(real.bootstrap, real.name)
        return
    with VirtualKafka(virtual_counterpart(real)) as kafka:
        yield live_with_virtual(real.bootstrap, real.name, kafka)


def test_every_answer_is_equal(comparison: Comparison) -> None:
    total = WireRun()
    for seed in SEEDS:
        total.add(comparison.run(seed, FRAMES))
    print(f"{comparison.name}: {total.requests:,} requests, {total.replies:,} answers, {total.seconds:.1f} s")
    assert [str(each.request) for each in total.differences] == []
    assert total.requests == len(SEEDS) * FRAMES
