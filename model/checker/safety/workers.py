"""Breadth-first search of a compiled model by one or more threads.

Fingerprints are shared out among the workers by hash. A level of the search goes in rounds: every worker expands a
chunk of its own frontier into its buffer; when all have, every worker absorbs what it owns from all buffers. The order
is fixed, so a search gives the same numbers and the same counterexample each time, whatever the threads do.

What is kept of a state after its level is done: its fingerprint (8 bytes, in a table at most half full), its parent and
its label (4 bytes each). The packed states themselves live for two levels, in the frontier being expanded and in the
next one. A parent is numbered over all workers: index at its worker times the number of workers, plus the worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, TypeVar

import numpy as np

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import WORD, record_type
from rebalance_check.model.checker.layout_source import relabellings
from rebalance_check.model.checker.safety import kernel
from rebalance_check.model.checker.safety.compiled import LABEL_MEMBER, LABEL_RULE, Program
from rebalance_check.model.checker.safety.search import Limits, Outcome
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener

CHUNK = 4096
"""Successors that a worker writes into its buffer in one round, when it works alone ..."""

SHARED_CHUNK = 16384
"""... and when rounds cost a meeting of threads."""

SLACK = 16384
"""Capacity of the buffer for the successors of one more state.

A worker begins a state while its chunk is not full, so the buffer must hold all successors of that state on top: six
leaders, each with the 1,800 balanced targets of five members and six partitions, fit.
"""

SMALL = 256
"""A frontier below this size isn't worth a thread."""

MOST_STATES = 1 << 32
"""Parents are numbered in 32 bits."""

T = TypeVar("T")


