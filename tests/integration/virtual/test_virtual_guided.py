"""Model-guided walks: the model, Kafka's coordinators and ours do the same, whatever the bounds."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_check.impl.comparison.compare import compared
from rebalance_check.impl.comparison.known import known
from rebalance_check.impl.comparison.to_model.outcome import Step
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.impl.comparison.to_model.walk import Itinerary
from rebalance_check.impl.mutants import planted
from rebalance_check.integration.comparison.to_model.kafka import (
    again,
    guided,
    random_bounds,
    smaller,
    walk_of,
    walk_with_ours,
)
from rebalance_check.integration.comparison.to_model.known import KNOWN
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule
from tests.model.pinned_paths import FORGOTTEN, WINDOWS

WALKS = 40
MUTANT = "leave-without-rebalance"


class Chosen:
    """Guides a walk by numbers."""

    def __init__(self, choices: list[int]) -> None:
        self._waiting = list(choices)

    def choose(self, run: ConformanceRun) -> Action | None:
        actions = run.enabled() if self._waiting else []
        return actions[self._waiting.pop(0) % len(actions)] if actions else None

    def arrive(self, step: Step) -> None:
        """Numbers follow no plan."""


@pytest.mark.virtual
def test_seeded_walks_show_no_difference__but_listed_ones(kafka: VirtualKafka) -> None:
    done = guided(kafka, range(WALKS))
    print(done)

    assert list(map(str, done.differences)) == []
    assert done.counts["walks"] == WALKS
    assert done.counts["compared"] > 20 * WALKS
    assert {"SyncGroup REBALANCE_IN_PROGRESS", "JoinGroup UNKNOWN_MEMBER_ID"} <= done.reached.keys()


@pytest.mark.virtual
@settings(deadline=None)
@given(seed=st.integers(0, 2**32), choices=st.lists(st.integers(0, 1_000), min_size=10, max_size=60))
def test_whatever_is_chosen_there_is_no_difference(kafka: VirtualKafka, seed: int, choices: list[int]) -> None:
    found = compared(walk_with_ours(kafka, random_bounds(Random(seed)), seed, Chosen(choices)))
    assert found is None or known(KNOWN, kafka.release, found) is not None, str(found)


@pytest.mark.virtual
def test_a_planted_defect_is_found_and_its_schedule_shortened(kafka: VirtualKafka) -> None:
    with planted(MUTANT):
        found = next(each for seed in range(WALKS) if (each := compared(walk_of(kafka, seed))) is not None)

    assert found.sides == ("model", "ours")
    assert found.kind == "LeaveGroup"
    assert again(kafka, found.start.schedule) is None  # ours without the defect
    assert smaller(kafka, found) == found  # what does not repeat is left alone


@pytest.mark.virtual
def test_one_seed_is_one_walk(kafka: VirtualKafka) -> None:
    first, second = walk_of(kafka, 5), walk_of(kafka, 5)
    compared(first)
    compared(second)

    assert first.run.machine.bounds == second.run.machine.bounds
    assert first.steps == second.steps


@pytest.mark.virtual
def test_a_schedule_is_walked_again_without_what_is_not_enabled(kafka: VirtualKafka) -> None:
    walk = walk_of(kafka, 8)
    assert compared(walk) is None

    bounds = walk.run.machine.bounds
    assert again(kafka, Schedule(bounds, (*walk.steps, *walk.steps[:3]), 8)) is None


@pytest.mark.virtual
@pytest.mark.parametrize("name", WINDOWS | FORGOTTEN)
def test_kafka_goes_into_every_window_of_a_failover__and_ours_with_it(kafka: VirtualKafka, name: str) -> None:
    path = path_at((WINDOWS | FORGOTTEN)[name])
    walk = walk_with_ours(kafka, path.bounds, 0, Itinerary(path.actions))
    assert compared(walk) is None
    assert (tuple(walk.steps), walk.follows) == (path.actions, True)


def test_bounds_have_every_concern__one_without_the_others_and_together() -> None:
    drawn = [random_bounds(Random(seed)) for seed in range(300)]
    on = {name: [each for each in drawn if getattr(each, name)] for name in Bounds.concerns()}

    assert all(on.values())
    assert any(sum(bool(getattr(each, name)) for name in on) > 1 for each in drawn)
    assert any(not any(getattr(each, name) for name in on) for each in drawn)
