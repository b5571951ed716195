"""Groups of Kafka's workers, of ours and of both on virtual Kafka: the same schedule has the same effects on all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.lockstep.worker.compare import SteppedWorker
from rebalance_check.integration.lockstep.worker.group import WorkerGroup
from rebalance_check.integration.lockstep.worker.group_compare import GroupResult, run_group
from rebalance_check.integration.lockstep.worker.group_schedule import GroupSchedule
from rebalance_check.integration.lockstep.worker.java_worker import JavaWorker
from rebalance_check.integration.lockstep.worker.our_worker import OurWorker
from rebalance_check.integration.virtual import VirtualKafka

pytestmark = pytest.mark.virtual

NAMES = ("w0", "w1", "w2")
OURS, KAFKAS, BOTH = "ours", "Kafka's", "both"
SCHEDULES = 5
ACTIONS = 30


def mixed(java_worker: SteppedWorker, seed: int) -> Mapping[str, SteppedWorker]:
    """One of the three, or two of them, are Kafka's."""
    return {name: java_worker if (number + seed) % 2 else OurWorker() for number, name in enumerate(NAMES)}


def run(kafka: VirtualKafka, java_worker: SteppedWorker, seed: int, actions: int = ACTIONS) -> GroupResult:
    schedule = GroupSchedule(seed, actions, NAMES)
    sides: dict[str, Mapping[str, SteppedWorker]] = {
        OURS: {name: OurWorker() for name in NAMES},
        KAFKAS: dict.fromkeys(NAMES, java_worker),
        BOTH: mixed(java_worker, seed),
    }
    groups = [WorkerGroup(name, kafka, workers, schedule.config, seed) for name, workers in sides.items()]
    try:
        return run_group(schedule, groups)
    finally:
        for group in groups:
            group.close()


def test_random_schedules_have_the_same_effects(kafka: VirtualKafka, java_worker: JavaWorker) -> None:
    results = {seed: run(kafka, java_worker, seed) for seed in range(SCHEDULES)}
    assert [f"seed {seed}: {each.difference}" for seed, each in results.items() if each.difference] == []
    assert sum(each.compared for each in results.values()) > SCHEDULES * ACTIONS * 4
    assert {side for each in results.values() for side, _, _ in each.rounds} == {OURS, KAFKAS, BOTH}
    assert led_in_mixed_groups(results) >= {("Kafka's", "ours"), ("ours", "Kafka's")}


def led_in_mixed_groups(results: Mapping[int, GroupResult]) -> set[tuple[str, str]]:
    """Whose leader's assignments whose workers took over, in groups of both."""
    found: Counter[tuple[str, str]] = Counter()
    for seed, result in results.items():
        for (side, leader, worker), count in result.rounds.items():
            kinds = [KAFKAS if (NAMES.index(name) + seed) % 2 else OURS for name in (leader, worker)]
            found[(kinds[0], kinds[1])] += count * (side == BOTH)
    return {pair for pair, count in found.items() if count}


def test_a_worker_of_ours_with_a_defect_is_noticed(kafka: VirtualKafka, java_worker: JavaWorker) -> None:
    with planted("worker-keeps-tasks-while-joining"):
        found = next(result.difference for seed in range(20) if (result := run(kafka, java_worker, seed)).difference)
    assert str(found).startswith(f"after action {len(found.actions)} ({found.actions[-1]}) ")


@pytest.mark.nightly
def test_many_more_schedules(kafka: VirtualKafka, java_worker: JavaWorker) -> None:
    results = {seed: run(kafka, java_worker, seed, 60) for seed in range(100, 300)}
    assert [f"seed {seed}: {each.difference}" for seed, each in results.items() if each.difference] == []
