"""The argument of a counterexample: what the claim needs to say the same, and not one event more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalance_check import NoDoubleOwnership
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary import events
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.seed_run import breaks
from rebalance_check.properties.argument import argument
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Counterexample, Violated

OPTIONS = SimulationOptions(
    protocol=SimulatedProtocol.COOPERATIVE, mutant="cooperative-leader-does-not-withhold", steps=30
)


@pytest.fixture(scope="module")
def failing() -> tuple[list[Event], Counterexample]:
    seed = next(seed for seed in range(100) if breaks(seed, OPTIONS, NoDoubleOwnership))
    history = simulate(seed, OPTIONS)
    return history, said_of(history)


def said_of(history: Sequence[Event]) -> Counterexample:
    verdict = judge(history, [NoDoubleOwnership]).verdict("no_double_ownership")
    assert isinstance(verdict, Violated)
    return verdict.counterexample


def test_the_argument_is_short__in_order__and_holds_what_the_reasons_name(
    failing: tuple[list[Event], Counterexample],
) -> None:
    history, found = failing

    needed = argument(history, found, NoDoubleOwnership)

    assert len(needed) < 12 < len(history)
    assert list(needed) == [event for event in history if event in needed]
    assert set(found.events) <= set(needed)


def test_no_event_of_the_argument_can_go(failing: tuple[list[Event], Counterexample]) -> None:
    history, found = failing
    needed = argument(history, found, NoDoubleOwnership)

    for event in needed:
        rest = [one for one in needed if one is not event]
        assert argument(rest, found, NoDoubleOwnership) == ()


def test_another_group_takes_no_part(failing: tuple[list[Event], Counterexample]) -> None:
    history, found = failing
    other = events.PartitionsAssigned(group="other", source="m9", seq=0, member="m9", generation=1, partitions=("t-0",))

    assert other not in argument([other, *history], found, NoDoubleOwnership)


def test_a_history_of_which_the_claim_says_something_else_has_no_argument(
    failing: tuple[list[Event], Counterexample],
) -> None:
    history, found = failing

    assert argument(history[:20], found, NoDoubleOwnership) == ()
