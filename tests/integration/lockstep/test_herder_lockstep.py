"""Kafka's DistributedHerder in virtual time and ours start, stop and write the same for the same schedule."""

from __future__ import annotations

import pytest

from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.mutants import planted
from rebalance_check.integration.comparison.workers.compare import compare_herders
from rebalance_check.integration.comparison.workers.java_worker import JavaWorker
from rebalance_check.integration.virtual import VirtualKafka

pytestmark = pytest.mark.virtual

NAMES = ("w0", "w1", "w2")


def run(kafka: VirtualKafka, java_worker: JavaWorker, seed: int, mode: str) -> Compared:
    return compare_herders(kafka, java_worker, NAMES, seed=seed, mode=mode, actions=40)


@pytest.mark.parametrize("mode", ["eager", "compatible"])
def test_random_schedules_start_stop_and_write_the_same(
    kafka: VirtualKafka, java_worker: JavaWorker, mode: str
) -> None:
    results = {seed: run(kafka, java_worker, seed, mode) for seed in range(3)}
    assert {seed: str(one) for seed, each in results.items() for one in each.differences} == {}
    assert sum(count for each in results.values() for what, count in each.reached.items() if "ours" in what) > 30


def test_a_herder_of_ours_with_a_defect_is_noticed(kafka: VirtualKafka, java_worker: JavaWorker) -> None:
    with planted("statuses-with-the-groups-generation"):
        assert any(run(kafka, java_worker, seed, "compatible").differences for seed in range(10))
