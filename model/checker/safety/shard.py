"""A share of a search that is on disk: what `worker.Worker` has in memory, for states that memory cannot hold.

The states of a search are shared out by fingerprint, as among workers. A level has two phases. *Expanding* reads the
frontier of a share from its file, block by block, and writes each successor to the candidates of its owner.
*Absorbing* keeps those candidates that are new, source by source, so that what is found does not depend on the order of
the work. It does so in batches: their fingerprints are sorted and looked up in the sorted runs of the share, what is
known goes into a table, and the kernel takes what the table does not have. So memory holds a batch, and never a share.

Each phase can be repeated: it changes no file that it reads, and overwrites what an earlier attempt left. A search that
was killed therefore goes on from the numbers of `Shard.state`, whatever was written after them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.sorted_runs import Run, SortedRuns, write
from rebalance_check.model.checker.safety.worker import Buffer, words_of

BLOCK: Final = 1 << 14
"""So many states, or candidates, are read from a file at once."""

BATCH: Final = 1 << 22
"""So many candidates are looked up at once, unless a caller has a limit of memory."""

FINGERPRINT, PARENT, LABEL = -3, -2, -1
"""The columns of a candidate behind the words of its state."""

CANDIDATES: Final = "candidates"
LEVEL: Final = "level"
RUN: Final = "fingerprints"


def no_check() -> None:
    """The ``check`` of a phase that nothing ends early."""


class Shard:
    """Share ``number`` of ``count``, in files below ``folder``.

    ``st`` are the counters that `kernel` names, over all levels. ``size`` is how many states it keeps, and ``frontier``
    how many of them make the present level, ``depth``; ``is_expanded`` says whether their successors are written.
    ``sent`` has the candidates that it last wrote for each share.
    """

    def __init__(self, folder: Path, number: int, count: int, machine: Machine) -> None:
        self.number, self.count, self.words = number, count, words_of(machine)
        self._folder = folder / f"{number:03d}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self.st = np.zeros(kernel.FIRED + len(machine.model.rules), np.int64)
        self.size = self.frontier = self.depth = 0
        self.is_expanded = False
        self.sent = [0] * count
        self.runs = SortedRuns(self._folder)

    def path(self, name: str) -> Path:
        """One of its files."""
        return self._folder / name

    def candidates(self, source: int, depth: int) -> Path:
        """The candidates that a share found for it when it expanded a level."""
        return self.path(f"{CANDIDATES}-{depth:05d}-{source:03d}")

    def level(self, depth: int) -> Path:
        """The states of a level."""
        return self.path(f"{LEVEL}-{depth:05d}")

    # -------------------------------------------------------------------------------------------- going on later

    def state(self) -> dict[str, Any]:
        """What a search needs to know to go on from the end of this phase, as JSON can hold it."""
        return {
            "size": self.size, "frontier": self.frontier, "depth": self.depth, "is_expanded": self.is_expanded,
            "sent": self.sent, "runs": [list(run) for run in self.runs.runs], "st": self.st.tolist(),
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the end of a phase."""
        self.size, self.frontier, self.depth = state["size"], state["frontier"], state["depth"]
        self.is_expanded, self.sent = state["is_expanded"], list(state["sent"])
        self.runs.runs = [Run(*run) for run in state["runs"]]
        self.st[:] = state["st"]

    def files(self, state: Mapping[str, Any]) -> dict[Path, int]:
        """The files that it needs to go on from a `state`, each with the bytes that it has at least; no candidates."""
        origins = {self.path(name): 4 * state["size"] for name in ("parents", "labels")}
        frontier = {self.level(state["depth"]): 8 * self.words * state["frontier"]} if not state["is_expanded"] else {}
        return origins | frontier | {self.path(name): 8 * size for name, size in state["runs"]}

    def candidate_bytes(self, count: int) -> int:
        """The bytes of so many candidates."""
        return 8 * (self.words + 3) * count

    def forget(self, depth: int, but: Container[Path] = ()) -> None:
        """Remove the states and candidates of a level and all before it, and runs that were merged; ``but`` stays."""
        now = self.runs.paths
        for path in self._folder.iterdir():
            kind, _, rest = path.name.partition("-")
            is_past = int(rest[:5]) <= depth if kind in {CANDIDATES, LEVEL} else kind == RUN and path not in now
            if is_past and path not in but:
                path.unlink()

    def discard(self, shards: Sequence[Shard]) -> None:
        """Remove what a phase has written that was not done whole."""
        self.level(self.depth + 1).unlink(missing_ok=True)
        if not self.is_expanded:
            for shard in shards:
                shard.candidates(self.number, self.depth).unlink(missing_ok=True)

    def origin(self, index: int) -> tuple[int, int]:
        """Where one of its states came from: the number of the state over all shares, and the label of the step."""
        parent, label = (
            int(np.fromfile(self.path(name), np.uint32, 1, offset=4 * index)[0]) for name in ("parents", "labels")
        )
        return parent, label

    # -------------------------------------------------------------------------------------------- expanding

    def expand(
        self, program: Program, buffer: Buffer, shards: Sequence[Shard], symmetry: tuple[Any, ...],
        check: Callable[[], None] = no_check,
    ) -> None:  # fmt: skip
        """Write the successors of the frontier to the shares that own them; ``check`` is called now and then."""
        paths = [shard.candidates(self.number, self.depth) for shard in shards]
        self.sent = [0] * self.count
        with opened(paths) as files:
            for parts in self.successors(program, buffer, symmetry, check):
                for owner, part in enumerate(parts):
                    write(files[owner], part)
                    self.sent[owner] += len(part)
        self.is_expanded = True

    def successors(
        self, program: Program, buffer: Buffer, symmetry: tuple[Any, ...], check: Callable[[], None] = no_check
    ) -> Iterator[list[Any]]:
        """The successors of the frontier, some at a time: the candidates for each share, in the order of finding.

        Raises: ValueError where the file of the frontier does not have all of its states.
        """
        first, done = self.size - self.frontier, 0
        for block in rows_of(self.level(self.depth), self.words):
            self.st[kernel.AT], self.st[kernel.SIZE], self.st[kernel.BASE] = 0, len(block), first + done
            while self.st[kernel.AT] < len(block):
                check()
                program.expand(block, self.st, *buffer.arrays, 0, buffer.chunk, *symmetry)
                yield self.by_owner(buffer, int(self.st[kernel.FILLED]))
            done += len(block)
        if done != self.frontier:
            raise ValueError(f"{self.level(self.depth)} has {done} states of {self.frontier}")

    def by_owner(self, buffer: Buffer, filled: int) -> list[Any]:
        """The successors in a buffer as candidates, for each share those that it owns."""
        rows = np.empty((filled, self.words + 3), np.uint64)
        rows[:, : self.words] = buffer.states[:filled]
        rows[:, FINGERPRINT] = buffer.fingerprints[:filled]
        rows[:, PARENT] = buffer.parents[:filled] * self.count + self.number
        rows[:, LABEL] = buffer.labels[:filled]
        owners = owner_of(buffer.fingerprints[:filled], self.count)
        order = np.argsort(owners, kind="stable")
        ends = np.cumsum(np.bincount(owners, minlength=self.count))
        return np.split(rows[order], ends[:-1])

    # -------------------------------------------------------------------------------------------- absorbing

    def absorb(self, program: Program, batch: int = BATCH, check: Callable[[], None] = no_check) -> None:
        """Keep the candidates that are new; they are the next frontier.

        ``batch`` is how many candidates are looked up at once, rounded to blocks; ``check`` is called now and then.
        """
        before = self.size
        looked_up, taken = self.waiting(), self.waiting()
        with ExitStack() as stack:
            frontier = stack.enter_context(self.level(self.depth + 1).open("wb"))
            origins = [stack.enter_context(extended(self.path(name), 4 * self.size)) for name in ("parents", "labels")]
            for number in itertools.count():
                wanted = [block[:, FINGERPRINT].copy() for block in itertools.islice(looked_up, max(1, batch // BLOCK))]
                if not wanted:
                    break
                blocks = itertools.islice(taken, len(wanted))
                new = self.absorb_batch(program, wanted, blocks, [frontier, *origins], check)
                if len(new):
                    self.runs.add(f"{RUN}-{self.depth + 1:05d}-{number}", np.sort(new))
        self.frontier, self.depth, self.is_expanded = self.size - before, self.depth + 1, False

    def waiting(self) -> Iterator[Any]:
        """Its candidates, block by block."""
        for source in range(self.count):
            yield from rows_of(self.candidates(source, self.depth), self.words + 3)

    def absorb_batch(
        self, program: Program, wanted: list[Any], blocks: Iterable[Any], files: Sequence[BinaryIO],
        check: Callable[[], None],
    ) -> Any:  # fmt: skip
        """Keep those candidates of some blocks that are new; their fingerprints. ``wanted`` are those of each block."""
        table = self.table(program, wanted, check)
        new = list[Any]()
        for rows in blocks:
            check()
            new.append(self.absorb_rows(program, rows, table, files))
        return np.concatenate(new)

    def table(self, program: Program, wanted: list[Any], check: Callable[[], None]) -> Any:
        """Those of some fingerprints that are known, in a table large enough for all of them; empties the list."""
        distinct = np.concatenate(wanted)
        wanted.clear()
        distinct.sort()
        distinct = distinct[np.append(True, distinct[1:] != distinct[:-1])]
        table = np.zeros(1 << (2 * len(distinct)).bit_length(), np.uint64)
        program.rehash(self.runs.known(distinct, check), table)
        return table

    def absorb_rows(self, program: Program, rows: Any, table: Any, files: Sequence[BinaryIO]) -> Any:
        """Write those of some candidates that are new, and where they came from; their fingerprints."""
        n = len(rows)
        found: Any = np.empty((n, self.words), np.uint64)
        parents, labels = np.empty(n, np.uint32), np.empty(n, np.uint32)
        states = np.ascontiguousarray(rows[:, : self.words])
        fingerprints, parent, label = (np.ascontiguousarray(rows[:, at]) for at in (FINGERPRINT, PARENT, LABEL))
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
        for file, part in zip(files, (found, parents, labels), strict=True):
            write(file, part[:new])
        self.size += new
        program.fingerprints(found, new, fingerprints)
        return fingerprints[:new].copy()


def owner_of(fingerprint: Any, count: int) -> Any:
    """The share, of so many, that keeps a fingerprint; of several fingerprints each."""
    return (fingerprint >> kernel.OWNER_SHIFT).astype(np.int64) % count


def initial_candidate(program: Program, machine: Machine, symmetry: bool) -> Any:
    """The initial state as a candidate: an array of one row."""
    initial = machine.initial()
    packed = machine.canonical(initial) if symmetry else machine.pack(initial)
    row, fingerprint = np.zeros((1, words_of(machine) + 3), np.uint64), np.zeros(1, np.uint64)
    row.view(np.uint8)[0, : len(packed)] = np.frombuffer(packed, np.uint8)
    program.fingerprints(np.ascontiguousarray(row[:, :FINGERPRINT]), 1, fingerprint)
    row[0, FINGERPRINT] = fingerprint[0]
    return row


def rows_of(path: Path, width: int) -> Iterator[Any]:
    """The rows of so many words that a file has, some at a time; none where there is no file."""
    if not path.exists():
        return
    with path.open("rb") as file:
        while len(words := np.fromfile(file, np.uint64, width * BLOCK)):
            yield words.reshape(-1, width)


@contextmanager
def opened(paths: Iterable[Path]) -> Iterator[list[BinaryIO]]:
    """Some files to write, what stood there before removed."""
    with ExitStack() as stack:
        yield [stack.enter_context(path.open("wb")) for path in paths]


@contextmanager
def extended(path: Path, size: int) -> Iterator[BinaryIO]:
    """A file to write on behind so many bytes, which are left.

    Raises: ValueError where it has less.
    """
    with path.open("r+b" if path.exists() else "w+b") as file:
        if file.seek(0, os.SEEK_END) < size:
            raise ValueError(f"{path} has {file.tell()} bytes of {size}")
        file.truncate(size)
        file.seek(size)
        yield file
