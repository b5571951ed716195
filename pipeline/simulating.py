"""Simulating many seeds into shards of a history table, in this process or inside Spark's workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rebalance_check.pipeline.runner import Runner
from rebalance_check.pipeline.schema import RUNS, runs_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_RUNS: Final = 32
"""Runs that are held in memory at a time while they are made."""


def run_batches(seeds: Iterable[int], runner: Runner) -> Iterator[pa.RecordBatch]:
    """The runs of the seeds as columns of `RUNS`, a few at a time."""
    rest = iter(seeds)
    while some := list(islice(rest, BATCH_RUNS)):
        yield runs_batch([runner.row(seed) for seed in some])


def write_shard(path: Path, seeds: range, runner: Runner) -> Path:
    """Simulate the seeds into one Parquet file."""
    with pq.ParquetWriter(path, RUNS, compression="zstd") as writer:
        for batch in run_batches(seeds, runner):
            writer.write_batch(batch)
    return path


def write_shard_on_spark(spark: SparkSession, path: Path, seeds: range, runner: Runner) -> Path:
    """Simulate the seeds into one folder of Parquet files, spread over the workers of ``spark``.

    ``path`` must lead to the same folder on every worker.
    """
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - an extra, only where Spark runs

    def simulate_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_batches((seed for batch in batches for seed in batch["id"].to_pylist()), runner)

    slices = min(len(seeds), 4 * spark.sparkContext.defaultParallelism)
    numbers = spark.range(seeds.start, seeds.stop, numPartitions=slices)
    numbers.mapInArrow(simulate_partition, from_arrow_schema(RUNS)).write.parquet(path.as_uri())
    return path
