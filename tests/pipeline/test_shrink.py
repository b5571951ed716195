"""Shrinking: the small run fails in the same way, replays from its options, and ends where the claim broke."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule, simulate
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.seed_run import breaks, replay_command, run_seed
from rebalance_check.pipeline.shrink import shrink
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.invariants.liveness import RebalanceCompletes
from rebalance_check.properties.invariants.ownership import NoDoubleOwnership
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

MUTANT = SimulationOptions(
    protocol=SimulatedProtocol.COOPERATIVE, mutant="cooperative-leader-does-not-withhold", steps=30
)


def first_failing(options: SimulationOptions) -> int:
    return next(seed for seed in range(100) if breaks(seed, options, NoDoubleOwnership))


def test_the_small_run_is_smaller_and_still_fails__from_its_options_alone() -> None:
    seed = first_failing(MUTANT)

    small = shrink(seed, MUTANT, NoDoubleOwnership)

    assert run_seed(seed, small.options).violated
    before, after = churn_schedule(seed, MUTANT).actions, churn_schedule(seed, small.options).actions
    assert len(after) < len(before)
    assert set(small.options.faults) < set(MUTANT.faults)
    assert small.options.members <= MUTANT.members
    assert small.replay == f"rebalance-check fuzz --seeds {seed}:{seed + 1} {small.options.command_line()}"


def test_the_history_ends_where_the_claim_broke__and_is_violated_by_itself() -> None:
    seed = first_failing(MUTANT)

    small = shrink(seed, MUTANT, NoDoubleOwnership)

    assert len(small.history) < len(simulate(seed, MUTANT))
    assert small.history[-1] == small.counterexample.events[-1]
    verdict = judge(small.history, [NoDoubleOwnership]).verdict("no_double_ownership")
    assert isinstance(verdict, Violated)
    assert str(verdict.counterexample) == str(small.counterexample)


def test_no_single_action_can_be_left_out_any_more() -> None:
    seed = first_failing(MUTANT)

    small = shrink(seed, MUTANT, NoDoubleOwnership, limit=500)

    kept = len(churn_schedule(seed, replace(small.options, omit=())).actions) - 1
    for index in set(range(kept)) - set(small.options.omit):
        fewer = replace(small.options, omit=tuple(sorted({*small.options.omit, index})))
        same = churn_schedule(seed, fewer).actions == churn_schedule(seed, small.options).actions
        assert same or breaks(seed, fewer, NoDoubleOwnership) is None


def test_a_claim_about_the_end_keeps_the_whole_history() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, mutant="leave-without-rebalance")
    seed = next(seed for seed in range(100) if breaks(seed, options, RebalanceCompletes))

    small = shrink(seed, options, RebalanceCompletes)

    assert list(small.history) == simulate(seed, small.options)


def test_the_limit_bounds_the_simulations() -> None:
    seed = first_failing(MUTANT)

    assert shrink(seed, MUTANT, NoDoubleOwnership, limit=5).runs <= 5


def test_a_run_of_the_status_store_shrinks_too() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.STATUS, mutant="put-safe-ignores-generation", steps=40)
    (invariant,) = select(["safe_status_writes.explained_overwrite"])
    seed = next(seed for seed in range(100) if breaks(seed, options, invariant))

    small = shrink(seed, options, invariant)

    assert len(small.options.omit) > 20
    assert len(small.history) < len(simulate(seed, options)) / 2


def test_a_run_that_does_not_fail_cannot_be_shrunk() -> None:
    with pytest.raises(RebalanceCheckError, match="seed 0 does not violate no_double_ownership"):
        shrink(0, SimulationOptions(protocol=SimulatedProtocol.EAGER), NoDoubleOwnership)


def test_a_failing_seed_prints_the_command_that_repeats_it() -> None:
    seed = first_failing(MUTANT)

    result = run_seed(seed, MUTANT)

    assert result.violated[0] == "no_double_ownership"
    assert replay_command(seed, MUTANT) == (
        f"rebalance-check fuzz --seeds {seed}:{seed + 1} --protocol cooperative --steps 30 "
        "--mutant cooperative-leader-does-not-withhold"
    )
