"""Breadth-first search of a compiled model by one or more threads.

Fingerprints are shared out among the workers by hash. A level of the search goes in rounds: every worker expands a
chunk of its own frontier into its part of the buffer; when all have, every worker absorbs its share from all parts.
The order is fixed, so a search gives the same numbers and the same counterexample each time, however the threads run.
A round takes milliseconds, so Python has its turn often enough to look at limits and signals. A small level is searched
by the calling thread alone, in the same order.

A search ends early between two rounds, where nothing is half done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.glue import LABEL_MEMBER, LABEL_RULE
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener, resident_bytes
from rebalance_check.model.checker.safety.memory import NoSpaceError
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.worker import Buffer, Worker
from rebalance_check.model.vocabulary.actions import Action

SMALL: Final = 1024
"""States of a level that one thread searches sooner than several have woken up."""


class ParallelSearch:
    """A search by several workers; `run` gives its outcome."""

    def __init__(
        self, program: Program, machine: Machine, *, symmetry: bool, threads: int, limits: Limits,
        progress: SearchListener | None = None, spill: Path | None = None,
    ) -> None:  # fmt: skip
        self.program, self.machine = program, machine
        self.limits = limits
        self.pace = Pace(progress)
        self.buffer = Buffer(machine, threads)
        self.workers = [
            Worker(program, machine, me, self.buffer, symmetry=symmetry, spill=spill) for me in range(threads)
        ]
        initial = machine.initial()
        self.packed_initial = machine.canonical(initial) if symmetry else machine.pack(initial)
        self.kept: list[list[Any]] | None = None
        self.ended: Ended | None = None
        self.depth = 0
        self.first = 0

    def keep_states(self) -> None:
        """Keep the packed states of every frontier from now on: ``kept[worker]`` has them in the order of finding."""
        self.kept = [[] for _ in self.workers]

    def run(self) -> Outcome:
        """Search level by level until nothing is new, a claim breaks or a limit is reached.

        Raises: MemoryError where the system has not so many threads.
        """
        self.pace.begin()
        self.share_memory()
        self.begin()
        with ThreadPoolExecutor(len(self.workers), thread_name_prefix="rebalance-check-search") as pool:
            while self.next_level():
                is_whole = self.level(pool)
                self.report()
                if not is_whole:
                    break
        self.program.require_no_fault()
        return self.outcome()

    def total(self, what: str) -> int:
        """The sum of a number of all workers."""
        return sum(getattr(worker, what) for worker in self.workers)

    def share_memory(self) -> None:
        """Give each worker its share of the memory that the limit leaves to growing arrays."""
        if self.limits.memory is not None:
            rest = self.limits.memory - resident_bytes() + sum(worker.storage.memory_bytes for worker in self.workers)
            for worker in self.workers:
                worker.storage.most = max(0, rest // len(self.workers))

    def begin(self) -> None:
        """Find the initial state."""
        self.buffer.states.view(np.uint8)[0, : len(self.packed_initial)] = np.frombuffer(self.packed_initial, np.uint8)
        self.program.begin(*self.buffer.arrays)
        self.buffer.found[0] = 1
        for worker in self.workers:
            worker.absorb()
        self.first = next(worker.me for worker in self.workers if worker.states)

    def next_level(self) -> bool:
        """The states found become the frontier; False when there are none, or the search is over."""
        if self.is_broken or not self.total("found"):
            return False
        for worker in self.workers:
            worker.turn()
        self.depth += 1
        for kept, worker in zip(self.kept or (), self.workers, strict=False):
            kept.append(worker.this[: worker.size].copy())
        return True

    @property
    def is_broken(self) -> bool:
        """Whether a claim was seen broken."""
        return any(worker.st[kernel.CLAIM] for worker in self.workers)

    def level(self, pool: ThreadPoolExecutor) -> bool:
        """Expand the present frontier; False when the search ends here.

        A violation ends the search after the round in which it was found, when it no longer matters which thread was
        first.
        """
        is_small = len(self.workers) == 1 or self.total("size") <= SMALL
        while self.total("left"):
            if self.is_time_to_end():
                return False
            self.each(Worker.expand, None if is_small else pool)
            if not self.grow():
                return False
            self.each(Worker.absorb, None if is_small else pool)
            if self.is_broken:
                return False
            if self.pace.is_due():
                self.report()
        return True

    def each(self, work: Callable[[Worker], object], pool: ThreadPoolExecutor | None) -> None:
        """Let all workers do a part of a round, in threads of a pool or one after the other.

        Raises: MemoryError where the system has not so many threads.
        """
        try:
            list((map if pool is None else pool.map)(work, self.workers))
        except RuntimeError as error:  # how Python says that the system has no more threads
            raise MemoryError(str(error)) from error

    def is_time_to_end(self) -> bool:
        """Whether a limit is reached, which `ended` names then."""
        self.ended = self.limits.reached(self.total("states"), self.pace.seconds)
        return self.ended is not None

    def grow(self) -> bool:
        """Grow for the states in the buffer; False, and the round is undone, where memory is short."""
        try:
            for worker in self.workers:
                worker.reserve(sum(self.buffer.found))
        except (MemoryError, NoSpaceError) as error:
            self.ended = error.why if isinstance(error, NoSpaceError) else Ended.NO_MEMORY
            for worker in self.workers:
                worker.st[:] = worker.before
            return False
        return True

    def report(self) -> None:
        """Say how far the search has come."""
        if self.pace.listener is not None:
            generated = 1 + sum(int(worker.st[kernel.FIRED :].sum()) for worker in self.workers)
            self.pace.report(self.depth, self.total("states"), generated, self.total("left") + self.total("found"))

    # ------------------------------------------------------------------------------------------- the outcome

    def outcome(self) -> Outcome:
        """The findings, with the path to a violation if there is one (labels of representatives under symmetry)."""
        model, totals = self.machine.model, np.sum([worker.st for worker in self.workers], axis=0)
        outcome = Outcome(
            distinct=self.total("states"), cut=int(totals[kernel.CUT]), met=self.met(), depth=self.depth,
            frontier=self.total("left") + self.total("found"), ended=self.ended, seconds=self.pace.seconds,
            disk_bytes=sum(worker.storage.disk_bytes for worker in self.workers),
        )  # fmt: skip
        outcome.fired.update({rule.kind: int(n) for rule, n in zip(model.rules, totals[kernel.FIRED :], strict=True)})
        outcome.generated = 1 + outcome.fired.total()
        bad = next((worker for worker in self.workers if worker.st[kernel.CLAIM]), None)
        if bad is not None:
            outcome.violated = (*model.invariants, *model.step_invariants)[bad.st[kernel.CLAIM] - 1].__name__
            last = [label] if (label := int(bad.st[kernel.LABEL])) >= 0 else []
            outcome.path = self.path_to(int(bad.st[kernel.BAD]), bad.me, last)
        return outcome

    def met(self) -> set[str]:
        """The names of the reachable states and steps that any worker has met."""
        model, found = self.machine.model, set[str]()
        for counter, claims in ((kernel.MET, model.reachable_states), (kernel.HAPPENED, model.reachable_steps)):
            bits = int(np.bitwise_or.reduce([worker.st[counter] for worker in self.workers]))
            found |= {claim.__name__ for bit, claim in enumerate(claims) if bits >> bit & 1}
        return found

    def path_to(self, state: int, worker_number: int = 0, last: Iterable[int] = ()) -> list[Action]:
        """The labels from the initial state to a state of a worker, and on along the labels ``last``."""
        labels = list(last)
        threads = len(self.workers)
        at = state * threads + worker_number
        while at != self.first:
            worker, index = self.workers[at % threads], at // threads
            labels.append(int(worker.labels[index]))
            at = int(worker.parents[index])
        return actions_of(self.machine, reversed(labels))


def actions_of(machine: Machine, labels: Iterable[int]) -> list[Action]:
    """The actions of some labels."""
    kinds = [rule.kind for rule in machine.model.rules]
    return [Action(kinds[label >> LABEL_RULE], label >> LABEL_MEMBER & 0xFF, label & 0xFFFF) for label in labels]
