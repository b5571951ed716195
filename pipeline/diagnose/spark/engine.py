"""`diagnose` on Spark: files are read and commits folded by the tasks, findings are made group by group.

The driver has the readings of all sources, the ends of their join phases, which set the clocks, and the facts of groups
with a finding. Folders must be at the same path on every machine; addresses such as ``s3a://bucket/folder`` are read by
Hadoop's file systems, each file by one task.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it has no types
from pyspark import StorageLevel
from pyspark.sql.functions import col, lit
from pyspark.sql.pandas.types import from_arrow_schema

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.diagnose.clocks import Anchors, Clock, SourceTimes, clocks_of, moved
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, GroupDiagnosis, judged, keys_of, worst_first
from rebalance_check.pipeline.diagnose.facts import (
    ConfigRecorded,
    CoordinatorMoved,
    Fact,
    GroupLoaded,
    MemberDescribed,
    ModernGroupSeen,
    StatusRecorded,
)
from rebalance_check.pipeline.diagnose.findings.finding import Finding, Thresholds
from rebalance_check.pipeline.diagnose.group import OF_CONNECT, group_of, without_copies
from rebalance_check.pipeline.diagnose.sources import Source, families, missing, read_family
from rebalance_check.pipeline.diagnose.spark.reading import PART_BYTES, FactSource
from rebalance_check.pipeline.diagnose.spark.rows import SCHEMA, SOURCE, SourceRead, batches, decoded, encoded, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAMELESS: Final = (CoordinatorMoved.__name__, StatusRecorded.__name__, ConfigRecorded.__name__)
"""Facts that name no group, and may be of one."""
_ORDER: Final = ("family", "place", "number")
_AFTER_FOLDERS: Final = 1_000_000
"""The numbers of the logs at addresses begin here."""
_RESULT: Final = pa.schema([("group", pa.string()), ("rebalances", pa.int64()), ("body", pa.binary())])


@dataclass(slots=True)
class Context:
    """All that a task needs of the other groups and sources."""

    keys: dict[tuple[int, int], str]
    clocks: list[Clock]
    known: Anchors
    """Of use to sources without times alone."""
    last_ms: int | None
    limits: Thresholds
    moves: list[CoordinatorMoved] = field(default_factory=list)
    adopted: tuple[str, list[Fact]] = ("", [])
    """The Connect group that nameless facts are of, and these."""

    def placed(self, rows: Iterable[Any]) -> list[tuple[str, Fact]]:
        """The facts of rows on the common clock, each after its source, in the order of the local engine."""
        clocks = {clock.source: clock for clock in self.clocks}
        found: list[tuple[str, Fact]] = []
        for row in sorted(rows, key=lambda row: tuple(row[name] for name in _ORDER)):
            key = self.keys[row["family"], row["place"]]
            (fact,) = moved([decoded(row["kind"], row["body"])], clocks[key], self.known)
            found.append((key, fact))
        return found

    def diagnosis_of(self, name: str, facts: Sequence[tuple[str, Fact]]) -> GroupDiagnosis:
        """The findings of a group."""
        own = without_copies(facts) + (self.adopted[1] if name == self.adopted[0] else [])
        return judged(group_of(name, own, self.clocks, self.moves, self.last_ms), self.limits)


def diagnose_on_spark(
    spark: SparkSession, locations: Sequence[str], only: Iterable[str] = (), limits: Thresholds | None = None,
    part_bytes: int = PART_BYTES,
) -> Diagnosis:  # fmt: skip
    """The diagnosis of files, folders and addresses; its findings are those of the local engine.

    Groups without a finding have no facts in it, but a count of their rebalances.
    """
    rows = read(spark, locations, part_bytes).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        return _diagnosis(rows, locations, frozenset(only), limits or Thresholds())
    finally:
        rows.unpersist()


def _diagnosis(rows: DataFrame, locations: Sequence[str], only: frozenset[str], limits: Thresholds) -> Diagnosis:
    central = rows.where((col("group") == "") & col("kind").isin(SOURCE, *NAMELESS)).collect()
    sources, context = _context([row for row in central if row["kind"] == SOURCE], limits)
    nameless = [fact for _, fact in context.placed(row for row in central if row["kind"] != SOURCE)]
    context.moves = [fact for fact in nameless if isinstance(fact, CoordinatorMoved)]
    of_work = [fact for fact in nameless if not isinstance(fact, CoordinatorMoved)]
    chosen = rows.where(col("group") != "")
    chosen = chosen.where(col("group").isin(*only)) if only else chosen
    found: list[GroupDiagnosis] = []
    if of_work:
        workers = [row["group"] for row in chosen.where("connect").select("group").distinct().limit(2).collect()]
        if len(workers) == 1:
            context.adopted = workers[0], of_work
        elif not workers and not only:
            found.append(judged(group_of(OF_CONNECT, of_work, context.clocks, context.moves, context.last_ms), limits))
    by_group = chosen.groupBy("group").applyInArrow(_judging(context), from_arrow_schema(_RESULT))
    found += [_group(row, context) for row in by_group.collect()]
    absent = [missing(Path(one)) for one in locations if "://" not in one and not Path(one).exists()]
    clocks = [*context.clocks, *(Clock(one.name) for one in absent)]
    return Diagnosis([*sources, *absent], clocks, worst_first(found))


def _context(rows: Sequence[Any], limits: Thresholds) -> tuple[list[Source], Context]:
    """The sources, parts of one joined, and their clocks."""
    sources: dict[tuple[int, int], Source] = {}
    times: dict[tuple[int, int], SourceTimes] = {}
    for row in sorted(rows, key=lambda row: tuple(row[name] for name in _ORDER)):
        read: SourceRead = decoded(SOURCE, row["body"])
        place, one = (row["family"], row["place"]), read.source()
        if place in sources:
            sources[place].join(one)
            times[place].join(read.source_times())
        else:
            sources[place], times[place] = one, read.source_times()
    keys = dict(zip(sources, keys_of(list(sources.values())), strict=True))
    clocks, known = clocks_of({keys[place]: one for place, one in times.items()})
    untimed = any(clock.untimed for clock in clocks.values())
    last = [one.last_ms + clocks[keys[place]].shift_ms for place, one in times.items() if one.last_ms is not None]
    context = Context(keys, list(clocks.values()), known if untimed else {}, max(last, default=None), limits)
    return list(sources.values()), context


def _judging(context: Context) -> Callable[[tuple[Any, ...], pa.Table], pa.Table]:
    def judge(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        found = context.diagnosis_of(key[0].as_py(), context.placed(table.to_pylist()))
        facts = found.group.facts if found.findings else [_typical(found.group.facts)]
        body = msgspec.msgpack.encode((found.findings, [(type(fact).__name__, encoded(fact)) for fact in facts]))
        columns = [[found.group.name], [len(found.group.rebalances)], [body]]
        return pa.table([pa.array(one, kind.type) for one, kind in zip(columns, _RESULT, strict=True)], schema=_RESULT)

    return judge


def _typical(facts: Sequence[Fact]) -> Fact:
    """A fact that shows the kind of a group, and whether it was only loaded."""
    significant = [one for one in facts if not isinstance(one, MemberDescribed | GroupLoaded)] or facts
    return next((one for one in significant if isinstance(one, ModernGroupSeen)), significant[0])


_BODY: Final = msgspec.msgpack.Decoder(tuple[list[Finding], list[tuple[str, bytes]]])


def _group(row: Any, context: Context) -> GroupDiagnosis:
    findings, facts = _BODY.decode(row["body"])
    own = [decoded(kind, body) for kind, body in facts]
    group = group_of(row["group"], own, context.clocks, context.moves, context.last_ms)
    return GroupDiagnosis(group, findings, None if findings else row["rebalances"])


# -------------------------------------------------------------------------------------------------------- reading files


def read(spark: SparkSession, locations: Sequence[str], part_bytes: int = PART_BYTES) -> DataFrame:
    """The rows of all facts in files, folders and addresses.

    Raises: RebalanceCheckError for an address that Hadoop cannot list.
    """
    spark.dataSource.register(FactSource)
    paths = [str(Path(one).absolute()) for one in locations if "://" not in one and Path(one).exists()]
    options = {"paths": json.dumps(paths), "part_bytes": str(part_bytes)}
    rows = spark.read.format(FactSource.name()).options(**options).load()
    addresses = [one for one in locations if "://" in one]
    return rows.union(_read_addresses(spark, addresses)) if addresses else rows


def _read_addresses(spark: SparkSession, addresses: Sequence[str]) -> DataFrame:
    """The rows of files that Hadoop's file systems list: a log of several files is brought together, others are not."""
    names = [name for address in addresses for name in _listed(spark, address)]
    numbered = [
        (name, _AFTER_FOLDERS + number, len(family)) for number, family in enumerate(families(names)) for name in family
    ]
    table = spark.createDataFrame(numbered, "path string, family int, size int").hint("broadcast")
    content = spark.read.format("binaryFile").load(names).select("path", "content").join(table, "path")
    alone = content.where(col("size") == lit(1)).mapInArrow(_read_alone, from_arrow_schema(SCHEMA))
    return alone.union(content.where("size > 1").groupBy("family").applyInArrow(_read_log, from_arrow_schema(SCHEMA)))


