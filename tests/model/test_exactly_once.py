"""Exactly-once sources in the model (KIP-618): pinned counts, what holds and is reached, mutants."""

import pytest

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.connect.exactly_once.model import MODEL
from rebalance_check.model.connect.exactly_once.mutants import EXACTLY_ONCE_MUTANTS
from rebalance_check.model.vocabulary.bounds import Bounds
from tests.model.connect_models import (
    breaks_liveness,
    caught,
    every_claim_has_a_mutant,
    exhausted,
    guards_touch_nothing,
    held,
    reach_everything,
)

HOLDS = [
    # bounds, distinct, generated, depth
    ("connect-exactly-once?members=2&partitions=2&writes=2", 3_625, 10_899, 17),
    ("connect-exactly-once?members=2&partitions=1&expiries=1&writes=2", 1_384, 4_418, 18),
    ("connect-exactly-once?members=1&partitions=2", 1_466, 4_087, 17),
    ("connect-exactly-once?members=2&partitions=1&expiries=1", 4_411, 15_840, 19),
]
"""Sources for which every claim holds; a change here is a change of the protocol, to be explained in the commit."""

SAFETY_MUTANTS = [mutant for mutant in EXACTLY_ONCE_MUTANTS if not mutant.liveness]
LIVENESS_MUTANTS = [mutant for mutant in EXACTLY_ONCE_MUTANTS if mutant.liveness]


@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), HOLDS)
def test_the_tasks_are_exhausted__and_every_claim_holds(
    address: str, distinct: int, generated: int, depth: int
) -> None:
    exhausted(MODEL, address, distinct, generated, depth)


def test_what_the_tasks_must_reach_is_reached() -> None:
    """Each in the smallest bounds in which it happens."""
    places = {
        HOLDS[1][0]: {"fenced_task_runs_on"},
        HOLDS[2][0]: {"task_after_task_needs_no_round", "start_is_refused", "round_is_outdated"},
    }
    reach_everything(MODEL, places)


@pytest.mark.parametrize("mutant", SAFETY_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_the_claim_it_names__and_the_healthy_model_breaks_nothing(mutant: ModelMutant) -> None:
    caught(MODEL, mutant)


def test_every_claim_has_a_mutant_that_breaks_it() -> None:
    every_claim_has_a_mutant(MODEL, EXACTLY_ONCE_MUTANTS)


@pytest.mark.parametrize("mutant", LIVENESS_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_the_liveness_it_names__and_the_healthy_model_none(mutant: ModelMutant) -> None:
    breaks_liveness(MODEL, mutant)


def test_a_guard_that_says_no_has_not_touched_the_state() -> None:
    bounds = Bounds.from_address("connect-exactly-once?members=3&partitions=2&writes=8&expiries=4")
    guards_touch_nothing(MODEL, bounds, seed=3, runs=40, steps=60)


# ------------------------------------------------------------------------------------------------ compiled


@pytest.mark.nightly
def test_the_compiled_model_is_the_interpreted_one() -> None:
    exhausted(MODEL, *HOLDS[1], compiled=True)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("address", "distinct"), [("connect-exactly-once?members=2&partitions=2&expiries=1&writes=2", 79_931)]
)
def test_larger_sources_hold(address: str, distinct: int) -> None:
    assert held(MODEL, address, compiled=True).distinct == distinct
