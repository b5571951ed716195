"""A search that ends early: why, what it has covered, and that it goes on from a checkpoint as if nothing had been."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.checker.safety.checkpoint import Checkpoint
from rebalance_check.model.checker.safety.limits import (
    Ended,
    Limits,
    collision_probability,
    estimated_states_left,
    resident_bytes,
)
from rebalance_check.model.checker.safety.search import Search
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

SMALL = "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off"
MIDDLE = "cooperative?members=2&partitions=2&generations=3"
LARGE = "cooperative"

COUNTED = ("distinct", "generated", "cut", "depth", "frontier", "complete", "verdicts", "reachable_states", "actions")


class After:
    """A ``stop`` that says yes when it is asked for the nth time."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def in_pieces(address: str, stops: list[Limits], mutant: str = "", **options: Any) -> tuple[Exploration, int]:
    """Explore, ended by each of these limits in turn and then to the end; the result and the number of checkpoints."""
    bounds = Bounds.from_address(address)
    saved: list[Checkpoint] = []
    found = [
        explore(
            model_for(bounds, mutant), bounds, limits=limits, save=saved.append,
            resume=saved[-1] if saved else None, **options,
        )
        for limits in [*stops, Limits()]
    ]  # fmt: skip
    return found[-1], len(saved)


def whole(address: str, mutant: str = "", **options: Any) -> Exploration:
    bounds = Bounds.from_address(address)
    return explore(model_for(bounds, mutant), bounds, **options)


def assert_equal(found: Exploration, expected: Exploration) -> None:
    for name in COUNTED:
        assert getattr(found, name) == getattr(expected, name), name
    assert found.counterexample == expected.counterexample


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("states", [[1], [2, 3, 17], [50, 92], list(range(2, 93, 7))])
def test_an_interpreted_search_that_goes_on_finds_the_same(states: list[int], symmetry: bool) -> None:
    options: dict[str, Any] = {"compiled": False, "symmetry": symmetry}
    found, checkpoints = in_pieces(SMALL, [Limits(states=count) for count in states], **options)
    assert checkpoints == len(states)
    assert_equal(found, whole(SMALL, **options))


@pytest.mark.parametrize("times", [[0], [1, 1, 1], [100, 40, 300]])
def test_an_interpreted_search_goes_on_from_any_state_where_it_was_stopped(times: list[int]) -> None:
    found, checkpoints = in_pieces(MIDDLE, [Limits(stop=After(count)) for count in times], compiled=False)
    assert checkpoints == len(times)
    assert_equal(found, whole(MIDDLE, compiled=False))


def test_a_mutant_has_the_same_counterexample_after_a_checkpoint() -> None:
    bounds = "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off"
    found, _ = in_pieces(bounds, [Limits(states=20), Limits(states=40)], "generation-is-reused", compiled=False)
    assert found.violated == "generation_is_new_after_each_join_phase"
    assert_equal(found, whole(bounds, "generation-is-reused", compiled=False))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("stops", [
    [Limits(states=1_000)], [Limits(states=100), Limits(states=100_000), Limits(states=200_000), Limits(states=322_000)],
    [Limits(states=2), Limits(states=3), Limits(states=50_000), Limits(states=321_900)],
])  # fmt: skip
def test_a_compiled_search_that_goes_on_finds_the_same(stops: list[Limits], threads: int) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    found, checkpoints = in_pieces(LARGE, stops, threads=threads)
    assert checkpoints == len(stops)
    assert (found.distinct, found.generated, found.depth) == (322_096, 918_963, 64)
    assert_equal(found, whole(LARGE, threads=threads))


def small_checkpoint(compiled: bool, **options: Any) -> Checkpoint:
    saved: list[Checkpoint] = []
    bounds = Bounds.from_address(SMALL)
    explore(model_for(bounds), bounds, compiled=compiled, limits=Limits(states=10), save=saved.append, **options)
    return saved[0]


