"""Model-guided walks: the model, Kafka's coordinators and ours do the same, whatever the bounds."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.conformance.guided_walks import (
    GuidedWalk,
    again,
    guided,
    random_bounds,
    shorter,
    walk_of,
    walked,
)
from rebalance_check.integration.conformance.known_divergences import known
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule
from tests.model.pinned_paths import FORGOTTEN, WINDOWS

WALKS = 40
MUTANT = "leave-without-rebalance"


@pytest.mark.virtual
def test_seeded_walks_show_no_difference__but_listed_ones(kafka: VirtualKafka) -> None:
    done = guided(kafka, range(WALKS))
    print(done)

    assert [str(each) for each in done.found] == []
    assert done.walks == WALKS
    assert done.compared > 20 * WALKS
    assert {("SyncGroup", "REBALANCE_IN_PROGRESS"), ("JoinGroup", "UNKNOWN_MEMBER_ID")} <= done.answers


@pytest.mark.virtual
@settings(deadline=None)
@given(seed=st.integers(0, 2**32), choices=st.lists(st.integers(0, 1_000), min_size=10, max_size=60))
def test_whatever_is_chosen_there_is_no_difference(kafka: VirtualKafka, seed: int, choices: list[int]) -> None:
    waiting = list(choices)

    def choose(actions: Sequence[Action]) -> Action | None:
        return actions[waiting.pop(0) % len(actions)] if waiting else None

    found = walked(GuidedWalk(kafka, random_bounds(Random(seed)), seed, choose, len(choices)))

    assert found is None or known(kafka.release, found.divergence) is not None, str(found)


@pytest.mark.virtual
def test_a_planted_defect_is_found_and_its_schedule_shortened(kafka: VirtualKafka) -> None:
    with planted(MUTANT):
        found = next(each for seed in range(WALKS) if (each := walked(walk_of(kafka, seed))) is not None)

    assert found.between == "model and ours"
    assert found.divergence.action.kind == "LeaveGroup"
    assert again(kafka, found.schedule) is None  # ours without the defect
    assert shorter(kafka, found) == found  # what does not repeat is left alone


@pytest.mark.virtual
def test_one_seed_is_one_walk(kafka: VirtualKafka) -> None:
    first, second = walk_of(kafka, 5), walk_of(kafka, 5)
    walked(first)
    walked(second)

    assert first.bounds == second.bounds
    assert first.actions == second.actions


@pytest.mark.virtual
def test_a_schedule_is_walked_again_without_what_is_not_enabled(kafka: VirtualKafka) -> None:
    walk = walk_of(kafka, 8)
    assert walked(walk) is None

    assert again(kafka, Schedule(walk.bounds, (*walk.actions, *walk.actions[:3]), walk.seed)) is None


@pytest.mark.virtual
@pytest.mark.parametrize("name", WINDOWS | FORGOTTEN)
def test_kafka_goes_into_every_window_of_a_failover__and_ours_with_it(kafka: VirtualKafka, name: str) -> None:
    path = path_at((WINDOWS | FORGOTTEN)[name])
    waiting = list(path.actions)
    walk = GuidedWalk(kafka, path.bounds, 0, lambda _: waiting.pop(0) if waiting else None, len(waiting) + 1)

    assert walked(walk) is None
    assert (tuple(walk.actions), walk.follows) == (path.actions, True)


def test_bounds_have_every_concern__one_without_the_others_and_together() -> None:
    drawn = [random_bounds(Random(seed)) for seed in range(300)]
    on = {name: [each for each in drawn if getattr(each, name)] for name in Bounds.concerns()}

    assert all(on.values())
    assert any(sum(bool(getattr(each, name)) for name in on) > 1 for each in drawn)
    assert any(not any(getattr(each, name) for name in on) for each in drawn)
