"""Random requests of all group apis are answered by the embedded broker as by Kafka's own coordinators in Java."""

import pytest

from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.integration.wire_random.comparisons import Comparison, with_virtual
from rebalance_check.integration.wire_random.run import WireRun

pytestmark = pytest.mark.virtual

SEEDS = range(20)
FRAMES = 250


@pytest.fixture
def comparison(kafka: VirtualKafka) -> Comparison:
    return with_virtual(kafka)


def runs(comparison: Comparison, seeds: range) -> WireRun:
    total = WireRun()
    for seed in seeds:
        total.add(comparison.run(seed, FRAMES))
    print(f"{total.requests:,} requests, {total.replies:,} answers, {total.spared:,} spared, {total.seconds:.1f} s")
    return total


def test_every_answer_is_equal__but_in_scala(kafka: VirtualKafka, comparison: Comparison) -> None:
    if kafka.release.scala:  # it merges what is repeated, and more (docs/differences.md): each seed shows it
        assert len(runs(comparison, range(3)).differences) == 3
        return
    total = runs(comparison, SEEDS)
    assert [str(each.request) for each in total.differences] == []
    assert total.requests == len(SEEDS) * FRAMES
    assert total.spared > 100


def test_members_whose_sessions_end_at_one_instant_go_in_the_order_of_kafka(
    kafka: VirtualKafka, comparison: Comparison
) -> None:
    if kafka.release.scala:
        return
    run = comparison.run(1120, 300)
    assert run.differences == []
    assert run.requests == 300
