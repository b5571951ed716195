"""The explorer on Spark finds what it finds on one machine, also when tasks fail, and when it is killed."""

from __future__ import annotations

import ast
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.checker.safety.limits import Ended, Limits
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import model_for, mutant_named
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.explore import explore_on_spark
from rebalance_check.pipeline.explored_shares import Block, Shares

pytestmark = pytest.mark.spark

SMALL = "cooperative?members=2&partitions=2&generations=3"

TINY = "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off"

COUNTED = ("distinct", "generated", "cut", "depth", "frontier", "complete", "verdicts", "reachable_states", "actions")

BOUNDS = [
    (SMALL, True),
    (SMALL, False),
    ("eager?members=2&partitions=1&generations=3&crashes=0&duplicates=1&initial_delay=off", True),
    ("eager?partitions=2&generations=2&crashes=0&initial_delay=off", False),
    ("eager?members=2&partitions=1&generations=2&initial_delay=off&static_members=2", True),
]

MUTANTS = ["generation-is-reused", "restored-member-id-is-not-fenced"]


def counted(found: Exploration) -> dict[str, Any]:
    return {name: getattr(found, name) for name in COUNTED}


def local(address: str, symmetry: bool = True) -> Exploration:
    bounds = Bounds.from_address(address)
    return explore(model_for(bounds), bounds, symmetry=symmetry)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("address", "symmetry"), BOUNDS)
def test_both_engines_explore_the_same(address: str, symmetry: bool) -> None:
    found = explore_on_spark(Bounds.from_address(address), symmetry=symmetry, spread_from=60)
    assert counted(found) == counted(local(address, symmetry))


def pinned() -> Iterator[tuple[str, bool, tuple[int, int, int]]]:
    """The bounds whose distinct states, transitions and depth stand in the tests of the models."""
    for path in sorted((Path(__file__).parents[1] / "model").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Tuple) or not all(isinstance(each, ast.Constant) for each in node.elts):
                continue
            match ast.literal_eval(node):
                case (str(address), int(distinct), int(generated), int(depth)):
                    yield address, True, (distinct, generated, depth)
                case (str(address), bool(symmetry), int(distinct), int(generated), int(depth)):
                    yield address, symmetry, (distinct, generated, depth)


def test_the_tests_of_the_models_pin_many_bounds() -> None:
    assert len(list(pinned())) > 70


@pytest.mark.nightly
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("address", "symmetry", "counts"), list(pinned()))
def test_pinned_bounds_have_their_size_on_spark(address: str, symmetry: bool, counts: tuple[int, int, int]) -> None:
    found = explore_on_spark(Bounds.from_address(address), symmetry=symmetry, spread_from=1000)
    assert (found.distinct, found.generated, found.depth) == counts
    assert found.complete


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", MUTANTS)
def test_a_counterexample_is_as_short_as_that_of_one_machine(name: str) -> None:
    mutant = mutant_named(name)
    bounds = mutant.bounds
    found = explore_on_spark(bounds, mutant=name, spread_from=60)
    expected = explore(model_for(bounds, name), bounds)
    assert found.violated == expected.violated == mutant.caught_by
    assert found.counterexample is not None
    assert expected.counterexample is not None
    assert len(found.counterexample.actions) == len(expected.counterexample.actions)
    assert execute(found.counterexample).broken() == found.violated
    again = explore_on_spark(bounds, mutant=name, spread_from=60)
    assert again.counterexample == found.counterexample


PROGRAM = """
import sys
from pathlib import Path
from pyspark import cloudpickle
import shares_that_fail
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.pipeline.explore import explore_on_spark
from rebalance_check.pipeline.explored_shares import Block, Shares

if __name__ == "__main__":
    cloudpickle.register_pickle_by_value(shares_that_fail)
    found = explore_on_spark(Bounds.from_address(sys.argv[1]), work=Path(sys.argv[2]), master="local[2,3]",
                             spread_from=0, kind=getattr(shares_that_fail, sys.argv[3]))
    print(found.distinct, found.generated, found.cut, found.depth)
"""


def start(folder: Path, address: str, kind: str) -> subprocess.Popen[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent / "subjects")}
    command = [sys.executable, str(program), address, str(folder / "work"), kind]
    return subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.PIPE, text=True)


