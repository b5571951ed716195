"""One share of a compiled search: the states that a worker keeps, and the data that all workers share.

After its level is done a worker keeps of a state its fingerprint (8 bytes, in a table that is seven tenths full at
most), its parent and its label (4 bytes each). The packed states themselves live for two levels, in the frontier being
expanded and in the next one. A parent is numbered over all workers: index at its worker times the number of workers,
plus the worker.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import WORD, width
from rebalance_check.model.checker.layout_source import relabellings
from rebalance_check.model.checker.safety.limits import Ended
from rebalance_check.model.checker.safety.memory import NoSpaceError, Storage, Table, fitting, more_slots

CHUNK = 32768
"""Successors that a worker writes into its part of the buffer in one round: some milliseconds of work."""

SLACK = 16384
"""Capacity of the buffer for the successors of one more state.

A worker begins a state while its chunk is not full, so the buffer must hold all successors of that state on top: six
leaders, each with the 1,800 balanced targets of five members and six partitions, fit.
"""

MOST_STATES = 1 << 32
"""Parents are numbered in 32 bits."""


class Buffer:
    """The memory that the ``workers`` of a search share: the successors of a round, and how many each has ``found``.

    Each worker writes ``chunk`` successors, and those of one more state, into a part of its own, ``capacity`` slots
    long.
    """

    def __init__(self, machine: Machine, workers: int) -> None:
        self.workers = workers
        self.chunk = CHUNK
        self.capacity = self.chunk + SLACK
        slots = workers * self.capacity
        self.states = np.zeros((slots, words_of(machine)), np.uint64)
        self.fingerprints = np.zeros(slots, np.uint64)
        self.parents, self.labels = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
        self.found = [0] * workers

    @property
    def arrays(self) -> tuple[Any, ...]:
        """States, fingerprints, parents and labels, as `kernel` takes them."""
        return self.states, self.fingerprints, self.parents, self.labels


class Worker:
    """One share of the search: its frontier, its fingerprints, and where its states came from.

    ``me`` is its number. ``this`` is the frontier being expanded, ``next`` the one being found. ``table`` is an
    open-addressing hash set of fingerprints. ``parents`` and ``labels`` say of each state where it came from. ``st``
    are the counters that `kernel` names, ``before`` those at the beginning of the round. Arrays grow in ``storage``.
    """

    def __init__(
        self, program: Program, machine: Machine, me: int, buffer: Buffer, *, symmetry: bool, spill: Path | None
    ) -> None:
        self.program, self.me, self.buffer = program, me, buffer
        self.storage = Storage(spill)
        self.this, self.next = (self.storage.zeros((1 << 12, words_of(machine)), np.uint64) for _ in range(2))
        self.table = Table(1 << 16, self.storage)
        self.parents, self.labels = (self.storage.zeros((1 << 14,), np.uint32) for _ in range(2))
        self.st = np.zeros(kernel.FIRED + len(machine.model.rules), np.int64)
        self.before = self.st.copy()
        self.symmetry = renamings(machine, symmetry)

    @property
    def states(self) -> int:
        """How many states it keeps."""
        return int(self.st[kernel.STATES])

    @property
    def size(self) -> int:
        """How many states its frontier has."""
        return int(self.st[kernel.SIZE])

    @property
    def left(self) -> int:
        """How many of them are not expanded yet."""
        return int(self.st[kernel.SIZE] - self.st[kernel.AT])

    @property
    def found(self) -> int:
        """How many states the next frontier has."""
        return int(self.st[kernel.NEXT])

    def expand(self) -> int:
        """Write the successors of the next chunk of the frontier into the buffer, and no more; their number."""
        self.before[:] = self.st
        self.program.expand(
            self.this, self.st, *self.buffer.arrays, self.me * self.buffer.capacity, self.buffer.chunk, *self.symmetry
        )  # fmt: skip
        self.buffer.found[self.me] = int(self.st[kernel.FILLED])
        return self.buffer.found[self.me]

    def absorb(self) -> None:
        """Take its own new states out of the whole buffer; its arrays must hold it (`reserve`)."""
        for other, found in enumerate(self.buffer.found):
            self.program.absorb(
                self.me, other, self.buffer.workers, self.buffer.capacity, found, *self.buffer.arrays,
                self.next, self.table.array, self.parents, self.labels, self.st,
            )  # fmt: skip

    def reserve(self, more: int) -> None:
        """Grow for this many more states.

        Raises `NoSpaceError` where states cannot be numbered any more, or its storage does not allow to grow, and
        `MemoryError` where the system does not. Every state is kept then, and the search may end in good order.
        """
        total = self.states + more
        if total * self.buffer.workers >= MOST_STATES:
            raise NoSpaceError(Ended.NUMBERS)
        self.parents = self.grown(self.parents, total, self.states)
        self.labels = self.grown(self.labels, total, self.states)
        if total > fitting(len(self.table.array)):
            larger = Table(more_slots(len(self.table.array), total), self.storage)
            self.table.move_to(larger, self.program)
            self.table = larger
        self.next = self.grown(self.next, self.found + more, self.found)

    def grown(self, array: Any, capacity: int, used: int) -> Any:
        """The array with at least ``capacity`` rows: itself, or one of twice as many; ``used`` rows are kept."""
        if capacity <= len(array):
            return array
        made = self.storage.zeros((max(capacity, 2 * len(array)), *array.shape[1:]), array.dtype)
        made[:used] = array[:used]
        return made

    def turn(self) -> int:
        """The next frontier becomes the present one; its size."""
        self.this, self.next = self.next, self.this
        self.st[kernel.SIZE], self.st[kernel.AT], self.st[kernel.NEXT] = self.found, 0, 0
        self.st[kernel.BASE] = self.states - self.size
        return self.size


def words_of(machine: Machine) -> int:
    """The words of a packed state."""
    return width(machine.model.state, machine.sizes) // WORD


def renamings(machine: Machine, symmetry: bool) -> tuple[Any, ...]:
    """The last arguments of `kernel.expand`, for one thread.

    They are whether to rename, scratch space, and every renaming of members, also as a map of sets.
    """
    perms = relabellings(machine.sizes)
    return (
        symmetry,
        np.zeros((2, words_of(machine)), np.uint64),
        np.array([perm for perm, _ in perms], np.int64),
        np.array([sets for _, sets in perms], np.int64),
        np.zeros(max(len(perms[0][0]), 1), np.int64),
    )
