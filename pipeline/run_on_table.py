"""A campaign that keeps its histories: fill the table, check it, judge it, explain violations."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.campaign import Work
from rebalance_check.pipeline.engines import Engine
from rebalance_check.pipeline.findings import apart
from rebalance_check.pipeline.history_table import BrokenTableError, HistoryTable, decode_run
from rebalance_check.pipeline.interruption import noted_at_interruption
from rebalance_check.pipeline.judging import (
    ClaimTally,
    RunVerdict,
    UnreadableRun,
    VerdictRow,
    explain,
    failing_seeds,
    tally,
)
from rebalance_check.pipeline.limits import Watch
from rebalance_check.pipeline.reached import Reached
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.pipeline.seed_set import SeedSet
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.known import NOTHING_KNOWN, KnownFindings
from rebalance_check.properties.verdict import Outcome

ROW: Final = [field.name for field in fields(VerdictRow)]
"""The columns of a verdict; the situations of the run are read apart."""

IS_HELD: Final = pc.field("outcome") == Outcome.HELD.value
IS_UNTESTED: Final = pc.field("outcome") == Outcome.UNTESTED.value


def fuzz_on_table(
    work: Work, engine: Engine, out: Path, progress: ProgressListener, watch: Watch, *, list_runs: bool = False
) -> FuzzResult:
    """`rebalance_check.pipeline.fuzz.fuzz` with a table at ``out``; ``watch`` says when it ends."""
    table = HistoryTable(out.resolve())

    def so_far() -> str:
        kept = sum(len(shard.seeds) for shard in table.shards())
        return f"{kept:,} runs are kept in {out}, which `rebalance-check judge` reads; {watch.findings_so_far}"

    with noted_at_interruption(so_far), table.writing(work.runner.campaign) as staging, engine.running():
        started = time.perf_counter()
        reached, done, resumed = Reached(), list[range](), 0
        for seeds in rounds(work, watch):
            table.check(seeds)
            lacking = table.missing(seeds)
            engine.simulate(table, staging, lacking, work.runner, progress)
            engine.judge(table, staging / "round", work.names, seeds, progress)
            watch.take(_violated(staging / "round"))
            reached.runs.update(situation_counts(staging / "round"))
            _gather(staging / "round", staging / "verdicts", seeds.first)
            resumed += len(seeds) - len(lacking)
            done += seeds.pieces
            if watch.is_over:
                break
        table.replace_verdicts(staging / "verdicts")
        verdicts = tally_verdicts(table.verdicts, work.names)
        result = _result(
            engine.name, table, SeedSet(tuple(sorted(done, key=lambda piece: piece.start))), verdicts, work.known
        )
        listed = listed_runs(table.verdicts) if list_runs else ()
        seconds = time.perf_counter() - started
        return replace(result, resumed=resumed, seconds=seconds, listed=listed, reached=reached)


ROUND: Final = 256
"""So many seeds are simulated and then judged at a time, where a campaign may end before its last seed."""


def rounds(work: Work, watch: Watch) -> Iterator[SeedSet]:
    """All seeds at once, or round by round where the campaign may end before the last."""
    every = SeedSet.of(work.seeds)
    return every.cut(ROUND) if watch.may_end else iter([every])


def situation_counts(path: Path) -> Counter[str]:
    """In how many of the runs below ``path`` each situation arose."""
    counts: Counter[str] = Counter()
    for file in sorted(path.glob("*.parquet")):
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(columns=["situations"]):
                for found in batch["situations"].flatten().value_counts().to_pylist():
                    counts[found["values"]] += found["counts"]
    return counts


def _gather(made: Path, into: Path, first: int) -> None:
    """Move the verdicts of the round that begins with the seed ``first`` to those of the rounds before it."""
    into.mkdir(exist_ok=True)
    for file in made.glob("*.parquet"):
        file.replace(into / f"from-{first}-{file.name}")
    rmtree(made)


def _violated(path: Path) -> Iterator[VerdictRow]:
    """The rows of runs that broke a claim, below ``path``."""
    for file in sorted(path.glob("*.parquet")):
        rows = pq.read_table(file, columns=ROW, filters=pc.field("outcome") == Outcome.VIOLATED.value)
        yield from map(_verdict_row, rows.to_pylist())


def judge_stored_runs(
    path: Path,
    engine: Engine,
    invariants: Sequence[str],
    progress: ProgressListener,
    known: KnownFindings = NOTHING_KNOWN,
    *,
    list_runs: bool = False,
) -> FuzzResult:
    """Judge as `rebalance_check.pipeline.fuzz.judge_table`, on this engine.

    Raises: RebalanceCheckError when the table holds no run yet, and BrokenTableError when no shard can be read.
    """
    names = tuple(invariant.name for invariant in select(invariants))
    table = HistoryTable(path.resolve())
    faults = table.leave_out_broken()
    pieces = table.shards()
    if not pieces and faults:
        raise BrokenTableError("; ".join(faults))
    if not pieces:
        raise RebalanceCheckError(f"{path} holds no run yet: run `fuzz --out {path}` to its end first")
    seeds = SeedSet.of(range(pieces[0].seeds.first, 1 + max(piece.seeds.last for piece in pieces)))
    with engine.running(), TemporaryDirectory(prefix="rebalance-check-") as scratch:
        started = time.perf_counter()
        engine.judge(table, Path(scratch) / "verdicts", names, seeds, progress)
        verdicts = tally_verdicts(Path(scratch) / "verdicts", names)
        result = _result(engine.name, table, seeds, verdicts, known)
        reached = Reached(situation_counts(Path(scratch) / "verdicts"))
        listed = listed_runs(Path(scratch) / "verdicts") if list_runs else ()
        seconds = time.perf_counter() - started
        return replace(result, faults=faults, seconds=seconds, listed=listed, reached=reached)


def _result(
    engine: str, table: HistoryTable, seeds: SeedSet, judged: Mapping[str, ClaimTally], known: KnownFindings
) -> FuzzResult:
    runs, events = table.totals(seeds)
    verdicts, apart_from_new = apart(judged, known)
    return FuzzResult(
        engine=engine,
        runs=runs,
        events=events,
        resumed=0,
        verdicts=verdicts,
        counterexamples=explain(verdicts, lambda seed: stored_run(table, seed)),
        failing_seeds=failing_seeds(verdicts),
        seconds=0.0,
        known=apart_from_new,
    )


def stored_run(table: HistoryTable, seed: int) -> list[Event]:
    """The history of one seed, from the table, up to an event that cannot be read.

    Raises: RebalanceCheckError when the seed is not in there.
    """
    for shard in table.shards(SeedSet.of([seed])):
        for found, lines in shard.histories():
            if found == seed:
                return list(readable(decode_run(seed, lines)))
    raise RebalanceCheckError(f"{table.path} holds no run of seed {seed}: choose one that `fuzz` has run")


def stored_runs(path: Path, seeds: Collection[int]) -> Iterator[tuple[int, list[Event]]]:
    """The histories of these seeds from the table at ``path``, in order of the shards; each shard is read once."""
    table = HistoryTable(path.resolve())
    table.leave_out_broken()
    for shard in table.shards():
        if not any(seed in shard.seeds for seed in seeds):
            continue
        for seed, lines in shard.histories():
            if seed in seeds:
                yield seed, list(readable(decode_run(seed, lines)))


def readable(events: Iterator[Event]) -> Iterator[Event]:
    """The events up to the first that cannot be read."""
    with suppress(UnreadableRun):
        yield from events


def tally_verdicts(path: Path, names: Sequence[str]) -> dict[str, ClaimTally]:
    """Add up the verdict rows below ``path``.

    Claims that held or were untested are counted in columns, since most rows are such; only the rest becomes rows, and
    for each untested claim the run with the smallest seed.
    """
    held: Counter[str] = Counter()
    untested: Counter[str] = Counter()
    rest: list[VerdictRow] = []
    for file in sorted(path.glob("*.parquet")):
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(columns=ROW):
                for found in batch.filter(IS_HELD)["invariant"].value_counts().to_pylist():
                    held[found["values"]] += found["counts"]
                for row, count in _first_untested(batch):
                    rest.append(row)
                    untested[row.invariant] += count - 1  # the row itself is counted with the rest
                rest += [_verdict_row(row) for row in batch.filter(~(IS_HELD | IS_UNTESTED)).to_pylist()]
    tallies = tally(rest, names)
    for outcome, counts in ((Outcome.HELD, held), (Outcome.UNTESTED, untested)):
        for name, count in counts.items():
            tallies[name].outcomes[outcome] += count
    return tallies


def listed_runs(path: Path) -> tuple[RunVerdict, ...]:
    """The verdict on each run from the verdict rows below ``path``, in order of the seeds."""
    found: list[RunVerdict] = []
    for file in sorted(path.glob("*.parquet")):
        rows = pq.read_table(file, columns=["seed", "outcome", "event_count"]).group_by("seed")
        for row in rows.aggregate([("outcome", "distinct"), ("event_count", "max")]).to_pylist():
            outcomes = frozenset(map(Outcome, row["outcome_distinct"]))
            found.append(RunVerdict(row["seed"], row["event_count_max"], outcomes))
    return tuple(sorted(found, key=lambda run: run.seed))


def _first_untested(batch: pa.RecordBatch) -> Iterator[tuple[VerdictRow, int]]:
    """For each claim that is untested in a run of ``batch``: the row with the smallest seed, and how many there are."""
    rows = pa.Table.from_batches([batch.filter(IS_UNTESTED)]).sort_by("seed")
    first = [(column, "first") for column in rows.column_names if column != "invariant"]
    found = rows.group_by("invariant", use_threads=False).aggregate([*first, ("seed", "count")])
    for one in found.to_pylist():
        columns = {name: one[f"{name}_first"] for name, _ in first}
        yield _verdict_row({"invariant": one["invariant"], **columns}), one["seed_count"]


def _verdict_row(columns: dict[str, object]) -> VerdictRow:
    return VerdictRow(**{**columns, "outcome": Outcome(columns["outcome"])})  # type: ignore[arg-type] # the schema's types
