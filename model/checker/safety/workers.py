"""Breadth-first search of a compiled model by one or more threads.

Fingerprints are shared out among the workers by hash. A level of the search goes in rounds: every worker expands a
chunk of its own frontier into its buffer; when all have, every worker absorbs what it owns from all buffers. The order
is fixed, so a search gives the same numbers and the same counterexample each time, whatever the threads do.

A search ends early between two rounds, where nothing is half done, so that it can go on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any, TypeVar

import numpy as np

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import kernel
from rebalance_check.model.checker.safety.checkpoint import Checkpoint, identity_of, require_same_search
from rebalance_check.model.checker.safety.compiled import LABEL_MEMBER, LABEL_RULE, Program
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener, resident_bytes
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.worker import NoSpaceError, Worker
from rebalance_check.model.vocabulary.actions import Action

SMALL = 256
"""A frontier below this size isn't worth a thread."""

T = TypeVar("T")


class ParallelSearch:
    """A search by several workers; `run` gives its outcome."""

    def __init__(
        self, program: Program, machine: Machine, *, symmetry: bool, threads: int, limits: Limits,
        progress: SearchListener | None = None,
    ) -> None:  # fmt: skip
        self.machine = machine
        self.symmetry = symmetry
        self.limits = limits
        self.pace = Pace(progress)
        self.workers = [Worker(program, machine, me, threads, symmetry) for me in range(threads)]
        initial = machine.initial()
        self.packed_initial = machine.canonical(initial) if symmetry else machine.pack(initial)
        self.kept: list[list[Any]] | None = None
        self.ended: Ended | None = None
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
        """Search level by level until nothing is new, a claim breaks or a limit is reached.

        After `resume` the search goes on where the checkpoint was made.
        """
        self.pace.begin(sum(worker.states for worker in self.workers))
        self.share_memory()
        resumed = self.depth > 0
        if not resumed:
            self.begin()
        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(len(self.workers))) if len(self.workers) > 1 else None
            going = True
            while going and (resumed or self.next_level()):
                resumed = False
                frontier = sum(worker.size for worker in self.workers)
                going = self.level(pool if frontier >= SMALL else None)
                self.report()
                if going:
                    self.pace.levels.append(frontier)
        return self.outcome()

    def share_memory(self) -> None:
        """Give each worker its share of the memory that the limit leaves to what grows."""
        if self.limits.memory is not None:
            rest = self.limits.memory - resident_bytes() + sum(worker.allocated for worker in self.workers)
            for worker in self.workers:
                worker.most_bytes = max(0, rest // len(self.workers))

    def begin(self) -> None:
        """Find the initial state."""
        self.workers[0].start(self.packed_initial)
        for worker in self.workers:
            worker.absorb(self.workers[:1])
        self.first = next(worker.me for worker in self.workers if worker.states)

    def next_level(self) -> bool:
        """The states found become the frontier; False when there are none."""
        if not sum([worker.turn() for worker in self.workers]):
            return False
        self.depth += 1
        for kept, worker in zip(self.kept or (), self.workers, strict=False):
            kept.append(worker.this.words[: worker.size].copy())
        return True

    def level(self, pool: ThreadPoolExecutor | None) -> bool:
        """Expand the present frontier, round by round; False when the search ends here.

        A violation is looked for after the round, when it no longer matters which thread was first.
        """
        while any(worker.at < worker.size for worker in self.workers):
            self.ended = self.limits.reached(
                sum(worker.states for worker in self.workers), self.pace.seconds_of_this_run
            )
            if self.ended is not None or not self.round(pool):
                return False
            if any(worker.st[kernel.CLAIM] for worker in self.workers):
                return False
            if self.pace.is_due():
                self.report()
        return True

    def round(self, pool: ThreadPoolExecutor | None) -> bool:
        """Expand a chunk of each frontier and take what is new; False, and nothing is changed, where memory is short.

        `each` waits for all workers, so that no buffer is absorbed before it is filled, nor filled again before every
        worker has absorbed it.
        """
        before = [(worker.at, worker.st.copy()) for worker in self.workers]
        try:
            each(pool, Worker.expand, self.workers)
            found = sum(worker.filled for worker in self.workers)
            each(pool, lambda worker: worker.reserve(found), self.workers)
        except (MemoryError, NoSpaceError) as error:
            self.ended = error.why if isinstance(error, NoSpaceError) else Ended.NO_MEMORY
            for worker, (at, st) in zip(self.workers, before, strict=True):
                worker.at, worker.st[:] = at, st
            return False
        each(pool, lambda worker: worker.absorb(self.workers), self.workers)
        return True

    def left(self) -> tuple[int, int]:
        """The states that are not expanded yet: of this level, and of the next one."""
        return (
            sum(worker.size - worker.at for worker in self.workers),
            sum(int(worker.st[kernel.NEXT]) for worker in self.workers),
        )

    def report(self) -> None:
        """Say how far the search is."""
        if self.pace.listener is not None:
            st = self.totals()
            self.pace.report(self.depth, int(st[kernel.STATES]), int(st[kernel.FIRED :].sum()) + 1, *self.left())

    # ------------------------------------------------------------------------------------------- going on later

    def identity(self) -> dict[str, Any]:
        """See `checkpoint.identity_of`."""
        return identity_of(self.machine, symmetry=self.symmetry, compiled=True, threads=len(self.workers))

    def checkpoint(self) -> Checkpoint:
        """All that was done so far; to be called when `run` has ended at a limit."""
        numbers = {
            "depth": self.depth, "first": self.first, "seconds": self.pace.seconds, "levels": self.pace.levels,
            "workers": [
                {"at": worker.at, "size": worker.size, "base": worker.base, "st": worker.st.tolist()}
                for worker in self.workers
            ],
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
            worker.at, worker.size, worker.base = counters["at"], counters["size"], counters["base"]
            worker.st[:] = counters["st"]
            worker.restore({name: saved.blocks[f"{worker.me}/{name}"] for name in worker.blocks()})
        self.pace.go_on(numbers["seconds"], numbers["levels"])

    def totals(self) -> Any:
        """The counters of all workers, summed."""
        return np.sum([worker.st for worker in self.workers], axis=0)

    def outcome(self) -> Outcome:
        """What was found, with the path to a violation if there is one (labels of representatives under symmetry)."""
        st, model = self.totals(), self.machine.model
        fired = {rule.kind: int(n) for rule, n in zip(model.rules, st[kernel.FIRED :], strict=True)}
        outcome = Outcome(
            distinct=int(st[kernel.STATES]),
            generated=sum(fired.values()) + 1,
            cut=int(st[kernel.CUT]),
            depth=self.depth,
            frontier=sum(self.left()),
            ended=self.ended,
            met=self.met(kernel.MET, model.reachable_states) | self.met(kernel.HAPPENED, model.reachable_steps),
            seconds=self.pace.seconds,
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
    """Let every worker do something, each in its thread when there is a pool; wait for all, even where one fails.

    Raises what they raise, and `MemoryError` where the system has no thread for one.
    """
    if pool is None:
        return [do(worker) for worker in workers]
    futures = list[Future[T]]()
    try:
        for worker in workers:
            futures.append(pool.submit(do, worker))
    except RuntimeError as error:  # how Python says that the system has no more threads
        raise MemoryError(str(error)) from error
    finally:
        wait(futures)
    return [future.result() for future in futures]
