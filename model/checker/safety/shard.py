"""A share of a search that is on disk: what `worker.Worker` has in memory, for states that memory cannot hold.

The states of a search are shared out by fingerprint, as among workers; but only the share that is worked on is in
memory. A level has two phases. *Expanding* reads a frontier from its file, block by block, and appends each successor
to the candidates of the share that owns it. *Absorbing* reads the fingerprints of a share into a table, and then its
candidates, source by source, so that what is found does not depend on the order of the work.

Files of states only grow, and their sizes are noted when a level is done (`Shard.state`): what a killed run wrote beyond
that is cut off before the search goes on. A frontier has a file for each level, which stays until the next one is
complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.worker import Buffer, words_of

BLOCK: Final = 1 << 16
"""So many states, or candidates, are read from a file at once."""

FINGERPRINT, PARENT, LABEL = -3, -2, -1
"""The columns of a candidate behind the words of its state."""


class Shard:
    """Share ``number`` of ``count``, in files below ``folder``.

    ``st`` are the counters that `kernel` names, over all levels; ``size`` is how many states it keeps, and ``frontier``
    how many of them make the present level, ``depth``.
    """

    def __init__(self, folder: Path, number: int, count: int, machine: Machine) -> None:
        self.number, self.count, self.words = number, count, words_of(machine)
        self._folder = folder / f"{number:03d}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self.st = np.zeros(kernel.FIRED + len(machine.model.rules), np.int64)
        self.size = self.frontier = self.depth = 0

    def path(self, name: str) -> Path:
        """One of its files."""
        return self._folder / name

    def candidates(self, source: int) -> Path:
        """The candidates that another share found for it."""
        return self.path(f"candidates-{source:03d}")

    def level(self, depth: int) -> Path:
        """The states of a level."""
        return self.path(f"level-{depth:05d}")

    # -------------------------------------------------------------------------------------------- going on later

    def state(self) -> dict[str, Any]:
        """What a search needs to know to go on from the end of this level."""
        return {"size": self.size, "frontier": self.frontier, "depth": self.depth, "st": self.st.tolist()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the end of a level: cut off, and remove, what was written after it."""
        self.size, self.frontier, self.depth = state["size"], state["frontier"], state["depth"]
        self.st[:] = state["st"]
        for name, size in (("fingerprints", 8), ("parents", 4), ("labels", 4)):
            cut(self.path(name), size * self.size)
        for path in (*self._folder.glob("candidates-*"), *self._folder.glob("level-*")):
            if path != self.level(self.depth):
                path.unlink()

    def forget(self, depth: int) -> None:
        """Remove the states of a level that is not needed any more."""
        self.level(depth).unlink(missing_ok=True)

    def origin(self, index: int) -> tuple[int, int]:
        """Where one of its states came from: the number of the state over all shares, and the label of the step."""
        return tuple(
            int(np.fromfile(self.path(name), np.uint32, 1, offset=4 * index)[0]) for name in ("parents", "labels")
        )  # type: ignore[return-value]

    # -------------------------------------------------------------------------------------------- expanding

    def expand(self, program: Program, buffer: Buffer, shards: list[Shard], symmetry: tuple[Any, ...]) -> None:
        """Write the successors of the frontier to the shares that own them."""
        first = self.size - self.frontier
        done = 0
        for block in rows_of(self.level(self.depth), self.words):
            self.st[kernel.AT], self.st[kernel.SIZE], self.st[kernel.BASE] = 0, len(block), first + done
            while self.st[kernel.AT] < len(block):
                program.expand(block, self.st, *buffer.arrays, 0, buffer.chunk, *symmetry)
                self.scatter(buffer, int(self.st[kernel.FILLED]), shards)
            done += len(block)

    def scatter(self, buffer: Buffer, filled: int, shards: list[Shard]) -> None:
        """Append successors to the candidates of their owners, in the order in which they were found."""
        rows = np.empty((filled, self.words + 3), np.uint64)
        rows[:, : self.words] = buffer.states[:filled]
        rows[:, FINGERPRINT] = buffer.fingerprints[:filled]
        rows[:, PARENT] = buffer.parents[:filled] * self.count + self.number
        rows[:, LABEL] = buffer.labels[:filled]
        owners = (buffer.fingerprints[:filled] >> kernel.OWNER_SHIFT).astype(np.int64) % self.count
        order = np.argsort(owners, kind="stable")
        ends = np.cumsum(np.bincount(owners, minlength=self.count))
        for shard, part in zip(shards, np.split(rows[order], ends[:-1]), strict=True):
            if len(part):
                append(shard.candidates(self.number), part)

    # -------------------------------------------------------------------------------------------- absorbing

    def absorb(self, program: Program) -> None:
        """Keep the candidates that are new; they are the next frontier."""
        table = self.table(program)
        frontier = self.level(self.depth + 1)
        frontier.unlink(missing_ok=True)
        before = self.size
        for source in range(self.count):
            for rows in rows_of(self.candidates(source), self.words + 3):
                self.absorb_rows(program, rows, table, frontier)
            self.candidates(source).unlink(missing_ok=True)
        self.frontier, self.depth = self.size - before, self.depth + 1

    def table(self, program: Program) -> Any:
        """The fingerprints that it keeps, in a table with room for all of its candidates."""
        row = 8 * (self.words + 3)
        waiting = sum(size_of(self.candidates(source)) // row for source in range(self.count))
        table = np.zeros(1 << (2 * (self.size + waiting) + 1).bit_length(), np.uint64)
        for block in rows_of(self.path("fingerprints"), 1):
            program.rehash(block.reshape(-1), table)
        return table

    def absorb_rows(self, program: Program, rows: Any, table: Any, frontier: Path) -> None:
        """Keep those of some candidates that are new."""
        n = len(rows)
        found, parents, labels = np.empty((n, self.words), np.uint64), np.empty(n, np.uint32), np.empty(n, np.uint32)
        states = np.ascontiguousarray(rows[:, : self.words])
        columns = (np.ascontiguousarray(rows[:, at]) for at in (FINGERPRINT, PARENT, LABEL))
        fingerprints, parent, label = columns
        # the kernel numbers states from 0 in these arrays; where a claim breaks, it is this share's number that counts
        self.st[kernel.NEXT] = self.st[kernel.STATES] = 0
        was_broken = self.st[kernel.CLAIM] != 0
        program.absorb(
            0, 0, 1, n, n, states, fingerprints, parent.view(np.int64), label.view(np.int64),
            found, table, parents, labels, self.st,
        )  # fmt: skip
        new = int(self.st[kernel.STATES])
        if self.st[kernel.CLAIM] and not was_broken:
            self.st[kernel.BAD] += self.size
        kept = np.empty(new, np.uint64)
        program.fingerprints(found, new, kept)
        append(self.path("fingerprints"), kept)
        append(self.path("parents"), parents[:new])
        append(self.path("labels"), labels[:new])
        append(frontier, found[:new])
        self.size += new


def rows_of(path: Path, width: int, block: int = BLOCK) -> Iterator[Any]:
    """The rows of so many words that a file has, some at a time; none where there is no file."""
    if not path.exists():
        return
    with path.open("rb") as file:
        while data := file.read(8 * width * block):
            yield np.frombuffer(data, np.uint64).reshape(-1, width)


def append(path: Path, rows: Any) -> None:
    """Append an array to a file."""
    with path.open("ab") as file:
        file.write(np.ascontiguousarray(rows).data)


def size_of(path: Path) -> int:
    """The bytes of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def cut(path: Path, size: int) -> None:
    """Cut a file off behind so many bytes.

    Raises: ValueError where it has less.
    """
    if size_of(path) < size:
        raise ValueError(f"{path} has {size_of(path)} bytes of {size}")
    if path.exists():
        os.truncate(path, size)
