"""One share of a compiled search: the states that a worker keeps, and what all workers share.

What is kept of a state after its level is done: its fingerprint (8 bytes, in a table at most half full), its parent and
its label (4 bytes each). The packed states themselves live for two levels, in the frontier being expanded and in the
next one. A parent is numbered over all workers: index at its worker times the number of workers, plus the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import WORD, width
from rebalance_check.model.checker.layout_source import relabellings
from rebalance_check.model.checker.safety.limits import Ended
from rebalance_check.model.checker.safety.memory import SLOT_BYTES, Table, fitting, mapped, more_slots

CHUNK = 4096
"""Successors that a worker writes into its part of the buffer in one round: few enough for the caches of a core."""

SLACK = 16384
"""Capacity of the buffer for the successors of one more state.

A worker begins a state while its chunk is not full, so the buffer must hold all successors of that state on top: six
leaders, each with the 1,800 balanced targets of five members and six partitions, fit.
"""

MOST_STATES = 1 << 32
"""Parents are numbered in 32 bits."""


class NoSpaceError(Exception):
    """A worker cannot keep more states; ``why`` says what is lacking."""

    def __init__(self, why: Ended) -> None:
        super().__init__(str(why))
        self.why = why


class Buffer:
    """What the ``workers`` of a search share: the successors of a round, and how far each of them is.

    Each worker writes ``chunk`` successors, and those of one more state, into a part of its own, ``capacity`` slots
    long. ``shared`` has the numbers that `kernel` names.
    """

    def __init__(self, machine: Machine, workers: int) -> None:
        self.workers = workers
        self.chunk = CHUNK
        self.capacity = self.chunk + SLACK
        slots = workers * self.capacity
        self.states = np.zeros((slots, words_of(machine)), np.uint64)
        self.fingerprints = np.zeros(slots, np.uint64)
        self.parents, self.labels = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
        self.shared = np.zeros(kernel.PER_WORKER + workers * kernel.SHARE, np.int64)

    @property
    def found_by(self) -> Any:
        """How many successors of each worker are in the buffer: a view, to read and to write."""
        return self.shared[kernel.PER_WORKER + kernel.FOUND :: kernel.SHARE]

    @property
    def found(self) -> int:
        """How many successors are in the buffer."""
        return int(self.found_by.sum())

    @property
    def arrays(self) -> tuple[Any, ...]:
        """States, fingerprints, parents and labels, as `kernel` takes them."""
        return self.states, self.fingerprints, self.parents, self.labels


class Worker:
    """One share of the search: its frontier, its fingerprints, and where its states came from.

    ``me`` is its number. ``this`` is the frontier being expanded, ``next`` the one being found. ``table`` is an
    open-addressing hash set of fingerprints. ``parents`` and ``labels`` say of each state where it came from. ``st``
    are the counters that `kernel` names, ``before`` those at the beginning of the round. ``most_bytes`` is its share of
    the memory limit, for what grows.
    """

    def __init__(self, program: Program, machine: Machine, me: int, buffer: Buffer, symmetry: bool) -> None:
        self.program, self.me, self.buffer = program, me, buffer
        words = words_of(machine)
        self.this, self.next = np.zeros((1 << 12, words), np.uint64), np.zeros((1 << 12, words), np.uint64)
        self.table = Table(1 << 16)
        self.parents, self.labels = np.zeros(1 << 14, np.uint32), np.zeros(1 << 14, np.uint32)
        self.st = np.zeros(kernel.FIRED + len(machine.model.rules), np.int64)
        self.before = self.st.copy()
        self.most_bytes: int | None = None
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

    @property
    def rows(self) -> int:
        """For how many states its arrays are large enough."""
        behind = self.states - self.found
        return min(len(self.parents), len(self.labels), fitting(len(self.table.array)), behind + len(self.next))

    def level(self) -> int:
        """Run the compiled `kernel.level`; it returns when all workers are done, or none can go on."""
        return self.program.level(
            self.me, self.buffer.workers, self.buffer.capacity, self.buffer.chunk, self.rows,
            self.this, self.next, self.table.array, self.parents, self.labels, self.st, self.before,
            *self.buffer.arrays, self.buffer.shared, *self.symmetry,
        )  # fmt: skip

    def expand(self) -> int:
        """Write the successors of the next chunk of the frontier into the buffer, and no more; their number."""
        self.before[:] = self.st
        self.program.expand(
            self.this, self.st, *self.buffer.arrays, self.me * self.buffer.capacity, self.buffer.chunk, *self.symmetry
        )  # fmt: skip
        self.buffer.found_by[self.me] = self.st[kernel.FILLED]
        return int(self.st[kernel.FILLED])

    def absorb(self) -> None:
        """Take what is new and its own out of the whole buffer; its arrays must hold it (`rows`)."""
        for other, found in enumerate(self.buffer.found_by):
            self.program.absorb(
                self.me, other, self.buffer.workers, self.buffer.capacity, int(found), *self.buffer.arrays,
                self.next, self.table.array, self.parents, self.labels, self.st,
            )  # fmt: skip

    def reserve(self, more: int) -> None:
        """Grow for this many more states.

        Raises `NoSpaceError` where states cannot be numbered any more, or the memory limit does not allow to grow, and
        `MemoryError` where the system does not. Every state is kept then, and the search may end in good order.
        """
        total = self.states + more
        if total * self.buffer.workers >= MOST_STATES:
            raise NoSpaceError(Ended.NUMBERS)
        self.parents = self.grown(self.parents, total, self.states)
        self.labels = self.grown(self.labels, total, self.states)
        if total > fitting(len(self.table.array)):
            self.table = self.rehashed(more_slots(len(self.table.array), total))
        self.next = self.grown(self.next, self.found + more, self.found)

    @property
    def allocated(self) -> int:
        """The bytes of what grows."""
        growing = (self.table.array, self.parents, self.labels, self.this, self.next)
        return sum(int(array.nbytes) for array in growing)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array, if the memory limit allows it together with all that there is.

        Raises `NoSpaceError` if not.
        """
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        self.require_allowed(size)
        return np.frombuffer(mapped(size), dtype).reshape(shape)

    def require_allowed(self, size: int) -> None:
        """Check that the memory limit allows so many bytes together with all that there is.

        Raises `NoSpaceError` if not.
        """
        if self.most_bytes is not None and self.allocated + size > self.most_bytes:
            raise NoSpaceError(Ended.BYTES)

    def grown(self, array: Any, capacity: int, used: int) -> Any:
        """The array with at least ``capacity`` rows: itself, or one of twice as many; ``used`` rows are kept."""
        if capacity <= len(array):
            return array
        made = self.zeros((max(capacity, 2 * len(array)), *array.shape[1:]), array.dtype)
        made[:used] = array[:used]
        return made

    def rehashed(self, slots: int) -> Table:
        """The fingerprints in a larger table."""
        self.require_allowed(slots * SLOT_BYTES)
        larger = Table(slots)
        self.table.move_to(larger, self.program)
        return larger

    def turn(self) -> int:
        """The next frontier becomes the present one; its size."""
        self.this, self.next = self.next, self.this
        self.st[kernel.SIZE], self.st[kernel.AT], self.st[kernel.NEXT] = self.found, 0, 0
        self.st[kernel.BASE] = self.states - self.size
        return self.size

    def blocks(self) -> dict[str, Any]:
        """What it keeps of its states, for a checkpoint: views of its arrays, cut to what is in use."""
        return {
            "table": self.table.array,
            "parents": self.parents[: self.states],
            "labels": self.labels[: self.states],
            "this": self.this[: self.size],
            "next": self.next[: self.found],
        }

    def restore(self, blocks: Mapping[str, Any]) -> None:
        """Take the `blocks` of a checkpoint; the counters are restored already."""
        self.parents = np.zeros(max(self.states, len(self.parents)), np.uint32)
        self.labels = np.zeros(max(self.states, len(self.labels)), np.uint32)
        self.parents[: self.states] = np.frombuffer(blocks["parents"], np.uint32)
        self.labels[: self.states] = np.frombuffer(blocks["labels"], np.uint32)
        fingerprints = np.frombuffer(blocks["table"], np.uint64)
        self.table = Table(len(fingerprints))
        self.table.array[:] = fingerprints
        self.this = self.grown(self.this, self.size, 0)
        self.next = self.grown(self.next, self.found, 0)
        self.this[: self.size].reshape(-1)[:] = np.frombuffer(blocks["this"], np.uint64)
        self.next[: self.found].reshape(-1)[:] = np.frombuffer(blocks["next"], np.uint64)


def words_of(machine: Machine) -> int:
    """The words of a packed state."""
    return width(machine.model.state, machine.sizes) // WORD


def renamings(machine: Machine, symmetry: bool) -> tuple[Any, ...]:
    """The last arguments of `kernel.level` and `kernel.expand`, for one thread.

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
