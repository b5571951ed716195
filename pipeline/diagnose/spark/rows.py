"""The rows in which facts travel between Spark and its Python workers: a few columns to select by, and the fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa

from rebalance_check.pipeline.diagnose.clocks import SourceTimes
from rebalance_check.pipeline.diagnose.commits import CommitsFolded
from rebalance_check.pipeline.diagnose.facts import (
    ConfigRecorded,
    Fact,
    GroupRecorded,
    NotUnderstood,
    StatusRecorded,
    WorkerFact,
)
from rebalance_check.pipeline.diagnose.sources import Source

Row: TypeAlias = tuple[int, int, int, str, str, "int | None", bool, bytes]

SCHEMA: Final = pa.schema(
    [
        pa.field("family", pa.int32()),  # the files of one log, by number
        pa.field("place", pa.int32()),  # of the file in its family, or of the part in its file
        pa.field("number", pa.int64()),  # of the fact in its file
        pa.field("group", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("time_ms", pa.int64()),
        pa.field("connect", pa.bool_()),
        pa.field("body", pa.binary()),
    ]
)
SOURCE: Final = "source"
"""The kind of the row that says how a file was read."""
AT_ONCE: Final = 4_096


@dataclass(frozen=True, slots=True)
class SourceRead:
    """How a file, or a part of it, was read."""

    name: str
    kind: str
    lines: int
    count: int
    not_understood: int
    examples: list[NotUnderstood]
    fault: str
    times: tuple[int, int, bool, bool, int | None, list[tuple[str, int, int]], list[tuple[str, int]]]

    @staticmethod
    def of(source: Source) -> SourceRead:
        """The reading of a source."""
        found = SourceTimes().take(source.all_facts)
        return SourceRead(
            source.name, source.kind, source.lines, source.count, source.not_understood, source.examples, source.fault,
            (found.facts, found.timed, found.zoned, found.central, found.last_ms,
             [(*key, time_ms) for key, time_ms in found.ends.items()], list(found.twice)),
        )  # fmt: skip

    def source(self) -> Source:
        """A source that counts the facts, and does not have them."""
        found = Source(self.name, self.kind, self.lines, [], self.not_understood, self.examples, self.fault)
        found.commits.count = self.count
        return found

    def source_times(self) -> SourceTimes:
        """The times of its facts."""
        facts, timed, zoned, central, last_ms, ends, twice = self.times
        return SourceTimes(
            facts,
            timed,
            zoned,
            central,
            last_ms,
            {(group, generation): time_ms for group, generation, time_ms in ends},
            set(twice),
        )


def rows_of(family: int, place: int, source: Source, first: int = 0) -> Iterator[Row]:
    """The rows of a source: its facts, numbered from ``first`` on, and the reading."""
    for number, fact in enumerate(source.all_facts, first):
        connect = isinstance(fact, WorkerFact | StatusRecorded | ConfigRecorded)
        connect = connect or (isinstance(fact, GroupRecorded) and fact.protocol_type == "connect")
        yield family, place, number, fact.group, type(fact).__name__, fact.time_ms, connect, encoded(fact)
    body = msgspec.msgpack.encode(SourceRead.of(source))
    yield family, place, first, "", SOURCE, None, False, body


def batches(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Rows as columns of `SCHEMA`."""
    some: list[Row] = []
    for row in rows:
        some.append(row)
        if len(some) == AT_ONCE:
            yield _batch(some)
            some = []
    yield _batch(some)


def _batch(rows: Sequence[Row]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def encoded(fact: Fact) -> bytes:
    """The bytes of a fact; its kind is the name of its class."""
    return msgspec.msgpack.encode(fact)


def decoded(kind: str, body: bytes) -> Any:
    """The fact, or the `SourceRead`, of these bytes."""
    return _decoder(kind).decode(body)


@cache
def _decoder(kind: str) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(SourceRead if kind == SOURCE else kinds()[kind])


@cache
def kinds() -> dict[str, type[Fact]]:
    """All classes of facts by name."""
    assert issubclass(CommitsFolded, Fact)  # it stands in another file, which must be imported
    found: list[type[Fact]] = [Fact]
    for one in found:
        found += one.__subclasses__()
    return {one.__name__: one for one in found}
