"""The fault plan: drawn from the seed, swarm style, and one kind at a time removable."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.faults import NO_FAULTS, draw_plan
from rebalance_check.impl.runtime.options import ALL_FAULTS, COMMON_FAULTS, FaultKind, SimulationOptions


def test_one_seed_draws_one_plan() -> None:
    options = SimulationOptions()

    assert [draw_plan(seed, options) for seed in range(50)] == [draw_plan(seed, options) for seed in range(50)]


def test_swarm__every_kind_is_on_in_some_runs_and_off_in_others__and_some_run_is_fault_free() -> None:
    plans = [draw_plan(seed, SimulationOptions(faults=tuple(FaultKind))) for seed in range(1_000)]

    for kind in FaultKind:
        share = sum(plan.has(kind) for plan in plans) / len(plans)
        assert 0.35 < share < 0.45, kind


def test_by_default_a_seed_has_its_own_subset_of_what_is_survived__of_any_size() -> None:
    sizes = Counter(len(draw_plan(seed, SimulationOptions()).kinds) for seed in range(1_000))

    assert sizes.keys() == set(range(len(ALL_FAULTS) + 1))
    quiet, noisy = sum(sizes[n] for n in range(3)), sum(sizes[n] for n in sizes if n > len(ALL_FAULTS) / 2)
    assert 0.1 < quiet / 1_000 < 0.3
    assert 0.25 < noisy / 1_000 < 0.45


def test_a_named_set_of_kinds_draws_no_others__and_changes_nothing_else() -> None:
    for seed in range(100):
        whole, common = draw_plan(seed, SimulationOptions()), draw_plan(seed, SimulationOptions(faults=COMMON_FAULTS))
        assert set(common.kinds) <= set(COMMON_FAULTS)
        assert common.kinds == tuple(kind for kind in whole.kinds if kind in COMMON_FAULTS)


@pytest.mark.parametrize("kind", ALL_FAULTS)
def test_taking_one_kind_away_leaves_the_others_as_they_were(kind: FaultKind) -> None:
    rest = tuple(other for other in ALL_FAULTS if other != kind)

    for seed in range(50):
        whole = draw_plan(seed, SimulationOptions(faults=ALL_FAULTS))
        without = draw_plan(seed, SimulationOptions(faults=rest))
        assert tuple(other for other in whole.kinds if other != kind) == without.kinds
        if kind not in whole.kinds:
            assert whole == without


def test_a_kind_that_is_off_has_no_rate() -> None:
    for seed in range(200):
        plan = draw_plan(seed, SimulationOptions())
        for kind in (FaultKind.DROP, FaultKind.DUPLICATE, FaultKind.DISCONNECT, FaultKind.REORDER):
            assert plan.has(kind) == (getattr(plan, kind) > 0)
        assert plan.has(FaultKind.SLOW_APPLICATION) == (plan.slow_application > 0)
        assert plan.has(FaultKind.DELAY) == (plan.delay_ms > NO_FAULTS.delay_ms)


def test_no_faults_allowed__every_run_is_fault_free() -> None:
    options = replace(SimulationOptions(), faults=())

    assert {NO_FAULTS} == {draw_plan(seed, options) for seed in range(50)}
