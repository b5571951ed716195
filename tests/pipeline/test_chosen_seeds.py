"""Seeds are chosen by what the runs before them reached: the same ones each time, and more is reached than in order."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import Pool
from rebalance_check.pipeline.chosen_seeds import ChosenRounds, SeedChooser, traits
from rebalance_check.pipeline.fuzz import fuzz
from rebalance_check.pipeline.history_table import HistoryTable
from rebalance_check.pipeline.reached import Reached
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.pipeline.seed_set import SeedSet

RUNS = 32
POOL = Pool(range(1_000), RUNS)
OPTIONS = SimulationOptions(steps=6)
CLAIM = ("one_leader",)


def campaign(**given: object) -> FuzzResult:
    return fuzz(POOL, OPTIONS, invariants=CLAIM, **{"workers": 1, **given})  # type: ignore[arg-type]  # of `fuzz`


@pytest.fixture(scope="module")
def chosen() -> FuzzResult:
    """The campaign in one process, without a table."""
    return campaign()


def test_chosen_seeds_reach_more_than_as_many_in_order(chosen: FuzzResult) -> None:
    in_order = fuzz(range(RUNS), OPTIONS, invariants=CLAIM, workers=1)
    assert (chosen.runs, in_order.runs) == (RUNS, RUNS)
    assert len(chosen.reached.runs) > 1.2 * len(in_order.reached.runs)


def test_what_a_claim_comes_to_judge__counts_as_new(chosen: FuzzResult) -> None:
    judged = {each for each in chosen.reached.runs if " judged something in " in each}
    assert "one_leader judged something in CompletingRebalance" in judged
    assert {each.partition(" ")[0] for each in judged} == set(CLAIM), "of the claims that the campaign judges"


def test_each_round_adds_up(chosen: FuzzResult) -> None:
    reached = chosen.reached
    assert sum(each.runs for each in reached.rounds) == len(set(reached.chosen)) == RUNS
    assert sum(each.new for each in reached.rounds) == len(reached.runs)


def test_several_processes_choose_the_same(chosen: FuzzResult) -> None:
    assert replace(campaign(workers=2), seconds=0) == replace(chosen, seconds=0)


def test_another_hash_seed_chooses_the_same(chosen: FuzzResult) -> None:
    program = (
        "from rebalance_check.impl.runtime.options import SimulationOptions\n"
        "from rebalance_check.pipeline.campaign import Pool\n"
        "from rebalance_check.pipeline.fuzz import fuzz\n"
        f"print(fuzz(Pool(range(1_000), {RUNS}), SimulationOptions(steps=6), invariants={CLAIM}, workers=1)"
        ".reached.chosen)\n"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    printed = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == str(chosen.reached.chosen)


def test_a_table_chooses_the_same__also_where_it_goes_on(chosen: FuzzResult, tmp_path: Path) -> None:
    kept = campaign(out=tmp_path)
    assert replace(kept, seconds=0) == replace(chosen, seconds=0)
    table = HistoryTable(tmp_path)
    table.shards()[1].path.unlink()
    left = sum(len(shard.seeds) for shard in HistoryTable(tmp_path).shards())
    again = campaign(out=tmp_path, workers=2)
    assert replace(again, seconds=0) == replace(chosen, seconds=0, resumed=left)


def test_a_table_of_chosen_seeds__takes_a_range_of_seeds_too(tmp_path: Path) -> None:
    few = Pool(range(60), 10)
    chosen = set(fuzz(few, OPTIONS, invariants=CLAIM, workers=1, out=tmp_path).reached.chosen)
    everything = fuzz(range(60), OPTIONS, invariants=CLAIM, workers=1, out=tmp_path)
    assert (everything.runs, everything.resumed) == (60, len(chosen))


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_spark_chooses_the_same(chosen: FuzzResult) -> None:
    assert replace(campaign(engine="spark"), seconds=0, engine="local") == replace(chosen, seconds=0)


def test_a_pool_that_is_smaller_than_wanted__runs_whole() -> None:
    result = fuzz(Pool(range(5), 9), OPTIONS, invariants=CLAIM, workers=1)
    assert (result.runs, sorted(result.reached.chosen)) == (5, list(range(5)))


def test_a_pool_of_nothing_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="0 runs"):
        fuzz(Pool(range(5), 0), OPTIONS)


def test_seeds_that_found_something_before__are_not_chosen_again() -> None:
    result = fuzz(Pool(range(8), 8), OPTIONS, invariants=CLAIM, workers=1, first=[3, 5])
    assert (result.runs, sorted(result.reached.chosen)) == (8, [0, 1, 2, 4, 6, 7])


def test_what_a_seed_draws__is_known_before_it_runs() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER)
    found = [each for seed in range(30) for each in traits(seed, options)]
    assert all(each[0] == "eager" for each in found)
    assert {len(each) for each in found} == {1, 2, 3}


def test_a_trait_that_adds__is_chosen_more_often() -> None:
    """Runs of one protocol reach something new each time, all others nothing."""
    reached = Reached()
    rounds = ChosenRounds(Pool(range(3_000), 200), SimulationOptions(), reached)
    shares = []
    for seeds in rounds:
        rich = [seed for seed in seeds if traits(seed, SimulationOptions())[0] == ("eager",)]
        shares.append(len(rich) / len(seeds))
        for seed in seeds:
            rounds.judged(seed, [f"{seed} a", f"{seed} b"] if seed in rich else ["nothing"])
    assert shares[-1] > 2 * shares[0]
    assert min(shares[2:]) < 1, "the others are not given up"


def test_a_round_that_was_cut_short__counts_what_it_has() -> None:
    reached = Reached()
    rounds = ChosenRounds(Pool(range(100), 40), SimulationOptions(), reached)
    first = next(iter(rounds))
    rounds.judged(next(iter(first)), ["one"])
    rounds.end_round()
    assert (reached.chosen, [(each.runs, each.new) for each in reached.rounds]) == ([next(iter(first))], [(1, 1)])


def test_nothing_is_chosen_twice() -> None:
    chooser = SeedChooser(range(50), SimulationOptions())
    taken = [seed for _ in range(6) for seed in chooser.choose(10)]
    assert sorted(taken) == list(range(50))


@pytest.mark.parametrize("seeds", [[], [4], [1, 2, 3], [9, 1, 2, 5, 4]])
def test_a_set_of_seeds__holds_what_it_was_given(seeds: list[int]) -> None:
    found = SeedSet.of(seeds)
    assert list(found) == sorted(seeds)
    assert [seed for seed in range(12) if seed in found] == sorted(seeds)
    assert len(found) == len(seeds)
    assert [list(piece) for piece in found.cut(2)] == [sorted(seeds)[at : at + 2] for at in range(0, len(seeds), 2)]


def test_a_set_of_seeds__without_some() -> None:
    assert list(SeedSet.of([1, 2, 3, 7, 9]).without([range(2, 8), range(20, 30)])) == [1, 9]
    assert SeedSet.of([1, 9]).meets(SeedSet.of([9]))
    assert not SeedSet.of([1, 9]).meets(SeedSet.of(range(2, 9)))
