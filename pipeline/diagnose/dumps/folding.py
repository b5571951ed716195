"""A segment with its commits folded: by columns where NumPy and PyArrow are installed, else record by record.

Both ways give the same facts and notes; a file is never held as a whole.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import IO, Any, Final

from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.pipeline.diagnose.commits import Commits, Run
from rebalance_check.pipeline.diagnose.dumps.batches import HEAD, LOG_OVERHEAD
from rebalance_check.pipeline.diagnose.dumps.compression import LARGEST
from rebalance_check.pipeline.diagnose.dumps.records import (
    SHORTEST_COMMIT,
    RecordKind,
    committed_by,
    kind_of,
    record_facts,
)
from rebalance_check.pipeline.diagnose.dumps.segments import SegmentReading, partition_of
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, OffsetRecorded

Take = Callable[[Iterable[Fact | NotUnderstood]], None]

COMMITS: Final = {
    "log": "string", "number": "int64", "time_ms": "int64", "group": "string", "partition": "string",
    "offset": "int64",
}  # fmt: skip
"""The columns of a commit: its segment, its place there, and what it says."""
CHUNK: Final = 1 << 23
"""So many bytes of a file are read at once."""
_FEW: Final = 64
"""So few records are faster one by one."""
_LENGTH_AND_MAGIC: Final = struct.Struct(">i4xb").unpack_from
_LENGTH_AT: Final = 8
_SHORTEST: Final = HEAD - LOG_OVERHEAD
_MAGIC: Final = 2


@cache
def _libraries() -> tuple[Any, Any, Any] | None:
    """NumPy, PyArrow and the columns that need them; None where one is missing."""
    try:
        modules = [import_module(name) for name in ("numpy", "pyarrow")]
    except ImportError:
        return None
    return modules[0], modules[1], import_module("rebalance_check.pipeline.diagnose.dumps.columns")


def fold_segment(file: IO[bytes], name: str, take: Take, commits: Commits) -> None:
    """Read a segment: its commits into ``commits``, all else to ``take``."""
    reading = SegmentReading(name, partition_of(name))
    libraries = _libraries()
    position = 0
    if libraries is not None:
        *_, position = 0, *_ByColumns(reading, take, commits, *libraries).read(file)
    for one in reading.rest(file, position):
        take([one])


def commit_tables(file: IO[bytes], name: str) -> Iterator[Any]:
    """The commits of a segment as Arrow's record batches: ``log, number, time_ms, group, partition, offset``.

    Raises: ModuleNotFoundError without NumPy or PyArrow.
    """
    libraries = _libraries()
    if libraries is None:
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
    made: list[Any] = []
    reading = SegmentReading(name, partition_of(name))

    def take(found: Iterable[Fact | NotUnderstood]) -> None:
        one_by_one = [fact for fact in found if isinstance(fact, OffsetRecorded)]
        if one_by_one:
            columns = zip(*((name, each.place.number, each.time_ms, each.group, each.partition, each.offset)
                            for each in one_by_one), strict=True)  # fmt: skip
            arrays = [libraries[1].array(one, kind) for one, kind in zip(columns, COMMITS.values(), strict=True)]
            made.append(libraries[1].RecordBatch.from_arrays(arrays, list(COMMITS)))

    reader = _ByColumns(reading, take, Commits(), *libraries, each=lambda chunk, rows: chunk.table(rows, made))
    reached = 0
    for position in reader.read(file):
        reached = position
        yield from made
        made.clear()
    for one in reading.rest(file, reached):
        take([one])
    yield from made


def whole_batches(data: bytes) -> tuple[list[int], bool]:
    """The places of the batches of message format 2 that these bytes have whole, and the place behind the last; and
    whether more bytes may complete another one."""
    places, at, size = [0], 0, len(data)
    while size - at >= HEAD:
        length, magic = _LENGTH_AND_MAGIC(data, at + _LENGTH_AT)
        if magic != _MAGIC or not _SHORTEST <= length <= LARGEST:
            return places, False
        at += LOG_OVERHEAD + length
        if at > size:
            break
        places.append(at)
    return places, True


@dataclass(slots=True)
class _ByColumns:
    """Reads the sound part of a segment."""

    reading: SegmentReading
    take: Take
    commits: Commits
    np: Any
    pa: Any
    columns: Any
    each: Callable[[_Chunk, slice], bool] = lambda chunk, rows: chunk.fold(rows)

    def read(self, file: IO[bytes]) -> Iterator[int]:
        """Read up to the first byte that begins no whole batch; after each part, the place that is reached."""
        position, rest = 0, b""
        padding = bytes(self.columns.PADDING)
        while more := file.read(CHUNK):
            data = rest + more
            places, goes_on = whole_batches(data)
            self._batches(data, data + padding, places)
            position += places[-1]
            rest = data[places[-1] :]
            yield position
            if self.reading.strange or not goes_on:
                break

    def _batches(self, data: bytes, padded: bytes, starts: list[int]) -> None:
        first = 0  # until a key is known, the segment may be of another topic
        while first < len(starts) - 1 and not self.reading.known and not self.reading.strange:
            self._plainly(data, starts[first], starts[first + 1])
            first += 1
        if len(starts) - 1 - first <= 0 or self.reading.strange:
            return
        places = self.np.array(starts[first:], self.np.int64)
        columns = self.columns.columns_of(self.np.frombuffer(padded, self.np.uint8), places[:-1])
        chunk = _Chunk(self, data, padded, columns)
        plain = columns.plain
        edges = [0, *(self.np.flatnonzero(plain[1:] != plain[:-1]) + 1).tolist(), len(plain)]
        for begin, end in pairwise(edges):
            rows = slice(int(columns.first[begin]), int(columns.end[end - 1]))
            if plain[begin] and rows.stop - rows.start >= _FEW and self.each(chunk, rows):
                self.reading.last_offset = int(columns.last[end - 1])
                continue
            for index in range(first + begin, first + end):
                self._plainly(data, starts[index], starts[index + 1])

    def _plainly(self, data: bytes, start: int, end: int) -> None:
        one = data[start:end]
        self.take(self.reading.on_batch(int.from_bytes(one[:8], "big", signed=True), one))


class _Chunk:
    """The records of one chunk. Only those that are no commits, and commits that go back, become Python objects."""

    def __init__(self, owner: _ByColumns, data: bytes, padded: bytes, chunk: Any) -> None:
        self.owner, self.data, self.padded, self.chunk = owner, data, padded, chunk
        np, pa = owner.np, owner.pa
        ends = np.empty(2 * len(chunk.key_at) + 1, np.int32)  # each key, and the bytes up to the next
        ends[:-1:2], ends[-1] = chunk.key_at, len(data)
        ends[1::2] = chunk.key_at + np.maximum(chunk.key_size, 0)
        pieces = pa.Array.from_buffers(pa.binary(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])
        keys = pieces.take(pa.array(np.arange(0, len(ends) - 1, 2, np.int32))).dictionary_encode()
        self.names = [_name(key) for key in keys.dictionary.to_pylist()]
        version, self.committed = self._values()
        shortest = np.array([*SHORTEST_COMMIT, LARGEST])[np.where((version < 0) | (version > 4), 5, version)]
        named = np.array([name is not None for name in self.names], np.bool_)[keys.indices.to_numpy()]
        self.tombstone = chunk.value_size < 0
        self.good = named & (self.tombstone | (chunk.value_size >= shortest))
        self.key = keys.indices.to_numpy().astype(
            np.int16 if len(self.names) < 1 << 15 else np.int32
        )  # short ones are sorted faster

    def _values(self) -> tuple[Any, Any]:
        """Version and offset at the begin of each value, if it is a commit."""
        np = self.owner.np
        begins = np.frombuffer(self.padded, np.uint8)[self.chunk.value_at[:, None] + np.arange(10)]
        version = np.ascontiguousarray(begins[:, :2]).view(">i2").ravel().astype(np.int64)
        return version, np.ascontiguousarray(begins[:, 2:]).view(">i8").ravel().astype(np.int64)

    def fold(self, rows: slice) -> bool:
        """Fold these records, unless their offsets or times are none that a broker writes."""
        np, chunk = self.owner.np, self.chunk
        number, time = chunk.offset[rows], chunk.time_ms[rows]
        if (time < 0).any() or (number[1:] <= number[:-1]).any():
            return False
        good = self.good[rows]
        for row in (np.flatnonzero(~good) + rows.start).tolist():
            self._other(row)
        picked = np.flatnonzero(good)
        picked = picked[np.argsort(self.key[rows][picked], kind="stable")] + rows.start
        if not len(picked):
            return True
        key, number, time = self.key[picked], chunk.offset[picked], chunk.time_ms[picked]
        tombstone, committed = self.tombstone[picked], self.committed[picked]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        last = np.concatenate([first[1:], [len(key)]]) - 1
        runs = zip(
            (last - first + 1).tolist(), number[first].tolist(), number[last].tolist(), time[first].tolist(),
            np.minimum.reduceat(time, first).tolist(), np.maximum.reduceat(time, first).tolist(),
            _or_none(committed[first], tombstone[first]), _or_none(committed[last], tombstone[last]),
            np.add.reduceat(time, first).tolist(),
            np.add.reduceat(np.where(tombstone, -1, committed), first).tolist(), strict=True,
        )  # fmt: skip
        source, folds = self.owner.reading.source, {}
        for one, run in zip(key[first].tolist(), runs, strict=True):
            name = self.names[one]
            assert name is not None  # those are no good rows
            folds[one] = self.owner.commits.join(name[0], name[1], Run(*run), source)
        dead = tombstone[1:] | tombstone[:-1] | (key[1:] != key[:-1])
        for at in (np.flatnonzero((committed[1:] < committed[:-1]) & ~dead) + 1).tolist():
            folds[int(key[at])].went_back(source, int(number[at]), int(time[at]), int(committed[at]))
        return True

    def table(self, rows: slice, into: list[Any]) -> bool:
        """These commits as a record batch."""
        np, pa, chunk = self.owner.np, self.owner.pa, self.chunk
        picked = np.flatnonzero(self.good[rows]) + rows.start
        names = [name or ("", "") for name in self.names]
        index = pa.array(self.key[picked].astype(np.int32))
        source = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(picked), np.int32)), [self.owner.reading.source])
        columns = [
            source.dictionary_decode(), pa.array(chunk.offset[picked]), pa.array(chunk.time_ms[picked]),
            *(pa.DictionaryArray.from_arrays(index, [name[part] for name in names]).dictionary_decode()
              for part in (0, 1)),
            pa.array(self.committed[picked], mask=self.tombstone[picked]),
        ]  # fmt: skip
        into.append(pa.RecordBatch.from_arrays(columns, list(COMMITS)))
        return True

    def _other(self, row: int) -> None:
        """A record that is no commit, or none that can be read."""
        chunk, reading = self.chunk, self.owner.reading
        key, value = (
            None if size < 0 else self.data[at : at + size]
            for at, size in (
                (int(chunk.key_at[row]), int(chunk.key_size[row])),
                (int(chunk.value_at[row]), int(chunk.value_size[row])),
            )
        )
        self.owner.take(
            record_facts(key, value, source=reading.source, offset=int(chunk.offset[row]),
                         time_ms=int(chunk.time_ms[row]), partition=reading.partition)
        )  # fmt: skip


def _or_none(offsets: Any, tombstones: Any) -> list[int | None]:
    return [None if gone else offset for offset, gone in zip(offsets.tolist(), tombstones.tolist(), strict=True)]


def _name(key: bytes) -> tuple[str, str] | None:
    """The group and the partition of a commit; None for the key of another record."""
    try:
        return committed_by(key) if kind_of(key) is RecordKind.OFFSET else None
    except MalformedBytes:
        return None
