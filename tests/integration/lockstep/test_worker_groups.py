"""Groups of Kafka's workers, of ours and of both on virtual Kafka: the same schedule has the same effects on all."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from rebalance_check.impl.comparison.compare import Side
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.mutants import planted
from rebalance_check.integration.comparison.workers.compare import compare_groups
from rebalance_check.integration.comparison.workers.java_worker import JavaWorker
from rebalance_check.integration.comparison.workers.our_worker import OurWorker
from rebalance_check.integration.virtual import VirtualKafka

pytestmark = pytest.mark.virtual

NAMES = ("w0", "w1", "w2")
OURS, KAFKAS, BOTH = "ours", "Kafka's", "both"
SCHEDULES = 5
ACTIONS = 30


def mixed(java_worker: Side, seed: int) -> Mapping[str, Side]:
    """One of the three, or two of them, are Kafka's."""
    return {name: java_worker if (number + seed) % 2 else OurWorker() for number, name in enumerate(NAMES)}


def run(kafka: VirtualKafka, java_worker: Side, seed: int, actions: int = ACTIONS) -> Compared:
    sides: dict[str, Mapping[str, Side]] = {
        OURS: {name: OurWorker() for name in NAMES},
        KAFKAS: dict.fromkeys(NAMES, java_worker),
        BOTH: mixed(java_worker, seed),
    }
    return compare_groups(kafka, sides, seed, actions)


def test_random_schedules_have_the_same_effects(kafka: VirtualKafka, java_worker: JavaWorker) -> None:
    results = {seed: run(kafka, java_worker, seed) for seed in range(SCHEDULES)}

    assert [f"seed {seed}: {one}" for seed, each in results.items() for one in each.differences] == []
    assert sum(each.counts["compared"] for each in results.values()) > SCHEDULES * ACTIONS * 2
    taken_over = {what.partition(":")[0] for each in results.values() for what in each.reached}
    assert taken_over == {OURS, KAFKAS, BOTH}
    assert led_in_mixed_groups(results) >= {("Kafka's", "ours"), ("ours", "Kafka's")}


def led_in_mixed_groups(results: Mapping[int, Compared]) -> set[tuple[str, str]]:
    """Whose leader's assignments whose workers took over, in groups of both."""
    found: set[tuple[str, str]] = set()
    for seed, result in results.items():
        for what in result.reached:
            if (words := re.fullmatch(rf"{BOTH}: (w\d) took over what (w\d) assigned", what)) is not None:
                worker, leader = (KAFKAS if (NAMES.index(name) + seed) % 2 else OURS for name in words.groups())
                found.add((leader, worker))
    return found


def test_a_worker_of_ours_with_a_defect_is_noticed__and_the_difference_made_small(
    kafka: VirtualKafka, java_worker: JavaWorker
) -> None:
    with planted("worker-keeps-tasks-while-joining"):
        result = next(each for seed in range(20) if (each := run(kafka, java_worker, seed)).differences)

    (found,) = result.differences
    assert len(found.steps) < result.counts["steps"] / 2
    assert found.steps[0].do == "start"
    assert str(found).startswith(f"ours and {found.sides[1]} differ in ")


@pytest.mark.nightly
def test_many_more_schedules(kafka: VirtualKafka, java_worker: JavaWorker) -> None:
    results = {seed: run(kafka, java_worker, seed, 60) for seed in range(100, 300)}

    assert [f"seed {seed}: {one}" for seed, each in results.items() for one in each.differences] == []