def _listed(spark: SparkSession, address: str) -> list[str]:
    """The files at an address; Spark's own listing passes over names that begin with an underscore."""
    jvm: Any = spark.sparkContext._jvm
    java: Any = spark.sparkContext._jsc
    path = jvm.org.apache.hadoop.fs.Path(address)
    try:
        system = path.getFileSystem(java.hadoopConfiguration())
        found, names = system.listFiles(path, True), []
        while found.hasNext():
            names.append(found.next().getPath().toString())
    except Py4JJavaError as error:
        reason = str(error.java_exception).partition("\n")[0]
        raise RebalanceCheckError(
            f"Hadoop cannot list {address} ({reason}): check the address; its file system must be among Spark's jars"
        ) from error
    return sorted(name for name in names if not PurePosixPath(name).name.startswith("."))


def _read_alone(tables: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for table in tables:
        for row in table.to_pylist():
            yield from _read_contents([row])


def _read_log(table: pa.Table) -> pa.Table:
    return pa.Table.from_batches(_read_contents(table.to_pylist()), SCHEMA)


def _read_contents(rows: Sequence[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    """The facts of one log, whose files are put where the readers of files find them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for row in rows:
            address = PurePosixPath(row["path"])
            path = Path(folder, address.parent.name, address.name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(row["content"])
            paths.append(path)
        for place, source in enumerate(read_family(paths)):
            yield from batches(rows_of(rows[0]["family"], place, source))
