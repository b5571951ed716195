"""The segments of one partition of ``__consumer_offsets``: commits of all its groups, a round of them at a time.

Rounds between two changes of a group differ in offsets, times and checksums alone, which NumPy writes into copies of
the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from rebalance_check.pipeline.diagnose.dumps.checksums import PADDING, Bytes, Numbers, checksums
from rebalance_check.pipeline.diagnose.generator.groups import GroupScript, Stored
from rebalance_check.pipeline.diagnose.generator.records import (
    COMMIT_TIME_AT,
    CRC_AT,
    CRC_FROM,
    OFFSET_AT,
    TIMES_AT,
    batch,
    commit_pair,
    group_pair,
)

PER_BATCH: Final = 8
"""So many commits of a group stand in one batch at most: a member commits its partitions with one request."""
AT_ONCE: Final = 4_000_000
"""So many bytes are made at once, about."""


@dataclass(slots=True)
class _Round:
    """One commit of each partition of each group: its bytes, and the places of all that differs between rounds."""

    data: Bytes
    starts: Numbers
    ends: Numbers
    records: Numbers
    """The records before each batch."""
    values: Numbers
    """The place of each commit's value."""
    batch_of: Numbers
    """The batch of each commit."""


@dataclass(slots=True)
class SegmentWriter:
    """Writes batches one after another; a file that is full is followed by one named by its first offset."""

    folder: Path
    limit: int
    next_offset: int = 0
    _file: BinaryIO | None = None
    _size: int = 0

    def write(self, data: bytes, records: int) -> None:
        """Append whole batches that have so many records."""
        if self._file is None or self._size >= self.limit:
            self.close()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = (self.folder / f"{self.next_offset:020d}.log").open("wb")
            self._size = 0
        self._file.write(data)
        self._size += len(data)
        self.next_offset += records

    def close(self) -> None:
        """End the last file."""
        if self._file is not None:
            self._file.close()


@dataclass(slots=True)
class PartitionWriter:
    """The commits and group records of the groups of one partition, in the order of time."""

    groups: Sequence[GroupScript]
    segments: SegmentWriter
    start_ms: int
    every_ms: float
    """A round of commits begins so often."""
    _active: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _begin: dict[tuple[str, int], int] = field(default_factory=dict)

    def write(self, rounds: int) -> int:
        """Write so many rounds, and the groups' records between them; the commits are counted."""
        happenings = sorted(
            ((one.time_ms, place, one) for place, group in enumerate(self.groups) for one in group.stored),
            key=lambda item: item[:2],
        )
        done = commits = 0
        for time_ms, place, one in happenings:
            until = min(rounds, max(done, int((time_ms - self.start_ms) / self.every_ms) + 1))
            commits += self._rounds(done, until)
            done = until
            group = self.groups[place]
            if isinstance(one, Stored):
                data, _ = batch(self.segments.next_offset, time_ms, [group_pair(one.record)])
                self.segments.write(data, 1)
                self._active[group.name] = one.commits
            else:
                key = group.name, one.partition
                self._begin[key] = self._begin.get(key, 0) - one.by
        commits += self._rounds(done, rounds)
        self.segments.close()
        return commits

    def _rounds(self, first: int, end: int) -> int:
        active = [(group, numbers) for group in self.groups if (numbers := self._active.get(group.name))]
        if first >= end or not active:
            return 0
        one = _one_round(active)
        begins = np.array([self._first_offset(group, n) for group, numbers in active for n in numbers], np.int64)
        speeds = np.array([_speed(group, n) for group, numbers in active for n in numbers], np.int64)
        step = max(1, min(AT_ONCE, self.segments.limit) // len(one.data))
        for at in range(first, end, step):
            rounds = np.arange(at, min(at + step, end), dtype=np.int64)
            self._write(one, rounds, begins + speeds * rounds[:, None])
        return len(begins) * (end - first)

    def _first_offset(self, group: GroupScript, number: int) -> int:
        return 2_000_000_000_000 + self._begin.get((group.name, number), 0)

    def _write(self, one: _Round, numbers: Numbers, offsets: Numbers) -> None:
        """The rounds with these numbers: copies of one with their own offsets, times and checksums."""
        count, size = len(numbers), len(one.data)
        flat = np.zeros(count * size + PADDING, np.uint8)
        rounds = flat[: count * size].reshape(count, size)
        rounds[:] = one.data
        per_round = len(one.values)
        bases = self.segments.next_offset + one.records + per_round * np.arange(count, dtype=np.int64)[:, None]
        late = np.arange(len(one.starts), dtype=np.int64) % max(1, int(self.every_ms))
        times = self.start_ms + (numbers * self.every_ms).astype(np.int64)[:, None] + late
        _set(rounds, one.starts, bases)
        for at in TIMES_AT:
            _set(rounds, one.starts + at, times)
        _set(rounds, one.values + OFFSET_AT, offsets)
        _set(rounds, one.values + COMMIT_TIME_AT, times[:, one.batch_of])
        begins = (one.starts + size * np.arange(count, dtype=np.int64)[:, None]).ravel()
        ends = (one.ends + size * np.arange(count, dtype=np.int64)[:, None]).ravel()
        sums = checksums(flat, begins + CRC_FROM, ends).astype(">u4").view(np.uint8).reshape(-1, 4)
        flat[begins[:, None] + CRC_AT + np.arange(4)] = sums
        self.segments.write(rounds.tobytes(), per_round * count)


def _set(rounds: Bytes, places: Numbers, values: Numbers) -> None:
    """Write 64-bit numbers into each round, at the same places."""
    wide = np.ascontiguousarray(values, ">i8").view(np.uint8).reshape(len(rounds), -1)
    rounds[:, (places[:, None] + np.arange(8)).ravel()] = wide


def _one_round(active: Sequence[tuple[GroupScript, tuple[int, ...]]]) -> _Round:
    data = bytearray()
    starts: list[int] = []
    ends: list[int] = []
    records: list[int] = []
    values: list[int] = []
    batch_of: list[int] = []
    for group, numbers in active:
        for some in _cut(numbers):
            made, places = batch(0, 0, [commit_pair(group.name, group.topic, number) for number in some])
            batch_of += [len(starts)] * len(some)
            records.append(len(values))
            values += [len(data) + place for place in places]
            starts.append(len(data))
            data += made
            ends.append(len(data))
    arrays = (np.array(each, np.int64) for each in (starts, ends, records, values, batch_of))
    return _Round(np.frombuffer(bytes(data), np.uint8), *arrays)


def _cut(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[at : at + PER_BATCH] for at in range(0, len(numbers), PER_BATCH))


def _speed(group: GroupScript, number: int) -> int:
    """The records that a partition gets between two commits."""
    return 1 + (group.offsets_partition * 31 + number * 17) % 97
