"""Two engines, one contract: local processes and Spark fill the same table and judge it with the same invariants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.campaign import shard_size, shards
from rebalance_check.pipeline.history_table import HistoryTable
from rebalance_check.pipeline.judging_tables import judge_on_spark, judge_shard
from rebalance_check.pipeline.processes import Processes, cores
from rebalance_check.pipeline.runner import Runner
from rebalance_check.pipeline.session import LOCAL_MASTER, spark_session, translated
from rebalance_check.pipeline.simulating import write_shard, write_shard_on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Engine(Protocol):
    """Somewhere to simulate and to judge."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    def running(self) -> AbstractContextManager[object]:
        """Hold what the engine needs (a session), once around all work."""
        ...

    def simulate(
        self, table: HistoryTable, staging: Path, gaps: Sequence[range], runner: Runner, progress: ProgressListener
    ) -> None:
        """Commit the runs of the seeds in ``gaps`` to the table; a kill at any time loses no committed shard."""
        ...

    def judge(
        self, table: HistoryTable, into: Path, names: Sequence[str], seeds: range, progress: ProgressListener
    ) -> None:
        """Write the verdict rows of ``seeds`` as Parquet files into the folder ``into``, which is not there yet."""
        ...


class LocalEngine:
    """Processes of this machine; ``workers`` defaults to one per core."""

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        self._processes = Processes(workers or cores())

    def running(self) -> AbstractContextManager[object]:
        """Hold the processes; they start when there is work."""
        return self._processes

    def simulate(
        self, table: HistoryTable, staging: Path, gaps: Sequence[range], runner: Runner, progress: ProgressListener
    ) -> None:
        """One file per shard, written by a process, committed here as soon as it is whole."""
        total, done = sum(map(len, gaps)), 0
        size = shard_size(total, self._processes.count)
        tasks = (
            (_simulate_shard, (staging / f"{piece.start}.parquet", piece, runner))
            for gap in gaps
            for piece in shards(gap, size)
        )
        for path, piece in self._processes.run(tasks):
            table.commit(path, piece)
            done += len(piece)
            progress("simulate", done, total)

    def judge(
        self, table: HistoryTable, into: Path, names: Sequence[str], seeds: range, progress: ProgressListener
    ) -> None:
        """One file of verdicts per shard."""
        into.mkdir()
        tasks = ((judge_shard, (into / shard.path.name, shard, names, seeds)) for shard in table.shards(seeds))
        done = 0
        for runs in self._processes.run(tasks):
            done += runs
            progress("judge", done, len(seeds))


def _simulate_shard(path: Path, seeds: range, runner: Runner) -> tuple[Path, range]:
    return write_shard(path, seeds, runner), seeds


class SparkEngine:
    """A Spark master, embedded by default. On a cluster the table must be at the same path on every machine."""

    name = "spark"

    def __init__(self, master: str = LOCAL_MASTER) -> None:
        self.master = master
        self._spark: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        """The session; only inside `running`."""
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
        self, table: HistoryTable, staging: Path, gaps: Sequence[range], runner: Runner, progress: ProgressListener
    ) -> None:
        """One job per shard, its runs spread over all workers, committed here when the job is whole."""
        total, done = sum(map(len, gaps)), 0
        size = shard_size(total, self.spark.sparkContext.defaultParallelism) * 4
        for piece in (piece for gap in gaps for piece in shards(gap, size)):
            with translated():
                path = write_shard_on_spark(self.spark, staging / f"{piece.start}.parquet", piece, runner)
            table.commit(path, piece)
            done += len(piece)
            progress("simulate", done, total)

    def judge(
        self, table: HistoryTable, into: Path, names: Sequence[str], seeds: range, progress: ProgressListener
    ) -> None:
        """One job over all shards."""
        progress("judge", 0, len(seeds))
        with translated():
            judge_on_spark(self.spark, into, table, names, seeds)
        progress("judge", len(seeds), len(seeds))


def engine_named(name: str, master: str = LOCAL_MASTER, workers: int | None = None) -> Engine:
    """The engine ``local`` or ``spark``."""
    return SparkEngine(master) if name == "spark" else LocalEngine(workers)
