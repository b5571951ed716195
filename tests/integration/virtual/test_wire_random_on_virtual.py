"""Random requests of all group apis are answered by the embedded broker as by Kafka's own coordinators in Java."""

import pytest

from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.integration.comparison.requests.comparisons import Comparison, with_virtual
from rebalance_check.integration.virtual import VirtualKafka

pytestmark = pytest.mark.virtual

SEEDS = range(20)
FRAMES = 250


@pytest.fixture
def comparison(kafka: VirtualKafka) -> Comparison:
    return with_virtual(kafka)


def runs(comparison: Comparison, seeds: range) -> Compared:
    total = Compared(comparison.terms.names)
    for seed in seeds:
        total.add(comparison.run(seed, FRAMES))
    print(total)
    return total


def test_every_answer_is_equal__but_in_scala(kafka: VirtualKafka, comparison: Comparison) -> None:
    if kafka.release.scala:  # it merges what is repeated, and more (docs/differences.md): each seed shows it
        assert len(runs(comparison, range(3)).differences) == 3
        return
    total = runs(comparison, SEEDS)
    assert list(map(str, total.differences)) == []
    assert total.counts["requests"] == len(SEEDS) * FRAMES
    assert total.counts["spared"] > 100


def test_members_whose_sessions_end_at_one_instant_go_in_the_order_of_kafka(
    kafka: VirtualKafka, comparison: Comparison
) -> None:
    if kafka.release.scala:
        return
    run = comparison.run(1120, 300)
    assert run.differences == []
    assert run.counts["requests"] == 300
