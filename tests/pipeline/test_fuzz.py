"""A local campaign finds what is there, keeps what it saw, goes on where it stopped, and refuses what does not fit."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.fuzz import fuzz, judge_table
from rebalance_check.pipeline.history_table import BrokenTableError, HistoryTable
from rebalance_check.pipeline.run_on_table import stored_run
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome

CLAIM = "no_double_ownership"
SEEDS = range(3, 60)
FAILING = tuple(seed for seed in SEEDS if seed % 7 == 0)


def stored_seeds(folder: Path) -> list[int]:
    """Every seed that stands in the table, as often as it stands there."""
    return sorted(
        seed
        for path in (folder / "runs").rglob("*.parquet")
        if path.is_file()
        for seed in pq.read_table(path, columns=["seed"])["seed"].to_pylist()
    )


def test_workers_of_the_local_pool_plant_the_mutant_of_the_campaign(tmp_path: Path) -> None:
    mutated = SimulationOptions(protocol=SimulatedProtocol.EAGER, mutant="range-boundary-given-twice")
    found = fuzz(range(6), mutated, out=tmp_path, workers=2)
    assert found.failing_seeds
    assert stored_run(HistoryTable(tmp_path), 0) == simulate(0, mutated)


def test_exactly_the_failing_seeds_are_found__in_memory(toy: Any, options: SimulationOptions) -> None:
    result = fuzz(SEEDS, options, simulate=toy.simulate, workers=1)
    assert result.failing_seeds == FAILING
    assert result.verdicts[CLAIM].outcomes[Outcome.VIOLATED] == len(FAILING)
    assert result.runs == len(SEEDS)
    assert result.events == sum(len(toy.simulate(seed, options)) for seed in SEEDS)
    assert result.exit_code == 10


def test_processes_and_a_table_change_nothing(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    alone = fuzz(SEEDS, options, simulate=toy.simulate, workers=1)
    spread = fuzz(SEEDS, options, simulate=toy.simulate, workers=2)
    stored = fuzz(SEEDS, options, simulate=toy.simulate, workers=2, out=tmp_path / "table")
    again = judge_table(tmp_path / "table", workers=1)
    for other in (spread, stored, again):
        assert replace(other, seconds=0) == replace(alone, seconds=0)


def test_the_shortest_failing_run_is_explained(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    result = fuzz(SEEDS, options, simulate=toy.simulate, workers=1, out=tmp_path)
    found = next(run for run in result.counterexamples if run.counterexample.invariant == CLAIM)
    assert found.seed == FAILING[0]
    assert "owned by m0 and m1" in found.counterexample.headline
    assert list(found.history) == toy.simulate(found.seed, options)


def test_a_stored_history_is_the_history(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    fuzz(SEEDS, options, simulate=toy.simulate, workers=1, out=tmp_path)
    assert stored_run(HistoryTable(tmp_path), 42) == toy.simulate(42, options)
    with pytest.raises(RebalanceCheckError, match="no run of seed 999"):
        stored_run(HistoryTable(tmp_path), 999)


def test_only_what_is_missing_is_run_again(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    fuzz(range(10, 20), options, simulate=toy.simulate, workers=1, out=tmp_path)
    untouched = (tmp_path / "runs" / "seeds-10-19.parquet").stat().st_mtime_ns
    result = fuzz(range(5, 40), options, simulate=toy.simulate, workers=1, out=tmp_path)
    assert result.resumed == 10
    assert result.runs == 35
    assert stored_seeds(tmp_path) == list(range(5, 40))
    assert (tmp_path / "runs" / "seeds-10-19.parquet").stat().st_mtime_ns == untouched


def test_only_the_seeds_asked_for_are_judged(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    fuzz(SEEDS, options, simulate=toy.simulate, workers=1, out=tmp_path)
    result = fuzz(range(8, 20), options, simulate=toy.simulate, workers=1, out=tmp_path)
    assert result.runs == 12
    assert result.failing_seeds == (14,)


def test_another_campaign_is_refused__naming_what_differs(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    fuzz(range(4), options, simulate=toy.simulate, workers=1, out=tmp_path)
    with pytest.raises(RebalanceCheckError, match="members is 3 there, 5 here"):
        fuzz(range(4), replace(options, members=5), simulate=toy.simulate, workers=1, out=tmp_path)
    with pytest.raises(RebalanceCheckError, match="subject is 'simulator' there, 'toy' here"):
        fuzz(range(4), options, simulate=toy.simulate, subject="toy", workers=1, out=tmp_path)
    assert stored_seeds(tmp_path) == [0, 1, 2, 3]


def test_a_folder_of_something_else_is_left_alone(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RebalanceCheckError, match=r"not empty \(it holds thesis.tex\)"):
        fuzz(range(4), options, simulate=toy.simulate, workers=1, out=tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_two_writers_at_once_are_refused(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    def write_too(phase: str, done: int, total: int) -> None:
        with pytest.raises(RebalanceCheckError, match="another process is writing"):
            fuzz(range(4), options, simulate=toy.simulate, workers=1, out=tmp_path)
        refused.append(phase)

    refused: list[str] = []
    fuzz(range(4), options, simulate=toy.simulate, workers=1, out=tmp_path, progress=write_too)
    assert refused == ["simulate", "judge"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_subject_that_breaks_down_names_its_seed__and_keeps_what_was_done(
    toy: Any, options: SimulationOptions, tmp_path: Path, workers: int
) -> None:
    fuzz(range(0, 4), options, simulate=toy.simulate_badly, workers=1, out=tmp_path)
    with pytest.raises(ZeroDivisionError) as caught:
        fuzz(range(0, 40), options, simulate=toy.simulate_badly, workers=workers, out=tmp_path)
    assert any("seed 5 " in note for note in caught.value.__notes__)
    assert {0, 1, 2, 3} <= set(stored_seeds(tmp_path))
    assert 5 not in stored_seeds(tmp_path)
    assert not (tmp_path / "staging").exists()


def test_a_subject_that_is_not_deterministic_is_exposed(toy: Any, options: SimulationOptions) -> None:
    with pytest.raises(RebalanceCheckError, match="not the same each time"):
        fuzz(range(1), options, simulate=toy.simulate_differently, workers=1)


def test_a_truncated_shard_is_named__and_repeated_once_it_is_gone(
    toy: Any, options: SimulationOptions, tmp_path: Path
) -> None:
    fuzz(range(40), options, simulate=toy.simulate, workers=1, out=tmp_path)
    victim = sorted((tmp_path / "runs").iterdir())[0]
    os.truncate(victim, victim.stat().st_size // 2)
    with pytest.raises(BrokenTableError, match=f"{victim.name} cannot be read.*delete it"):
        fuzz(range(40), options, simulate=toy.simulate, out=tmp_path)
    victim.unlink()
    fuzz(range(40), options, simulate=toy.simulate, workers=1, out=tmp_path)
    assert stored_seeds(tmp_path) == list(range(40))


def test_a_shard_that_lost_runs_or_doubles_them_is_named(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    fuzz(range(8), options, simulate=toy.simulate, workers=1, out=tmp_path)
    whole = tmp_path / "runs" / "seeds-0-7.parquet"
    shutil.copy(whole, tmp_path / "runs" / "seeds-5-12.parquet")
    with pytest.raises(BrokenTableError, match="hold the same seeds"):
        judge_table(tmp_path)
    (tmp_path / "runs" / "seeds-5-12.parquet").rename(tmp_path / "runs" / "seeds-8-20.parquet")
    result = judge_table(tmp_path, workers=1)
    assert result.failing_seeds == (0, 7)
    assert "should hold 13 runs by its name and holds 8" in result.faults[0]


def test_a_truncated_shard__hides_no_verdict_on_the_others(
    toy: Any, options: SimulationOptions, tmp_path: Path
) -> None:
    fuzz(range(40), options, simulate=toy.simulate, workers=1, out=tmp_path)
    shards = HistoryTable(tmp_path).shards()
    os.truncate(shards[0].path, shards[0].path.stat().st_size // 2)
    result = judge_table(tmp_path, workers=1)
    assert len(result.faults) == 1
    assert f"{shards[0].path.name} cannot be read" in result.faults[0]
    assert result.failing_seeds == tuple(seed for seed in range(0, 40, 7) if seed not in shards[0].seeds)
    assert result.exit_code is ExitCode.SAFETY
    for shard in shards[1:]:
        os.truncate(shard.path, shard.path.stat().st_size // 2)
    with pytest.raises(BrokenTableError, match="cannot be read"):
        judge_table(tmp_path, workers=1)


def test_a_malformed_event_in_a_table__is_named_and_hides_no_verdict(
    toy: Any, options: SimulationOptions, tmp_path: Path
) -> None:
    fuzz(range(3), options, simulate=toy.simulate, workers=1, out=tmp_path)
    spoil(tmp_path / "runs" / "seeds-0-2.parquet", seed=1, event=1)
    result = judge_table(tmp_path, workers=1)
    assert result.failing_seeds == (0,)
    doubt = result.verdicts["generation_monotonicity"]
    assert doubt.outcomes[Outcome.UNDECIDED] == 1
    assert re.search("event 2 of seed 1 in the table: .*Nonsense", doubt.reason)


def spoil(path: Path, seed: int, event: int) -> None:
    """Replace one event of a shard by one of an unknown kind."""
    rows = pq.read_table(path)
    columns = rows.to_pydict()
    columns["events"][columns["seed"].index(seed)][event] = '{"event":"Nonsense"}'
    pq.write_table(pa.Table.from_pydict(columns, rows.schema), path)


@pytest.mark.parametrize("content", [None, "{", '{"schema": 99}'])
def test_what_is_no_table_is_refused(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "campaign.json").write_text(content)
    with pytest.raises(BrokenTableError, match=str(tmp_path)):
        judge_table(tmp_path)


def test_claims_can_be_chosen__and_unknown_ones_are_refused(toy: Any, options: SimulationOptions) -> None:
    assert list(fuzz(range(4), options, simulate=toy.simulate, invariants=[CLAIM], workers=1).verdicts) == [CLAIM]
    with pytest.raises(RebalanceCheckError, match="no_such_claim"):
        fuzz(range(4), options, simulate=toy.simulate, invariants=["no_such_claim"], workers=1)


def test_an_unknown_engine_is_refused(options: SimulationOptions) -> None:
    with pytest.raises(RebalanceCheckError, match="'flink' is no engine: choose one of local, spark"):
        fuzz(range(4), options, engine="flink")


def test_progress_counts_every_run_of_both_phases(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    reported: list[tuple[str, int, int]] = []
    fuzz(range(40), options, simulate=toy.simulate, workers=1, out=tmp_path, progress=lambda *now: reported.append(now))
    for phase in ("simulate", "judge"):
        steps = [done for name, done, total in reported if name == phase and total == 40]
        assert steps == sorted(steps)
        assert steps[-1] == 40
