"""Kafka's DistributedHerder in virtual time and ours start, stop and write the same for the same schedule."""

from __future__ import annotations

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.lockstep.worker.group import WorkerGroup
from rebalance_check.integration.lockstep.worker.herder_compare import (
    CONFIG,
    HerderResult,
    herder_schedule,
    run_herders,
)
from rebalance_check.integration.lockstep.worker.java_worker import JavaWorker
from rebalance_check.integration.lockstep.worker.our_herder import OurHerder
from rebalance_check.integration.virtual import VirtualKafka

pytestmark = pytest.mark.virtual

NAMES = ("w0", "w1", "w2")


def run(kafka: VirtualKafka, java_worker: JavaWorker, seed: int, mode: str, actions: int = 40) -> HerderResult:
    ours = WorkerGroup("ours", kafka, {name: OurHerder() for name in NAMES}, CONFIG, seed)
    theirs = WorkerGroup(f"Kafka's {mode}", kafka, dict.fromkeys(NAMES, java_worker), CONFIG, seed)
    try:
        return run_herders(herder_schedule(seed, actions, NAMES, mode), ours, theirs)
    finally:
        ours.close()
        theirs.close()


@pytest.mark.parametrize("mode", ["eager", "compatible"])
def test_random_schedules_start_stop_and_write_the_same(
    kafka: VirtualKafka, java_worker: JavaWorker, mode: str
) -> None:
    results = {seed: run(kafka, java_worker, seed, mode) for seed in range(3)}
    assert {seed: each.difference for seed, each in results.items() if each.difference} == {}
    assert sum(each.done for each in results.values()) > 30


def test_a_herder_of_ours_with_a_defect_is_noticed(kafka: VirtualKafka, java_worker: JavaWorker) -> None:
    with planted("statuses-with-the-groups-generation"):
        assert any(run(kafka, java_worker, seed, "compatible").difference for seed in range(10))
