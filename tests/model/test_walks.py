"""Schedules from the state graph: they can be run, the same seed gives the same, and a tour sees more than chance."""

from itertools import islice
from random import Random

import pytest

from rebalance_check.model.checker.walks import Graph, tour
from rebalance_check.model.registry import machine_for, path_at, path_of
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import Schedule
from tests.model.conftest import random_path

REPLAYED = Bounds.from_address(
    "cooperative?partitions=2&leaves=1&expiries=1&duplicates=1&initial_delay=off&member_id_required"
)
TINY = Bounds.from_address("eager?members=1&partitions=1&generations=2&initial_delay=off")


def transitions(bounds: Bounds, paths: list[tuple[Action, ...]]) -> set[tuple[bytes, Action]]:
    """The distinct transitions along the paths, each of which is enabled where it stands."""
    machine, seen = machine_for(bounds), set()
    for path in paths:
        state = machine.initial()
        for action in path:
            seen.add((machine.pack(state), action))
            assert machine.step(state, action)
    return seen


def test_a_tour_covers_more_than_random_walks_of_its_size() -> None:
    bounds = Bounds.from_address("eager?members=2&partitions=1&generations=3&initial_delay=off")
    schedules = list(islice(tour(Graph(machine_for(bounds)), steps=40), 40))
    walks = [tuple(random_path(Random(seed), machine_for(bounds), 40)) for seed in range(40)]
    assert len(transitions(bounds, [each.actions for each in schedules])) > 1.3 * len(transitions(bounds, walks))


def test_a_tour_of_a_small_model_takes_every_transition_and_ends() -> None:
    schedules = list(tour(Graph(machine_for(TINY)), steps=30))
    assert len(schedules) < 500
    machine, todo, every = machine_for(TINY), [], set[tuple[bytes, Action]]()
    todo.append(machine.pack(machine.initial()))
    seen = set(todo)
    while todo:
        node = todo.pop()
        for action, after in machine.successors(machine.unpack(node)):
            every.add((node, action))
            if (packed := machine.pack(after)) not in seen:
                seen.add(packed)
                todo.append(packed)
    assert transitions(TINY, [each.actions for each in schedules]) == every


def test_the_same_seed_gives_the_same_tour() -> None:
    def first_five(seed: int) -> list[Schedule]:
        return list(islice(tour(Graph(machine_for(REPLAYED), shuffle=Random(seed)), steps=40), 5))

    assert first_five(7) == first_five(7)
    assert first_five(7) != first_five(8)


def test_enabled_lists_what_may_happen_first() -> None:
    machine = machine_for(TINY)
    assert [str(action) for action in machine.enabled(machine.initial())] == ["SendJoinGroup m0", "Crash m0"]


@pytest.mark.parametrize("seed", range(4))
def test_a_path_comes_back_from_its_address(seed: int) -> None:
    path = path_of(Schedule(REPLAYED, tuple(random_path(Random(seed), machine_for(REPLAYED), 60))))
    assert path_at(path.address()) == path


def test_the_empty_path_has_an_address() -> None:
    empty = path_of(Schedule(TINY, ()))
    assert path_at(empty.address()) == empty


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("v1/eager/two.1", "is no path: expected v1/BOUNDS/INDICES"),
        (
            "v1/eager?members=1&partitions=1&generations=2&initial_delay=off/0.0.7",
            "step 3 of the path .* is 7, but only . actions are enabled",
        ),
        ("v1/eager?members=1&partitions=1&generations=2&initial_delay=off!nonsense/0", "there is no mutant 'nonsense'"),
        ("v1/lazy?members=1/0", "'lazy' in the address"),
    ],
)
def test_an_address_that_cannot_be_followed_is_refused_with_the_place(address: str, error: str) -> None:
    with pytest.raises(RebalanceCheckError, match=error):
        path_at(address)
