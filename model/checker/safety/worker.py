"""One share of a compiled search: the states that a worker keeps, and how it finds and takes new ones.

What is kept of a state after its level is done: its fingerprint (8 bytes, in a table at most half full), its parent and
its label (4 bytes each). The packed states themselves live for two levels, in the frontier being expanded and in the
next one. A parent is numbered over all workers: index at its worker times the number of workers, plus the worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import WORD, record_type
from rebalance_check.model.checker.layout_source import relabellings
from rebalance_check.model.checker.safety import kernel
from rebalance_check.model.checker.safety.compiled import Program
from rebalance_check.model.checker.safety.limits import Ended

CHUNK = 4096
"""Successors that a worker writes into its buffer in one round, when it works alone ..."""

SHARED_CHUNK = 16384
"""... and when rounds cost a meeting of threads."""

SLACK = 16384
"""Capacity of the buffer for the successors of one more state.

A worker begins a state while its chunk is not full, so the buffer must hold all successors of that state on top: six
leaders, each with the 1,800 balanced targets of five members and six partitions, fit.
"""

MOST_STATES = 1 << 32
"""Parents are numbered in 32 bits."""


class States:
    """A growing array of packed states, seen both as words and as records."""

    def __init__(self, dtype: np.dtype[Any], capacity: int) -> None:
        self.dtype = dtype
        # two views of the same memory: words to copy, hash and compare, records for the model's functions
        self.words = np.zeros((capacity, dtype.itemsize // WORD), np.uint64)
        self.records: Any = self.words.reshape(-1).view(dtype)

    def reserve(self, capacity: int, used: int, grow: Grow) -> None:
        """Grow to a capacity of at least this many states, ``used`` of which are in use."""
        if capacity > len(self.words):
            self.words = grow(self.words, capacity, used)
            self.records = self.words.reshape(-1).view(self.dtype)


Grow = Callable[[Any, int, int], Any]
"""Makes of an array one of at least so many rows, with the first so many of the old one (`Worker.grown`)."""


class NoSpaceError(Exception):
    """A worker cannot keep more states; ``why`` says what is lacking."""

    def __init__(self, why: Ended) -> None:
        super().__init__(str(why))
        self.why = why


class Worker:
    """One share of the search: its frontier, its fingerprints, where its states came from, and its buffer.

    ``me`` of ``workers`` is its number. ``this`` is the frontier being expanded, from ``at`` up to ``size``; its first
    state has the number ``base``; ``next`` is the frontier being found. ``table`` is an open-addressing hash set of
    fingerprints. ``parents`` and ``labels`` say of each state where it came from. ``out`` and its companions are the
    buffer of the round, ``filled`` of which are in use. ``st`` are the counters that `kernel` names.
    ``most_bytes`` is its share of the memory limit, for what grows.
    """

    def __init__(self, program: Program, machine: Machine, me: int, workers: int, symmetry: bool) -> None:
        self.program = program
        self.me = me
        self.workers = workers
        self.chunk = CHUNK if workers == 1 else SHARED_CHUNK
        dtype = record_type(machine.model.state, machine.sizes)
        self.this, self.next = States(dtype, 1 << 12), States(dtype, 1 << 12)
        self.table = np.zeros(1 << 16, np.uint64)
        self.parents, self.labels = np.zeros(1 << 14, np.uint32), np.zeros(1 << 14, np.uint32)
        self.st = np.zeros(kernel.FIRED + len(machine.model.rules), np.int64)
        self.most_bytes: int | None = None
        capacity = self.chunk + SLACK
        self.out = States(dtype, capacity)
        self.out_fp = np.zeros(capacity, np.uint64)
        self.out_parent, self.out_label = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
        self.filled = 0
        self.base = self.size = self.at = 0
        perms, spare = relabellings(machine.sizes), States(dtype, 2)
        # the last arguments of `kernel.expand`: scratch space, and every renaming of members, also as a map of sets
        self.symmetry = (
            symmetry,
            spare.records,
            spare.words,
            np.array([perm for perm, _ in perms], np.int64),
            np.array([sets for _, sets in perms], np.int64),
            np.zeros(len(perms[0][0]), np.int64),
        )

    @property
    def states(self) -> int:
        """How many states it keeps."""
        return int(self.st[kernel.STATES])

    def expand(self) -> None:
        """Write the successors of the next chunk of the frontier into the buffer."""
        self.filled = 0
        if self.at < self.size:
            self.at, self.filled = self.run_expand(self.at, self.size)

    def run_expand(self, first: int, last: int) -> tuple[int, int]:
        """Run the compiled `kernel.expand` on states ``first`` to ``last``; the next state and the buffer's fill."""
        reached: tuple[int, int] = self.program.expand(
            self.program.config, self.this.records, self.this.words, first, last, self.base, 0, self.chunk,
            self.out.records, self.out.words, self.out_fp, self.out_parent, self.out_label, self.st, *self.symmetry,
        )  # fmt: skip
        return reached

    def absorb(self, others: Iterable[Worker]) -> None:
        """Take what is new and mine from every buffer, in the order of the workers: it decides which parent counts.

        Nothing grows here: `reserve` comes before.
        """
        for other in others:
            if other.filled:
                self.run_absorb(other)

    def run_absorb(self, other: Worker) -> None:
        """Run the compiled `kernel.absorb`."""
        self.program.absorb(
            self.program.config, self.me, other.me, self.workers,
            other.out.words, other.out_fp, other.out_parent, other.out_label, other.filled,
            self.next.records, self.next.words, self.table, self.parents, self.labels, self.st,
        )  # fmt: skip

    def reserve(self, more: int) -> None:
        """Grow for this many more states; the table stays at most half full.

        Raises `NoSpaceError` where states cannot be numbered any more, or the memory limit does not allow to grow, and
        `MemoryError` where the system does not. Every state is kept then, and the search may end in good order.
        """
        total = self.states + more
        if total * self.workers >= MOST_STATES:
            raise NoSpaceError(Ended.NUMBERS)
        if total > len(self.parents):
            self.parents = self.grown(self.parents, total, self.states)
        if total > len(self.labels):
            self.labels = self.grown(self.labels, total, self.states)
        if 2 * total > len(self.table):
            self.table = self.rehashed(1 << (3 * total).bit_length())
        found = int(self.st[kernel.NEXT])
        self.next.reserve(found + more, found, self.grown)

    @property
    def allocated(self) -> int:
        """The bytes of what grows."""
        growing = (self.table, self.parents, self.labels, self.this.words, self.next.words)
        return sum(int(array.nbytes) for array in growing)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array, if the memory limit allows it together with all that there is.

        Raises `NoSpaceError` if not.
        """
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if self.most_bytes is not None and self.allocated + size > self.most_bytes:
            raise NoSpaceError(Ended.BYTES)
        return np.zeros(shape, dtype)

    def grown(self, array: Any, capacity: int, used: int) -> Any:
        """The array, grown to at least ``capacity`` rows, doubled or more; ``used`` rows are kept."""
        made = self.zeros((max(capacity, 2 * len(array)), *array.shape[1:]), array.dtype)
        made[:used] = array[:used]
        return made

    def rehashed(self, slots: int) -> Any:
        """The fingerprints in a larger table."""
        larger = self.zeros((slots,), np.uint64)
        self.program.rehash(self.table, larger)
        return larger

    def turn(self) -> int:
        """The next frontier becomes the present one; its size."""
        self.this, self.next = self.next, self.this
        self.size, self.at = int(self.st[kernel.NEXT]), 0
        self.base = self.states - self.size
        self.st[kernel.NEXT] = 0
        return self.size

    def blocks(self) -> dict[str, Any]:
        """What it keeps of its states, for a checkpoint: views of its arrays, cut to what is in use."""
        return {
            "table": self.table,
            "parents": self.parents[: self.states],
            "labels": self.labels[: self.states],
            "this": self.this.words[: self.size],
            "next": self.next.words[: int(self.st[kernel.NEXT])],
        }

    def restore(self, blocks: Mapping[str, Any]) -> None:
        """Take the `blocks` of a checkpoint; the counters are restored already."""
        found = int(self.st[kernel.NEXT])
        self.parents = np.zeros(max(self.states, len(self.parents)), np.uint32)
        self.labels = np.zeros(max(self.states, len(self.labels)), np.uint32)
        self.parents[: self.states] = np.frombuffer(blocks["parents"], np.uint32)
        self.labels[: self.states] = np.frombuffer(blocks["labels"], np.uint32)
        self.table = np.frombuffer(blocks["table"], np.uint64).copy()
        for states, used, block in ((self.this, self.size, blocks["this"]), (self.next, found, blocks["next"])):
            states.reserve(used, 0, self.grown)
            states.words[:used].reshape(-1)[:] = np.frombuffer(block, np.uint64)

    def start(self, packed: bytes) -> None:
        """Take the initial state as one just found."""
        self.out.words.view(np.uint8)[0, : len(packed)] = np.frombuffer(packed, np.uint8)
        self.out_fp[0], self.out_parent[0], self.out_label[0] = kernel_fingerprint(self.out.words[0]), 0, 0
        self.filled = 1


def kernel_fingerprint(row: Any) -> int:
    """`kernel.fingerprint` of one state, interpreted."""
    with np.errstate(over="ignore"):
        return int(kernel.fingerprint(row.reshape(1, -1), 0))
