"""Shrinking: the small run fails in the same way, replays from its options, and nothing in it can go any more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.seed_run import breaks, replay_command, run_seed
from rebalance_check.pipeline.shrink import Shrunk, shrink
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.ownership import NoDoubleOwnership
from rebalance_check.properties.laws.progress import RebalanceCompletes
from rebalance_check.properties.verdict import Violated

MUTANT = SimulationOptions(
    protocol=SimulatedProtocol.COOPERATIVE, mutant="cooperative-leader-does-not-withhold", steps=30
)


def first_failing(options: SimulationOptions) -> int:
    return next(seed for seed in range(100) if breaks(seed, options, NoDoubleOwnership))


@pytest.fixture(scope="module")
def small() -> Shrunk:
    return shrink(first_failing(MUTANT), MUTANT, NoDoubleOwnership, seconds=300)


def test_the_small_run_is_written_out_and_still_fails__from_its_options_alone(small: Shrunk) -> None:
    assert run_seed(small.seed, small.options).violated
    assert small.options.actions is not None
    assert len(small.options.actions) <= 10
    assert small.options.choices is not None
    assert len(small.options.choices) <= 10
    assert small.options.faults == ()
    assert small.options.members <= MUTANT.members
    assert small.replay == (
        f"rebalance-check fuzz --seeds {small.seed}:{small.seed + 1} {small.options.command_line()}"
    )
    assert len(small.replay) < 500


def test_the_history_ends_where_the_claim_broke__and_is_violated_by_itself(small: Shrunk) -> None:
    assert len(small.history) < len(simulate(small.seed, MUTANT)) / 2
    assert small.history[-1] == small.counterexample.events[-1]
    verdict = judge(small.history, [NoDoubleOwnership]).verdict("no_double_ownership")
    assert isinstance(verdict, Violated)
    assert str(verdict.counterexample) == str(small.counterexample)


def test_no_single_action_or_choice_can_be_left_out_any_more(small: Shrunk) -> None:
    fewer = [
        *(replace(small.options, actions=rest) for rest in without_one(small.options.actions)),
        *(replace(small.options, choices=rest) for rest in without_one(small.options.choices)),
    ]
    assert fewer
    for options in fewer:
        assert breaks(small.seed, options, NoDoubleOwnership) is None
    assert small.unfinished == ""


def without_one(words: tuple[str, ...] | None) -> list[tuple[str, ...]]:
    assert words is not None
    return [(*words[:place], *words[place + 1 :]) for place in range(len(words))]


def test_messages_that_nothing_depends_on_are_not_disturbed_any_more() -> None:
    options = SimulationOptions(
        protocol=SimulatedProtocol.EAGER, mutant="leave-without-rebalance", steps=20,
        faults=(FaultKind.DELAY, FaultKind.DROP, FaultKind.DUPLICATE, FaultKind.REORDER, FaultKind.DISCONNECT),
    )  # fmt: skip
    seed = next(seed for seed in range(100) if breaks(seed, options, RebalanceCompletes))

    assert shrink(seed, options, RebalanceCompletes, seconds=300).options.choices == ()


def test_a_claim_about_the_end_keeps_the_whole_history() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, mutant="leave-without-rebalance")
    seed = next(seed for seed in range(100) if breaks(seed, options, RebalanceCompletes))

    small = shrink(seed, options, RebalanceCompletes, seconds=300)

    assert list(small.history) == simulate(seed, small.options)


def test_the_limit_bounds_the_simulations__and_what_was_reached_is_said() -> None:
    small = shrink(first_failing(MUTANT), MUTANT, NoDoubleOwnership, limit=5, seconds=300)

    assert small.runs <= 5
    assert small.unfinished.startswith("shrinking ended after 5 runs with ")


def test_no_time__leaves_the_run_as_it_was() -> None:
    seed = first_failing(MUTANT)

    small = shrink(seed, MUTANT, NoDoubleOwnership, seconds=0)

    assert small.options == MUTANT
    assert small.unfinished


def test_another_subject_keeps_its_own_choices() -> None:
    seed = first_failing(MUTANT)

    small = shrink(seed, MUTANT, NoDoubleOwnership, seconds=300, simulate=partial(simulate))

    assert small.options.choices is None
    assert len(small.options.actions or ()) < 30


def test_a_run_of_the_status_store_shrinks_too() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.STATUS, mutant="put-safe-ignores-generation", steps=10)
    (invariant,) = select(["safe_status_writes.suppressed_iff_newer_cached"])
    seed = next(seed for seed in range(100) if breaks(seed, options, invariant))

    small = shrink(seed, options, invariant, seconds=300)

    assert len(small.options.actions or ()) < 5
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
