"""Spark simulates and judges like the local engine, into the same table, and says clearly what went wrong."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.fuzz import fuzz, judge_table
from rebalance_check.pipeline.history_table import BrokenTableError, HistoryTable
from rebalance_check.pipeline.run_on_table import stored_run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

SEEDS = range(3, 90)


def test_both_engines_say_the_same__of_a_subject_that_fails(
    toy: Any, options: SimulationOptions, tmp_path: Path
) -> None:
    local = fuzz(SEEDS, options, simulate=toy.simulate, workers=1)
    spark = fuzz(SEEDS, options, simulate=toy.simulate, engine="spark", out=tmp_path)
    assert replace(spark, engine="", seconds=0) == replace(local, engine="", seconds=0)
    assert spark.failing_seeds


def test_both_engines_say_the_same__of_the_simulator(tmp_path: Path) -> None:
    local = fuzz(range(40), SimulationOptions(), out=tmp_path / "local", workers=1)
    spark = fuzz(range(40), SimulationOptions(), out=tmp_path / "spark", engine="spark")
    assert replace(spark, engine="", seconds=0) == replace(local, engine="", seconds=0)
    assert histories(tmp_path / "spark") == histories(tmp_path / "local")


def test_spark_workers_plant_the_mutant_of_the_campaign(tmp_path: Path) -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, mutant="range-boundary-given-twice")
    spark = fuzz(range(6), options, out=tmp_path, engine="spark")
    assert spark.failing_seeds
    assert stored_run(HistoryTable(tmp_path), 0) == simulate(0, options)


def histories(folder: Path) -> dict[int, list[str]]:
    return {seed: lines for shard in HistoryTable(folder).shards() for seed, lines in shard.histories()}


def test_a_table_goes_from_engine_to_engine(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    fuzz(range(20), options, simulate=toy.simulate, workers=1, out=tmp_path)
    spark = fuzz(range(60), options, simulate=toy.simulate, engine="spark", out=tmp_path)
    local = fuzz(range(60), options, simulate=toy.simulate, workers=1, out=tmp_path)
    assert spark.resumed == 20
    assert local.resumed == 60
    assert sorted(histories(tmp_path)) == list(range(60))
    judged = judge_table(tmp_path, engine="spark")
    assert judged.verdicts == local.verdicts == spark.verdicts


def test_a_campaign_without_a_folder_leaves_nothing_behind(toy: Any, options: SimulationOptions) -> None:
    assert fuzz(range(20), options, simulate=toy.simulate, engine="spark").failing_seeds == (0, 7, 14)


def test_a_truncated_part_is_named(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    fuzz(range(20), options, simulate=toy.simulate, engine="spark", out=tmp_path)
    victim = HistoryTable(tmp_path).shards()[0].files()[0]
    victim.write_bytes(victim.read_bytes()[:100])
    with pytest.raises(BrokenTableError, match=f"{victim.name} cannot be read.*delete it"):
        judge_table(tmp_path, engine="spark")


def test_what_a_worker_refuses_is_one_sentence_here(toy: Any, options: SimulationOptions) -> None:
    with pytest.raises(RebalanceCheckError, match="no such toy") as caught:
        fuzz(range(20), options, simulate=toy.simulate_nothing, engine="spark")
    assert "\n" not in str(caught.value)


def test_a_subject_that_breaks_down_shows_its_own_trace(toy: Any, options: SimulationOptions) -> None:
    with pytest.raises(Exception, match="ZeroDivisionError: toy") as caught:
        fuzz(range(20), options, simulate=toy.simulate_badly, engine="spark")
    assert "in the simulation of seed 5" in str(caught.value)
