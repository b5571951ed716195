"""The explorer on Spark finds what it finds on one machine, also when tasks fail, and when it is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
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

LARGE = ["eager", "cooperative"]

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


@pytest.mark.nightly
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("address", LARGE)
def test_both_engines_explore_the_same_of_large_bounds(address: str, symmetry: bool) -> None:
    found = explore_on_spark(Bounds.from_address(address), symmetry=symmetry)
    assert counted(found) == counted(local(address, symmetry))


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
