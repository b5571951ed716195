"""Random walks within bounds: the same seed gives the same, they cover what a search covers, and what breaks is shrunk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Ended, Limits
from rebalance_check.model.checker.safety.random_walks import RandomWalks, random_walks, replayed
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import MUTANTS, model_for, path_at
from rebalance_check.model.vocabulary.bounds import Bounds

SMALL = Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off")
LARGE = Bounds.from_address("cooperative?members=6&partitions=6&generations=12&crashes=3&leaves=2&expiries=2")


def walked(bounds: Bounds, walks: int, mutant: str = "", **options: Any) -> RandomWalks:
    return random_walks(model_for(bounds, mutant), bounds, walks, **options)


def test_the_same_seed_gives_the_same_walks() -> None:
    one, same, other = (walked(SMALL, 5, seed=seed, depth=30) for seed in (3, 3, 4))
    assert replace(one, seconds=0) == replace(same, seconds=0)
    assert one.actions != other.actions


def test_walks_in_small_bounds_cover_almost_what_a_search_covers() -> None:
    found, searched = walked(SMALL, 50), explore(model_for(SMALL), SMALL, compiled=False, symmetry=False)
    assert 0.9 * searched.distinct < found.distinct <= searched.distinct
    assert found.reachable_states == searched.reachable_states
    assert {kind for kind, count in found.actions.items() if count} == {
        kind for kind, count in searched.actions.items() if count
    }
    assert set(found.verdicts.values()) == {"held"}
    assert (found.walks, found.counterexample, found.violated) == (50, None, "")


def test_bounds_beyond_any_search_can_be_walked() -> None:
    found = walked(LARGE, 2, depth=60)
    assert found.steps == 120
    assert 100 < found.distinct <= 122
    assert sum(found.actions.values()) == found.steps


@pytest.mark.parametrize("name", ["generation-is-reused", "leader-does-not-withhold", "join-barrier-dropped"])
def test_a_walk_that_breaks_a_claim_is_shrunk_to_a_path_that_breaks_it(name: str) -> None:
    mutant = MUTANTS[name]
    found = walked(mutant.bounds, 2_000, name)
    assert found.violated == mutant.caught_by
    assert set(found.verdicts.values()) == {"violated", "undecided"}
    path = found.counterexample
    assert path is not None
    assert len(path.actions) <= found.walked
    again = path_at(path.address())
    assert again.actions == path.actions
    assert execute(again).broken() == mutant.caught_by
    for left_out in range(len(path.actions)):
        fewer = path.actions[:left_out] + path.actions[left_out + 1 :]
        assert replayed(path.machine, fewer, mutant.caught_by) is None


def test_a_limit_ends_the_walks_and_leaves_the_claims_undecided() -> None:
    for limits, why in [
        (Limits(states=50), Ended.STATES),
        (Limits(seconds=0.0), Ended.SECONDS),
        (Limits(memory=1), Ended.BYTES),
        (Limits(stop=lambda: True), Ended.STOPPED),
    ]:
        found = walked(SMALL, 1_000, limits=limits)
        assert found.ended is why
        assert found.walks < 1_000
        assert set(found.verdicts.values()) == {"undecided"}


def test_a_walk_has_no_more_actions_than_its_depth() -> None:
    found = walked(SMALL, 3, depth=1)
    assert (found.steps, found.distinct) == (3, 3)