DIFFERENT: dict[str, Callable[[], Any]] = {
    "bounds": lambda: whole(MIDDLE, compiled=False, resume=small_checkpoint(False)),
    "mutant": lambda: whole(SMALL, "generation-is-reused", compiled=False, resume=small_checkpoint(False)),
    "symmetry": lambda: whole(SMALL, symmetry=False, compiled=False, resume=small_checkpoint(False)),
    "another version of the model": lambda: whole(
        SMALL, compiled=False,
        resume=replace(saved := small_checkpoint(False), identity={**saved.identity, "source of the model": "0"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_checkpoint_of_another_search_is_refused(what: str) -> None:
    with pytest.raises(RebalanceCheckError, match=what):
        DIFFERENT[what]()


def test_a_search_that_ends_early_says_why_and_what_it_has_covered() -> None:
    bounds = Bounds.from_address(MIDDLE)
    for limits, why in [
        (Limits(states=100), Ended.STATES),
        (Limits(seconds=0.0), Ended.SECONDS),
        (Limits(stop=lambda: True), Ended.STOPPED),
    ]:
        found = explore(model_for(bounds), bounds, compiled=False, limits=limits)
        assert found.ended is why
        assert not found.complete
        assert found.frontier > 0
        assert found.levels == found.depth - 1
        assert set(found.verdicts.values()) == {"undecided"}


def test_memory_that_runs_out_undoes_the_state_that_was_being_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(model_for(bounds := Bounds.from_address(MIDDLE)), bounds)
    search = Search(machine, symmetry=True, limits=Limits())
    judged = search.judge
    calls = 0

    def judge(state: Any, packed: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls == 700:
            raise MemoryError
        judged(state, packed)

    monkeypatch.setattr(search, "judge", judge)
    outcome = search.run()
    assert outcome.ended is Ended.NO_MEMORY
    assert not outcome.complete
    assert 600 < outcome.distinct == len(search.seen) < 700
    again = Search(machine, symmetry=True, limits=Limits())
    again.resume(search.checkpoint())
    done = again.run()
    assert (done.distinct, done.generated, done.depth) == (1955, 4018, 38)


def test_a_memory_limit_ends_the_compiled_search_before_it_is_passed() -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    bounds = Bounds.from_address(LARGE)
    whole(LARGE, limits=Limits(states=10))  # the compiler's own memory is there already
    saved: list[Checkpoint] = []
    most = resident_bytes() + (24 << 20)
    found = explore(model_for(bounds), bounds, symmetry=False, limits=Limits(memory=most), save=saved.append)
    assert found.ended is Ended.BYTES
    assert 10_000 < found.distinct < 1_925_802
    done = explore(model_for(bounds), bounds, symmetry=False, resume=saved[0])
    assert (done.distinct, done.generated, done.depth) == (1_925_802, 5_494_627, 64)


def test_a_memory_limit_below_what_the_process_has_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"the limit of memory is 1 MiB, and this process has .* allow more"):
        whole(SMALL, compiled=False, limits=Limits(memory=1 << 20))


NO_MEMORY = """
import resource, sys
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds
bounds = Bounds.from_address("cooperative")
explore(model_for(bounds), bounds, limits=Limits(states=10))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (40 << 20),) * 2)
found = explore(model_for(bounds), bounds, symmetry=False, threads=1)
print(found.ended.name, found.depth, found.distinct)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is enforced on Linux")
def test_a_system_without_memory_ends_the_search_and_not_the_process() -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    done = subprocess.run([sys.executable, "-c", NO_MEMORY], capture_output=True, text=True, check=True, timeout=300)
    why, depth, distinct = done.stdout.split()
    assert why == "NO_MEMORY"
    assert int(depth) > 10
    assert int(distinct) > 10_000


def test_the_probability_of_a_collision_is_that_of_the_birthday_bound() -> None:
    assert collision_probability(1) == 0
    assert collision_probability(2, bits=1) == pytest.approx(0.5)
    assert collision_probability(1_000_000) == pytest.approx(1 / 37e6, rel=0.01)
    assert collision_probability(1 << 40) == 1.0
    assert whole(SMALL, compiled=False).collision_probability == 0.0


def test_an_estimate_is_made_only_while_the_frontier_shrinks() -> None:
    assert estimated_states_left([1, 2, 4, 8], 16) is None
    assert estimated_states_left([8, 4], 2) is None
    assert estimated_states_left([64, 32, 16, 8], 4) == pytest.approx(8)
