"""Two engines, one contract: local processes and Spark fill the same table and judge it with the same invariants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from rebalance_check.model.in_thread import InThread
from rebalance_check.model.vocabulary.errors import INTERRUPTIONS
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.campaign import Runner, RunRow, shard_size
from rebalance_check.pipeline.history_table import HistoryTable, Shard, decode_run, runs_in
from rebalance_check.pipeline.interruption import (
    GRACE_S,
    Simulated,
    stop_file,
    until_stopped,
)
from rebalance_check.pipeline.judging import VerdictRow, judge_run
from rebalance_check.pipeline.processes import Processes, cores
from rebalance_check.pipeline.schema import RUNS, VERDICTS, runs_batch, verdicts_batch
from rebalance_check.pipeline.seed_set import SeedSet
from rebalance_check.pipeline.session import LOCAL_MASTER, spark_session, translated
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.situations import Situations

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Engine(Protocol):
    """Somewhere to simulate and to judge."""

    @property
    def name(self) -> str:
        """Its name in results."""
        ...

    def running(self) -> AbstractContextManager[object]:
        """Hold the engine's resources (a session), once around all work."""
        ...

    def simulate(
        self, table: HistoryTable, staging: Path, seeds: SeedSet, runner: Runner, progress: ProgressListener
    ) -> None:
        """Commit the runs of ``seeds`` to the table; a kill at any time loses no committed shard."""
        ...

    def judge(
        self, table: HistoryTable, into: Path, names: Sequence[str], seeds: SeedSet, progress: ProgressListener
    ) -> None:
        """Write the verdict rows of ``seeds`` as Parquet files into the folder ``into``, which is not there yet."""
        ...


BATCH_RUNS: Final = 32
"""Runs that are held in memory at a time while they are made."""


def run_batches(seeds: Iterable[int], runner: Runner) -> Iterator[pa.RecordBatch]:
    """The runs of the seeds as columns of `RUNS`, a few at a time."""
    rest = iter(seeds)
    while some := list(islice(rest, BATCH_RUNS)):
        yield runs_batch([runner.row(seed) for seed in some])


def judge_batches(batches: Iterable[pa.RecordBatch], names: Sequence[str], seeds: SeedSet) -> Iterator[pa.RecordBatch]:
    """Verdict rows for the runs in ``batches`` that are among ``seeds``, one batch for each batch."""
    invariants = select(names)
    for batch in batches:
        rows: list[VerdictRow] = []
        reached: dict[int, frozenset[str]] = {}
        for seed, lines in runs_in(batch):
            if seed in seeds:
                situations = Situations()
                run = judge_run(seed, situations.following(decode_run(seed, lines)), invariants)
                rows += run.rows
                reached[seed] = situations.reached() | situations.judged(run.tested)
        yield verdicts_batch(rows, reached)


class LocalEngine:
    """Processes of this machine; ``workers`` defaults to one per core."""

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        self._processes = Processes(workers or cores())

    def running(self) -> AbstractContextManager[object]:
        """Hold the processes; they start when there is work."""
        return self._processes

    def simulate(
        self, table: HistoryTable, staging: Path, seeds: SeedSet, runner: Runner, progress: ProgressListener
    ) -> None:
        """One file per shard, written by a process, committed here as soon as it is whole; when the campaign is
        interrupted, with the seeds that are finished."""
        total, done, stop = len(seeds), 0, stop_file(staging)
        size = shard_size(total, self._processes.count)
        tasks = (
            (simulate_shard, (staging / f"{piece.first}.parquet", piece, runner, stop)) for piece in seeds.cut(size)
        )
        made: Simulated | None = None
        try:
            for made in self._processes.run(tasks):
                commit(table, made)
                done += len(made.seeds)
                progress("simulate", done, total)
                if made.interruption is not None:
                    raise made.interruption
        except INTERRUPTIONS:
            stop.touch()
            for each in [*([made] if made else []), *self._processes.last_results(GRACE_S)]:
                commit(table, each)
            raise

    def judge(
        self, table: HistoryTable, into: Path, names: Sequence[str], seeds: SeedSet, progress: ProgressListener
    ) -> None:
        """One file of verdicts per shard."""
        into.mkdir()
        tasks = ((judge_shard, (into / shard.path.name, shard, names, seeds)) for shard in table.shards(seeds))
        done = 0
        for runs in self._processes.run(tasks):
            done += runs
            progress("judge", done, len(seeds))


def commit(table: HistoryTable, made: Simulated) -> None:
    """Make a shard part of the table, unless it is so already, or empty."""
    if made.seeds and made.path.exists():
        table.commit(made.path, made.seeds)


