"""Breadth-first search of a compiled model by one or more threads.

Fingerprints are shared out among the workers by hash. A level of the search goes in rounds (`kernel.level`): every
worker expands a chunk of its own frontier into its part of the buffer; when all have, every worker absorbs what it owns
from all parts. The order is fixed, so a search gives the same numbers and the same counterexample each time, whatever
the threads do. Python has its turn between two levels, and where arrays must grow. A small level is searched by the
calling thread alone, in the same order.

A search ends early between two rounds, where nothing is half done, so that it can go on from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.checkpoint import Checkpoint, identity_of, require_same_search
from rebalance_check.model.checker.safety.counters import actions_of, counted, fired_in, last_step
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener, resident_bytes
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.team import Team
from rebalance_check.model.checker.safety.worker import Buffer, NoSpaceError, Worker
from rebalance_check.model.vocabulary.actions import Action

SMALL: Final = 1024
"""States of a level that one thread searches sooner than several have woken up and met."""


class ParallelSearch:
    """A search by several workers; `run` gives its outcome."""

    def __init__(
        self, program: Program, machine: Machine, *, symmetry: bool, threads: int, limits: Limits,
        progress: SearchListener | None = None,
    ) -> None:  # fmt: skip
        self.program, self.machine = program, machine
        self.symmetry = symmetry
        self.limits = limits
        self.pace = Pace(progress)
        self.buffer = Buffer(machine, threads)
        self.workers = [Worker(program, machine, me, self.buffer, symmetry) for me in range(threads)]
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

        After `resume` the search goes on where the checkpoint was made.
        """
        self.pace.begin(sum(worker.states for worker in self.workers))
        self.share_memory()
        self.buffer.shared[kernel.STOP] = 0
        self.buffer.shared[kernel.MOST] = self.limits.states or 0
        is_going_on = self.depth > 0
        with Team(self.workers) as team:
            if not is_going_on:
                self.begin()
            while is_going_on or self.next_level():
                is_going_on = False
                frontier = sum(worker.size for worker in self.workers)
                is_whole = self.level(team)
                self.report()
                if not is_whole:
                    break
                self.pace.levels.append(frontier)
        self.program.require_no_fault()
        return self.outcome()

    def share_memory(self) -> None:
        """Give each worker its share of the memory that the limit leaves to what grows."""
        if self.limits.memory is not None:
            rest = self.limits.memory - resident_bytes() + sum(worker.allocated for worker in self.workers)
            for worker in self.workers:
                worker.most_bytes = max(0, rest // len(self.workers))

    def begin(self) -> None:
        """Find the initial state."""
        self.buffer.states.view(np.uint8)[0, : len(self.packed_initial)] = np.frombuffer(self.packed_initial, np.uint8)
        self.program.begin(*self.buffer.arrays, self.buffer.shared)
        self.one_by_one()
        self.first = next(worker.me for worker in self.workers if worker.states)

    def next_level(self) -> bool:
        """The states found become the frontier; False when there are none, or the search is over."""
        if self.is_broken or not sum(worker.found for worker in self.workers):
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

    def level(self, team: Team) -> bool:
        """Expand the present frontier; False when the search ends here.

        A violation ends the search after the round in which it was found, when it no longer matters which thread was
        first.
        """
        if self.is_time_to_end():
            return False
        is_small = sum(worker.size for worker in self.workers) <= SMALL
        search = self.one_by_one if is_small else partial(team.level, self.watch)
        reason = search()
        while reason == kernel.FULL:
            if not self.grow():
                return False
            reason = search()
        if reason == kernel.DONE or self.is_broken:
            return reason == kernel.DONE
        if self.left() == (0, 0):  # it ended with its last state
            self.ended = None
            return True
        self.ended = self.ended or Ended.STATES
        return False

    def one_by_one(self) -> int:
        """What `kernel.level` does, with one worker after the other, for a level that is not worth waking threads."""
        shared = self.buffer.shared
        while shared[kernel.ABSORBING] or any(worker.left for worker in self.workers):
            if not shared[kernel.ABSORBING]:
                for worker in self.workers:
                    worker.expand()
            shared[kernel.ABSORBING] = any(worker.rows - worker.states < self.buffer.found for worker in self.workers)
            if shared[kernel.ABSORBING]:
                return kernel.FULL
            for worker in self.workers:
                worker.absorb()
            if self.is_broken or 0 < shared[kernel.MOST] <= sum(worker.states for worker in self.workers):
                return kernel.OVER
        return kernel.DONE

    def watch(self) -> None:
        """What is done while the workers search: look at the clock, and report."""
        if self.ended is None and self.is_time_to_end():
            self.buffer.shared[kernel.STOP] = 1
        if self.pace.is_due():
            self.report()

    def is_time_to_end(self) -> bool:
        """Whether a limit is reached, which `ended` names then."""
        states = sum(worker.states for worker in self.workers)
        self.ended = self.limits.reached(states, self.pace.seconds_of_this_run)
        return self.ended is not None

    def grow(self) -> bool:
        """Grow for what is in the buffer; False, and the round is undone, where memory is short."""
        more = self.buffer.found
        try:
            for worker in self.workers:
                worker.reserve(more)
        except (MemoryError, NoSpaceError) as error:
            self.ended = error.why if isinstance(error, NoSpaceError) else Ended.NO_MEMORY
            self.buffer.shared[kernel.ABSORBING] = 0
            for worker in self.workers:
                worker.st[:] = worker.before
            return False
        return True

    def left(self) -> tuple[int, int]:
        """The states that are not expanded yet: of this level, and of the next one."""
        return (
            sum(worker.left for worker in self.workers),
            sum(worker.found for worker in self.workers),
        )

    def report(self) -> None:
        """Say how far the search is."""
        if self.pace.listener is not None:
            states = sum(worker.states for worker in self.workers)
            self.pace.report(self.depth, states, 1 + fired_in(self.counters), *self.left())

    # ------------------------------------------------------------------------------------------- going on later

    def identity(self) -> dict[str, Any]:
        """See `checkpoint.identity_of`."""
        return identity_of(self.machine, symmetry=self.symmetry, compiled=True, threads=len(self.workers))

    def checkpoint(self) -> Checkpoint:
        """All that was done so far; to be called when `run` has ended at a limit."""
        numbers = {
            "depth": self.depth, "first": self.first, "seconds": self.pace.seconds, "levels": self.pace.levels,
            "workers": [worker.st.tolist() for worker in self.workers],
        }  # fmt: skip
        blocks = {f"{worker.me}/{name}": block for worker in self.workers for name, block in worker.blocks().items()}
        return Checkpoint(identity=self.identity(), numbers=numbers, blocks=blocks)

    def resume(self, saved: Checkpoint) -> None:
        """Make `run` go on from here.

        Raises `RebalanceCheckError` when the checkpoint belongs to another search, and `MemoryError` where there is not
        enough for what it holds.
        """
        require_same_search(saved, self.identity())
        numbers = saved.numbers
        self.depth, self.first = numbers["depth"], numbers["first"]
        for worker, counters in zip(self.workers, numbers["workers"], strict=True):
            worker.st[:] = counters
            worker.restore({name: saved.blocks[f"{worker.me}/{name}"] for name in worker.blocks()})
        self.pace.go_on(numbers["seconds"], numbers["levels"])

    def outcome(self) -> Outcome:
        """What was found, with the path to a violation if there is one (labels of representatives under symmetry)."""
        outcome = counted(self.machine.model, sum(worker.states for worker in self.workers), self.counters)
        outcome.depth, outcome.frontier = self.depth, sum(self.left())
        outcome.ended, outcome.seconds = self.ended, self.pace.seconds
        bad = next((worker for worker in self.workers if worker.st[kernel.CLAIM]), None)
        if bad is not None:
            outcome.path = self.path_to(int(bad.st[kernel.BAD]), bad.me, last_step(bad.st))
        return outcome

    @property
    def counters(self) -> list[Any]:
        """The counters of each worker."""
        return [worker.st for worker in self.workers]

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