class States:
    """A growing array of packed states, seen both as words and as records."""

    def __init__(self, dtype: np.dtype[Any], capacity: int) -> None:
        self.dtype = dtype
        # two views of the same memory: words to copy, hash and compare, records for the model's functions
        self.words = np.zeros((capacity, dtype.itemsize // WORD), np.uint64)
        self.records: Any = self.words.reshape(-1).view(dtype)

    def reserve(self, capacity: int) -> None:
        """Grow to a capacity of at least this many states."""
        if capacity > len(self.words):
            self.words = grown(self.words, capacity)
            self.records = self.words.reshape(-1).view(self.dtype)


def grown(array: Any, capacity: int) -> Any:
    """The array, grown to at least ``capacity`` rows, doubled or more."""
    made = np.zeros((max(capacity, 2 * len(array)), *array.shape[1:]), array.dtype)
    made[: len(array)] = array
    return made


class Worker:
    """One share of the search: its frontier, its fingerprints, where its states came from, and its buffer.

    ``me`` of ``workers`` is its number. ``this`` is the frontier being expanded, from ``at`` up to ``size``; its first
    state has the number ``base``; ``next`` is the frontier being found. ``table`` is an open-addressing hash set of
    fingerprints. ``parents`` and ``labels`` say of each state where it came from. ``out`` and its companions are the
    buffer of the round, ``filled`` of which are in use. ``st`` are the counters that `kernel` names.
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
        return self.program.expand(
            self.program.config, self.this.records, self.this.words, first, last, self.base, 0, self.chunk,
            self.out.records, self.out.words, self.out_fp, self.out_parent, self.out_label, self.st, *self.symmetry,
        )  # fmt: skip

    def absorb(self, others: Iterable[Worker]) -> None:
        """Take what is new and mine from every buffer, in the order of the workers: it decides which parent counts."""
        for other in others:
            if other.filled:
                self.reserve(other.filled)
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

        Raises `RebalanceCheckError` when the bounds hold more states than the table can.
        """
        total = self.states + more
        if total * self.workers >= MOST_STATES:
            raise RebalanceCheckError(
                f"the bounds hold more than {MOST_STATES} states: choose smaller ones, or a limit"
            )
        if total > len(self.parents):
            self.parents, self.labels = grown(self.parents, total), grown(self.labels, total)
        if 2 * total > len(self.table):
            larger = np.zeros(1 << (3 * total).bit_length(), np.uint64)
            self.program.rehash(self.table, larger)
            self.table = larger
        self.next.reserve(int(self.st[kernel.NEXT]) + more)

    def turn(self) -> int:
        """The next frontier becomes the present one; its size."""
        self.this, self.next = self.next, self.this
        self.size, self.at = int(self.st[kernel.NEXT]), 0
        self.base = self.states - self.size
        self.st[kernel.NEXT] = 0
        return self.size

    def start(self, packed: bytes) -> None:
        """Take the initial state as one just found."""
        self.out.words.view(np.uint8)[0, : len(packed)] = np.frombuffer(packed, np.uint8)
        self.out_fp[0], self.out_parent[0], self.out_label[0] = kernel_fingerprint(self.out.words[0]), 0, 0
        self.filled = 1


def kernel_fingerprint(row: Any) -> int:
    """`kernel.fingerprint` of one state, interpreted."""
    with np.errstate(over="ignore"):
        return int(kernel.fingerprint(row.reshape(1, -1), 0))


class ParallelSearch:
    """A search by several workers; `run` gives its outcome."""

    def __init__(
        self, program: Program, machine: Machine, *, symmetry: bool, threads: int, limits: Limits,
        progress: ProgressListener | None,
    ) -> None:  # fmt: skip
        self.machine = machine
        self.limits = limits
        self.progress = progress
        self.workers = [Worker(program, machine, me, threads, symmetry) for me in range(threads)]
        initial = machine.initial()
        self.packed_initial = machine.canonical(initial) if symmetry else machine.pack(initial)
        self.kept: list[list[Any]] | None = None
        self.started = 0.0
        self.depth = 0
        self.first = 0

    def keep_states(self) -> None:
        """Keep the packed states of every frontier from now on: ``kept[worker]`` has them in the order of finding."""
        self.kept = [[] for _ in self.workers]

    def warm_up(self) -> None:
        """Compile (or load from the cache) before the clock starts: Numba does so at a function's first call."""
        worker = self.workers[0]
        worker.run_expand(0, 0)
        worker.run_absorb(worker)
        worker.program.rehash(np.zeros(1, np.uint64), np.zeros(8, np.uint64))

    def run(self) -> Outcome:
        """Search level by level until nothing is new, a claim breaks or a limit is reached."""
        self.started = time.perf_counter()
        self.workers[0].start(self.packed_initial)
        for worker in self.workers:
            worker.absorb(self.workers[:1])
        self.first = next(worker.me for worker in self.workers if worker.states)
        complete = True
        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(len(self.workers))) if len(self.workers) > 1 else None
            while complete and (frontier := sum([worker.turn() for worker in self.workers])):
                self.depth += 1
                for kept, worker in zip(self.kept or (), self.workers, strict=False):
                    kept.append(worker.this.words[: worker.size].copy())
                complete = self.level(pool if frontier >= SMALL else None)
                self.report()
        return self.outcome(complete)

    def level(self, pool: ThreadPoolExecutor | None) -> bool:
        """Expand the present frontier, round by round; False when the search ends here.

        `each` waits for all workers, so that no buffer is absorbed before it is filled, nor filled again before every
        worker has absorbed it. A violation is looked for after the round, when it no longer matters which thread was
        first.
        """
        while any(worker.at < worker.size for worker in self.workers):
            each(pool, Worker.expand, self.workers)
            each(pool, lambda worker: worker.absorb(self.workers), self.workers)
            if any(worker.st[kernel.CLAIM] for worker in self.workers):
                return False
            if self.limits.reached(sum(worker.states for worker in self.workers), time.perf_counter() - self.started):
                return False
        return True

    def report(self) -> None:
        """Say how far the search is."""
        if self.progress is not None:
            self.progress(f"depth {self.depth:3}", int(self.totals()[kernel.STATES]), 0)

    def totals(self) -> Any:
        """The counters of all workers, summed."""
        return np.sum([worker.st for worker in self.workers], axis=0)

    def outcome(self, complete: bool) -> Outcome:
        """What was found, with the path to a violation if there is one (labels of representatives under symmetry)."""
        st, model = self.totals(), self.machine.model
        fired = {rule.kind: int(n) for rule, n in zip(model.rules, st[kernel.FIRED :], strict=True)}
        outcome = Outcome(
            distinct=int(st[kernel.STATES]),
            generated=sum(fired.values()) + 1,
            cut=int(st[kernel.CUT]),
            depth=self.depth,
            complete=complete,
            met=self.met(kernel.MET, model.reachable_states) | self.met(kernel.HAPPENED, model.reachable_steps),
            seconds=time.perf_counter() - self.started,
        )
        outcome.fired.update(fired)
        bad = next((worker for worker in self.workers if worker.st[kernel.CLAIM]), None)
        if bad is not None:
            claims = (*model.invariants, *model.step_invariants)
            outcome.violated = claims[int(bad.st[kernel.CLAIM]) - 1].__name__
            last = [] if bad.st[kernel.LABEL] < 0 else [int(bad.st[kernel.LABEL])]
            outcome.path = self.path_to(int(bad.st[kernel.BAD]), bad.me, last)
        return outcome

    def met(self, counter: int, claims: Sequence[Callable[..., bool]]) -> set[str]:
        """The names of those claims whose bit any worker has set."""
        bits = int(np.bitwise_or.reduce([worker.st[counter] for worker in self.workers]))
        return {claim.__name__ for bit, claim in enumerate(claims) if bits >> bit & 1}

    def path_to(self, state: int, worker_number: int = 0, last: Iterable[int] = ()) -> list[Action]:
        """The labels from the initial state to a state of a worker, and on along the labels ``last``."""
        labels = list(last)
        threads = len(self.workers)
        at = state * threads + worker_number
        while at != self.first:
            worker, index = self.workers[at % threads], at // threads
            labels.append(int(worker.labels[index]))
            at = int(worker.parents[index])
        return [self.action(label) for label in reversed(labels)]

    def action(self, label: int) -> Action:
        """The action of a label."""
        kind = self.machine.model.rules[label >> LABEL_RULE].kind
        return Action(kind, label >> LABEL_MEMBER & 0xFF, label & 0xFFFF)


def each(pool: ThreadPoolExecutor | None, do: Callable[[Worker], T], workers: list[Worker]) -> list[T]:
    """Let every worker do something, each in its thread when there is a pool, and wait for all."""
    return list(pool.map(do, workers)) if pool is not None else [do(worker) for worker in workers]
