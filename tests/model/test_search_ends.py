"""A search that ends early: why, and what it has covered; one that memory does not hold goes to disk."""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.checker.safety.limits import (
    Ended,
    Limits,
    collision_probability,
    resident_bytes,
)
from rebalance_check.model.checker.safety.search import Search
from rebalance_check.model.registry import MUTANTS, model_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

SMALL = "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off"
MIDDLE = "cooperative?members=2&partitions=2&generations=3"
LARGE = "cooperative"


def whole(address: str, mutant: str = "", **options: Any) -> Exploration:
    bounds = Bounds.from_address(address)
    return explore(model_for(bounds, mutant), bounds, **options)


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


def test_memory_that_runs_out_ends_the_interpreted_search(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert 600 < outcome.distinct == len(search.seen) <= 700


def little_memory() -> Limits:
    """Less memory than the search of `LARGE` needs without symmetry; the compiler's own is there already."""
    whole(LARGE, limits=Limits(states=10))
    return Limits(memory=resident_bytes() + (24 << 20))


def test_a_memory_limit_ends_the_compiled_search_before_it_is_passed() -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    found = whole(LARGE, symmetry=False, limits=little_memory())
    assert found.ended is Ended.BYTES
    assert 10_000 < found.distinct < 1_925_802


@pytest.mark.parametrize("threads", [1, 2])
def test_what_memory_is_not_enough_for_lies_in_files_without_names(threads: int, tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    seen = list[Path]()

    def look() -> bool:
        seen.extend(tmp_path.iterdir())
        return False

    limits = replace(little_memory(), stop=look)
    found = whole(LARGE, symmetry=False, limits=limits, spill=tmp_path, threads=threads)
    assert (found.distinct, found.generated, found.depth, found.complete) == (1_925_802, 5_494_627, 64, True)
    assert found.disk_bytes > 1 << 20
    assert seen == []


def test_a_counterexample_is_the_same_where_everything_lies_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    from rebalance_check.model.checker.safety.workers import ParallelSearch  # noqa: PLC0415 - needs the extra

    def all_in_files(search: ParallelSearch) -> None:
        for worker in search.workers:
            worker.storage.most = 0

    mutant = MUTANTS["restored-member-id-is-not-fenced"]
    expected = whole(mutant.bounds.address(), mutant.name)
    monkeypatch.setattr(ParallelSearch, "share_memory", all_in_files)
    found = whole(mutant.bounds.address(), mutant.name, spill=tmp_path)
    assert found.disk_bytes > 0
    assert (found.violated, found.counterexample) == (mutant.caught_by, expected.counterexample)


def test_a_full_disk_ends_the_search(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    limits, before = little_memory(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, before[1]))
    try:
        found = whole(LARGE, symmetry=False, limits=limits, spill=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert found.ended is Ended.DISK
    assert 10_000 < found.distinct < 1_925_802


def test_an_interpreted_search_has_no_files(tmp_path: Path) -> None:
    with pytest.raises(RebalanceCheckError, match="only the compiled explorer keeps states on disk"):
        whole(SMALL, compiled=False, spill=tmp_path)


def test_a_memory_limit_below_what_the_process_has_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"the limit of memory is 1 MiB, and this process has .* allow more"):
        whole(SMALL, compiled=False, limits=Limits(memory=1 << 20))


NO_MEMORY = """
import resource, sys
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.registry import MUTANTS, model_for
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