def test_tasks_that_fail_once_change_nothing(tmp_path: Path) -> None:
    output, _ = start(tmp_path, TINY, "FailingOnce").communicate(timeout=300)
    expected = local(TINY)
    assert output.split() == [str(getattr(expected, name)) for name in ("distinct", "generated", "cut", "depth")]
    assert sorted(path.name for path in (tmp_path / "work").glob("failed-*")) == ["failed-absorb", "failed-expand"]
    assert not list((tmp_path / "work").glob("attempt-*"))


def noted(work: Path) -> dict[str, Any]:
    """What a search has noted last; nothing where it has not."""
    note = work / "search.json"
    return dict(json.loads(note.read_text().partition("\n")[2])) if note.exists() else {}


@pytest.mark.usefixtures("spark")
def test_a_search_whose_driver_is_killed_goes_on(tmp_path: Path) -> None:
    process = start(tmp_path, SMALL, "Shares")
    end = time.monotonic() + 120
    while noted(tmp_path / "work").get("depth", 0) < 8:
        assert process.poll() is None, "the search ended before it was killed"
        assert time.monotonic() < end, "the search did not come far within 120 s"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = noted(tmp_path / "work")["depth"]
    found = explore_on_spark(Bounds.from_address(SMALL), work=tmp_path / "work", spread_from=60)
    assert 8 <= done < found.depth, "the kill came too late to prove anything"
    assert counted(found) == counted(local(SMALL))


@pytest.mark.usefixtures("spark")
def test_a_limit_ends_the_search_after_a_level__and_it_goes_on(tmp_path: Path) -> None:
    bounds = Bounds.from_address(SMALL)
    part = explore_on_spark(bounds, work=tmp_path, limits=Limits(states=500))
    assert part.ended is Ended.STATES
    assert 500 <= part.distinct < local(SMALL).distinct
    assert counted(explore_on_spark(bounds, work=tmp_path)) == counted(local(SMALL))


@pytest.mark.usefixtures("spark")
def test_a_request_to_stop_ends_a_level__and_it_goes_on(tmp_path: Path) -> None:
    bounds, work = Bounds.from_address(SMALL), tmp_path / "work"
    part = explore_on_spark(
        bounds, work=work, spread_from=0, limits=Limits(stop=lambda: noted(work).get("depth", 0) == 5)
    )
    assert (part.ended, part.levels) == (Ended.STOPPED, 4)
    assert counted(explore_on_spark(bounds, work=work)) == counted(local(SMALL))


@pytest.mark.usefixtures("spark")
def test_the_folder_of_another_search_is_refused(tmp_path: Path) -> None:
    bounds = Bounds.from_address(TINY)
    explore_on_spark(bounds, work=tmp_path, shares=3, limits=Limits(states=1))
    with pytest.raises(RebalanceCheckError, match="holds another search: its symmetry is True, and here it is False"):
        explore_on_spark(bounds, work=tmp_path, symmetry=False)
    with pytest.raises(RebalanceCheckError, match="holds a search with 3 shares, and not with 4: leave --shares out"):
        explore_on_spark(bounds, work=tmp_path, shares=4)
    for path in tmp_path.glob("*/000/state.json"):
        path.unlink()
    with pytest.raises(RebalanceCheckError, match=r"is damaged \(.*state\.json"):
        explore_on_spark(bounds, work=tmp_path)


class OnAFullDisk(Shares):
    """Shares that may write four levels."""

    def absorb(self, number: int, depth: int, blocks: Iterable[Block]) -> dict[str, Any]:
        if depth == 4:
            raise OSError(errno.ENOSPC, "no space left")
        return super().absorb(number, depth, blocks)


@pytest.mark.usefixtures("spark")
def test_a_full_disk_ends_the_search__and_it_goes_on_where_there_is_space(tmp_path: Path) -> None:
    bounds = Bounds.from_address(TINY)
    part = explore_on_spark(bounds, work=tmp_path, kind=OnAFullDisk)
    assert (part.ended, part.levels) == (Ended.DISK, 3)
    assert counted(explore_on_spark(bounds, work=tmp_path)) == counted(local(TINY))