def simulate_shard(path: Path, seeds: SeedSet, runner: Runner, stop: Path) -> Simulated:
    """Simulate the seeds into one Parquet file, up to where the file ``stop`` appears or this process is interrupted;
    gives back how far it came."""
    done, interruption, numbers = 0, None, list(seeds)
    with pq.ParquetWriter(path, RUNS, compression="zstd") as writer:
        while interruption is None and done < len(numbers):
            rows: list[RunRow] = []
            try:
                for seed in until_stopped(numbers[done : done + BATCH_RUNS], stop):
                    rows.append(runner.row(seed))
            except INTERRUPTIONS as caught:
                interruption = caught
            if not rows:
                break
            writer.write_batch(runs_batch(rows))
            done += len(rows)
    return Simulated(path, SeedSet.of(numbers[:done]), interruption)


def judge_shard(path: Path, shard: Shard, names: Sequence[str], seeds: SeedSet) -> int:
    """Judge one shard into the Parquet file ``path``; gives the number of runs judged."""
    with pq.ParquetWriter(path, VERDICTS, compression="zstd") as writer:
        rows = 0
        for batch in judge_batches(shard.batches(), names, seeds):
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows // max(1, len(select(names)))


class SparkEngine:
    """A Spark master, embedded by default. On a cluster the table must be at the same path on every machine."""

    name = "spark"

    def __init__(self, master: str = LOCAL_MASTER) -> None:
        self.master = master
        self._spark: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        """The session; only inside `running`.

        Raises: RuntimeError outside of it.
        """
        if self._spark is None:
            raise RuntimeError("no Spark session: use the engine inside `with engine.running()`")
        return self._spark

    @contextmanager
    def running(self) -> Iterator[object]:
        """Hold a session; one that is active already is used and left running."""
        with spark_session(self.master) as session:
            self._spark = session
            try:
                yield self
            finally:
                self._spark = None

    def simulate(
        self, table: HistoryTable, staging: Path, seeds: SeedSet, runner: Runner, progress: ProgressListener
    ) -> None:
        """One job per shard, its runs spread over all workers, committed here when the job is whole; when the campaign
        is interrupted, the finished seeds of each worker."""
        total, done, stop = len(seeds), 0, stop_file(staging)
        size = shard_size(total, self.spark.sparkContext.defaultParallelism) * 4
        for piece in seeds.cut(size):
            path = staging / f"{piece.first}.parquet"
            job = InThread(partial(simulate_on_spark, self.spark, path, piece, runner, stop), "spark-job")
            try:
                with translated():
                    job.wait()
            except INTERRUPTIONS:
                stop.touch()
                if job.ends_well_within(GRACE_S):
                    commit_parts(table, path)
                raise
            table.commit(path, piece)
            done += len(piece)
            progress("simulate", done, total)

    def judge(
        self, table: HistoryTable, into: Path, names: Sequence[str], seeds: SeedSet, progress: ProgressListener
    ) -> None:
        """One job over all shards."""
        progress("judge", 0, len(seeds))
        with translated():
            InThread(partial(judge_on_spark, self.spark, into, table, names, seeds), "spark-job").wait()
        progress("judge", len(seeds), len(seeds))


def commit_parts(table: HistoryTable, path: Path) -> None:
    """Make each file of an interrupted job a shard: it has the first of the seeds that one worker had to simulate."""
    for part in sorted(path.glob("part-*.parquet")):
        with pq.ParquetFile(part) as file:
            seeds = sorted(file.read(["seed"])["seed"].to_pylist())
        if seeds:
            commit(table, Simulated(part, SeedSet.of(seeds)))


def simulate_on_spark(spark: SparkSession, path: Path, seeds: SeedSet, runner: Runner, stop: Path) -> None:
    """Simulate the seeds into one folder of Parquet files, spread over the workers of ``spark``; none is begun once
    the file ``stop`` is there.

    ``path`` and ``stop`` must lead to the same place on every worker.
    """
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - an extra, only where Spark runs

    numbers = list(seeds)

    def simulate_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        chosen = (numbers[place] for batch in batches for place in batch["id"].to_pylist())
        yield from run_batches(until_stopped(chosen, stop), runner)
        for _ in batches:  # a worker that leaves some of its input unread counts as crashed
            pass

    slices = min(len(numbers), 4 * spark.sparkContext.defaultParallelism)
    places = spark.range(0, len(numbers), numPartitions=slices)
    places.mapInArrow(simulate_partition, from_arrow_schema(RUNS)).write.parquet(path.as_uri())


def judge_on_spark(spark: SparkSession, path: Path, table: HistoryTable, names: Sequence[str], seeds: SeedSet) -> None:
    """Judge the runs of ``seeds`` into the folder of Parquet files ``path``, spread over the workers of ``spark``."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - an extra, only where Spark runs

    def judge_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return judge_batches(batches, names, seeds)

    files = [file.as_uri() for shard in table.shards(seeds) for file in shard.files()]
    runs = spark.read.schema(from_arrow_schema(RUNS)).parquet(*files).select("seed", "events")
    runs.mapInArrow(judge_partition, from_arrow_schema(VERDICTS)).write.parquet(path.as_uri())


def engine_named(name: str, master: str = LOCAL_MASTER, workers: int | None = None) -> Engine:
    """The engine ``local`` or ``spark``."""
    return SparkEngine(master) if name == "spark" else LocalEngine(workers)
