"""The fingerprints that a share of a spilled search keeps, on disk: files in which they stand in order.

A level adds a file, a *run*; no fingerprint stands in two of them. Where the last run has grown to half of the one
before, the two are merged, so that there are never more than a few. Files are written once and not changed, so a search
that was killed goes on with those that it has noted. To look fingerprints up, they are sorted and compared with each
run from its beginning to its end: memory holds one block of a run, however many states the search has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np

BLOCK: Final = 1 << 17
"""So many fingerprints are read from a run at once: a mebibyte."""


class Run(NamedTuple):
    """A file of fingerprints in order: its name, and how many it has."""

    name: str
    size: int


class SortedRuns:
    """The runs in ``folder``; ``runs`` are those that count, the largest first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.runs: list[Run] = []

    @property
    def paths(self) -> set[Path]:
        """The files that count."""
        return {self._folder / run.name for run in self.runs}

    def known(self, wanted: Any, check: Callable[[], None]) -> Any:
        """Those of some fingerprints, distinct and in order, that a run has; ``check`` is called for each block."""
        found = [wanted[:0]]
        for run in self.runs:
            for block in blocks_of(self._folder / run.name):
                check()
                found.append(common(part_of(wanted, block), block))
        return np.concatenate(found)

    def add(self, name: str, fingerprints: Any) -> None:
        """Write fingerprints, in order and in no run yet, as a run, whose name begins with ``name``."""
        run = Run(f"{name}-0", len(fingerprints))
        with (self._folder / run.name).open("wb") as file:
            write(file, fingerprints)
        self.runs.append(run)
        merges = 0
        while len(self.runs) > 1 and 2 * self.runs[-1].size >= self.runs[-2].size:
            merges += 1
            self.runs[-2:] = [self.merged(f"{name}-{merges}", *self.runs[-2:])]

    def merged(self, name: str, one: Run, other: Run) -> Run:
        """Two runs as one; their files stay."""
        with (self._folder / name).open("wb") as file:
            merge(blocks_of(self._folder / one.name), blocks_of(self._folder / other.name), file)
        return Run(name, one.size + other.size)


def blocks_of(path: Path) -> Iterator[Any]:
    """The fingerprints of a run, some at a time."""
    with path.open("rb") as file:
        while len(block := np.fromfile(file, np.uint64, BLOCK)):
            yield block


def write(file: BinaryIO, array: Any) -> None:
    """Write the bytes of an array: `numpy.ndarray.tofile` would not say why it failed."""
    if len(array):
        file.write(np.ascontiguousarray(array).data)


def part_of(wanted: Any, block: Any) -> Any:
    """Those of some fingerprints in order that lie within a block in order."""
    return wanted[np.searchsorted(wanted, block[0]) : np.searchsorted(wanted, block[-1], "right")]


def common(some: Any, others: Any) -> Any:
    """What stands in both of two arrays, each distinct and in order."""
    few, many = (some, others) if len(some) < len(others) else (others, some)
    places = np.searchsorted(many, few)
    places[places == len(many)] = 0
    return few[many[places] == few] if len(many) else few


def merge(one: Iterator[Any], other: Iterator[Any], file: BinaryIO) -> None:
    """Write what two runs have as one run; a block of each is in memory."""
    nothing = np.empty(0, np.uint64)
    left, right = next(one, nothing), next(other, nothing)
    while len(left) and len(right):
        last = min(left[-1], right[-1])
        ends = np.searchsorted(left, last, "right"), np.searchsorted(right, last, "right")
        write(file, np.sort(np.concatenate((left[: ends[0]], right[: ends[1]]))))
        left, right = left[ends[0] :], right[ends[1] :]
        left, right = (left if len(left) else next(one, nothing)), (right if len(right) else next(other, nothing))
    for block in (left, right, *one, *other):
        write(file, block)
