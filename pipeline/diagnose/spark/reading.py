"""Files as sources of Spark: ``rebalance_check_facts`` for all that `diagnose` reads, ``rebalance_check_commits`` for
each commit of a segment.

A task reads the files of one log as the local engine does. A large segment is cut where a batch begins, if no
transaction is open there.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from rebalance_check.pipeline.diagnose.dumps.folding import CHUNK, COMMITS, commit_tables, whole_batches
from rebalance_check.pipeline.diagnose.dumps.segments import is_segment
from rebalance_check.pipeline.diagnose.sources import HEAD, Source, expanded, fill_from_segment, named, read_family
from rebalance_check.pipeline.diagnose.spark.rows import SCHEMA, Row, batches, rows_of

PART_BYTES: Final = 128_000_000
"""A larger segment is read by several tasks; Kafka's own limit is 100 MB (``offsets.topic.segment.bytes``)."""
_PART: Final = 1 << 40
"""The numbers of facts of a part begin at its number times this one."""
_ATTRIBUTES_AT, _PRODUCER_AT = 21, 43
_TRANSACTIONAL, _CONTROL = 0x10, 0x20


@dataclass
class Piece(InputPartition):
    """The files of one log, or a part of a segment. ``end`` 0: up to its end."""

    family: int
    paths: tuple[str, ...]
    part: int = 0
    begin: int = 0
    end: int = 0


def pieces(paths: Sequence[str], part_bytes: int) -> list[Piece]:
    """The work of each task, in the order in which the local engine reads the files."""
    found: list[Piece] = []
    for number, family in enumerate(expanded([Path(path) for path in paths])):
        names = tuple(str(path) for path in family)
        if len(family) == 1 and family[0].stat().st_size > part_bytes and _is_segment(family[0]):
            cuts = [0, *cuts_of(family[0], part_bytes), family[0].stat().st_size]
            found += [Piece(number, names, part, begin, end) for part, (begin, end) in enumerate(pairwise(cuts))]
        else:
            found.append(Piece(number, names))
    return found


def _is_segment(path: Path) -> bool:
    with path.open("rb") as file:
        return is_segment(file.read(HEAD))


def cuts_of(path: Path, part_bytes: int) -> Iterator[int]:
    """Places of batches, so far from each other, at which no transaction is open."""
    open_: set[int] = set()
    position, rest, last = 0, b"", 0
    with path.open("rb") as file:
        while more := file.read(CHUNK):
            data = rest + more
            places, goes_on = whole_batches(data)
            for at, end in pairwise(places):
                if data[at + _ATTRIBUTES_AT + 1] & _TRANSACTIONAL:
                    (producer,) = struct.unpack_from(">q", data, at + _PRODUCER_AT)
                    ends = data[at + _ATTRIBUTES_AT + 1] & _CONTROL
                    open_.discard(producer) if ends else open_.add(producer)
                if position + end - last >= part_bytes and not open_:
                    last = position + end
                    yield last
            position += places[-1]
            rest = data[places[-1] :]
            if not goes_on:
                return


def read_piece(piece: Piece) -> Iterator[Row]:
    """The rows of a piece."""
    if not piece.end:
        for place, source in enumerate(read_family([Path(path) for path in piece.paths])):
            yield from rows_of(piece.family, place, source)
        return
    path = Path(piece.paths[0])
    source = Source(named(path))
    fill_from_segment(source, _bytes_of(piece))
    yield from rows_of(piece.family, 0, source, first=piece.part * _PART)


def _bytes_of(piece: Piece) -> io.BytesIO:
    with Path(piece.paths[0]).open("rb") as file:
        file.seek(piece.begin)
        return io.BytesIO(file.read(piece.end - piece.begin))


# ----------------------------------------------------------------------------------------------------- Spark's classes


class FactSource(DataSource):
    """``spark.read.format("rebalance_check_facts")``; ``paths`` is a JSON list, ``part_bytes`` the size of a part."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "rebalance_check_facts"

    def schema(self) -> StructType:
        """The columns."""
        return from_arrow_schema(SCHEMA)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's signature
        """Reads the pieces."""
        return FactReader(json.loads(self.options["paths"]), int(self.options.get("part_bytes", PART_BYTES)))


class FactReader(DataSourceReader):
    """Reads all facts, commits folded."""

    def __init__(self, paths: list[str], part_bytes: int) -> None:
        self.paths = paths
        self.part_bytes = part_bytes

    def partitions(self) -> Sequence[InputPartition]:
        """A task for each."""
        return pieces(self.paths, self.part_bytes)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one task; Spark asks for one even where there is none."""
        return batches(read_piece(partition) if isinstance(partition, Piece) else ())


class CommitSource(FactSource):
    """``spark.read.format("rebalance_check_commits")``: a row for each commit of the segments among ``paths``."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "rebalance_check_commits"

    def schema(self) -> StructType:
        """The columns."""
        return from_arrow_schema(pa.schema(COMMITS))

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's signature
        """Reads the pieces."""
        return CommitReader(json.loads(self.options["paths"]), int(self.options.get("part_bytes", PART_BYTES)))


class CommitReader(FactReader):
    """Reads commits alone."""

    def partitions(self) -> Sequence[InputPartition]:
        """A task for each segment, or part of one."""
        return [one for one in super().partitions() if isinstance(one, Piece) and _is_segment(Path(one.paths[0]))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one task."""
        if isinstance(partition, Piece):
            path = Path(partition.paths[0])
            with _bytes_of(partition) if partition.end else path.open("rb") as file:
                yield from commit_tables(file, named(path))
