"""Judging a history table: its rows go through the same judge as any history, and verdict rows come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.history_table import HistoryTable, Shard
from rebalance_check.pipeline.judging import ClaimTally, judge_run, tally
from rebalance_check.pipeline.rows import VerdictRow
from rebalance_check.pipeline.schema import RUNS, VERDICTS, verdicts_batch
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.history import decode
from rebalance_check.properties.verdict import Outcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IS_HELD: Final = pc.field("outcome") == Outcome.HELD.value


def decode_run(seed: int, lines: Iterable[str]) -> Iterator[Event]:
    """The events of one row; `RebalanceCheckError` names the seed and the line that is no event."""
    for number, line in enumerate(lines, start=1):
        try:
            yield decode(line.encode())
        except RebalanceCheckError as fault:
            raise RebalanceCheckError(f"event {number} of seed {seed} in the table: {fault}") from fault


def judge_batches(batches: Iterable[pa.RecordBatch], names: Sequence[str], seeds: range) -> Iterator[pa.RecordBatch]:
    """Verdict rows for the runs in ``batches`` that are among ``seeds``, one batch for each batch."""
    invariants = select(names)
    for batch in batches:
        rows: list[VerdictRow] = []
        for seed, lines in zip(batch["seed"].to_pylist(), batch["events"].to_pylist(), strict=True):
            if seed in seeds:
                rows += judge_run(seed, decode_run(seed, lines), invariants)
        yield verdicts_batch(rows)


def judge_shard(path: Path, shard: Shard, names: Sequence[str], seeds: range) -> int:
    """Judge one shard into the Parquet file ``path``; gives the number of runs judged."""
    with pq.ParquetWriter(path, VERDICTS, compression="zstd") as writer:
        rows = 0
        for batch in judge_batches(shard.batches(), names, seeds):
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows // max(1, len(select(names)))


def judge_on_spark(spark: SparkSession, path: Path, table: HistoryTable, names: Sequence[str], seeds: range) -> None:
    """Judge the runs of ``seeds`` into the folder of Parquet files ``path``, spread over the workers of ``spark``."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - an extra, only where Spark runs

    def judge_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return judge_batches(batches, names, seeds)

    files = [file.as_uri() for shard in table.shards(seeds) for file in shard.files()]
    runs = spark.read.schema(from_arrow_schema(RUNS)).parquet(*files).select("seed", "events")
    runs.mapInArrow(judge_partition, from_arrow_schema(VERDICTS)).write.parquet(path.as_uri())


def tally_verdicts(path: Path, names: Sequence[str]) -> dict[str, ClaimTally]:
    """Add up the verdict rows below ``path``. What held is counted in columns; only the rest becomes rows."""
    held: Counter[str] = Counter()
    rest: list[VerdictRow] = []
    for file in sorted(path.glob("*.parquet")):
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches():
                for found in batch.filter(IS_HELD)["invariant"].value_counts().to_pylist():
                    held[found["values"]] += found["counts"]
                rest += [_verdict_row(row) for row in batch.filter(~IS_HELD).to_pylist()]
    tallies = tally(rest, names)
    for name, count in held.items():
        tallies[name].outcomes[Outcome.HELD] += count
    return tallies


def _verdict_row(columns: dict[str, object]) -> VerdictRow:
    return VerdictRow(**{**columns, "outcome": Outcome(columns["outcome"])})  # type: ignore[arg-type] # the schema's types
