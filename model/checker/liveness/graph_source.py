"""Where the state graph comes from: the reachable states, the steps from them, and which liveness properties hold.

Two backends give the same answers. `Compiled` reuses the compiled search of `model.checker.safety` and one of its
workers; `Interpreted` is written for obviousness, and a test compares the two. Rows, here and in the graph, are packed
states padded to whole 8-byte words: an array of bytes with one state in each row.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.glue import LABEL_MEMBER, LABEL_RULE
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.liveness.compiled_properties import held_in, instances
from rebalance_check.model.checker.liveness.quotient import as_rows
from rebalance_check.model.checker.safety.compilation import compiled
from rebalance_check.model.checker.safety.limits import Limits, SearchListener
from rebalance_check.model.checker.safety.search import Outcome, Search
from rebalance_check.model.checker.safety.worker import Buffer, Worker
from rebalance_check.model.checker.safety.workers import ParallelSearch
from rebalance_check.model.vocabulary.actions import Action


class Steps(NamedTuple):
    """All successors of some states, those beyond even the endless bounds left out."""

    rows: Any
    """The successors, packed, not folded."""
    parents: Any
    """Of each the place of its parent among the states that were asked about."""
    labels: Any
    """Of each the step's rule, member and choice in 32 bits (`glue.LABEL_RULE`)."""


class Reached(NamedTuple):
    """The states that were explored: of all that differ only in how members are named one, the nearest first.

    ``depths`` has how many steps each lies from the initial one.
    """

    outcome: Outcome
    """The search's result; its ``violated`` and ``complete`` decide whether the graph is worth building."""
    rows: Any
    """The states, packed."""
    depths: Any
    """Distances in steps, ascending."""


class Backend(Protocol):
    """A model at two bounds: those that are explored, and those without a bound on generations."""

    machine: Machine
    """The model at the explored bounds."""

    endless: Machine
    """The model at the others."""

    def reach(self, limits: Limits) -> Reached:
        """Explore."""
        ...

    def path_to(self, state: int) -> list[Action]:
        """The labels that lead to one of these states, by its place."""
        ...

    def steps(self, rows: Any) -> Steps:
        """Every step from these states, in the order of the states."""
        ...

    @property
    def cut(self) -> int:
        """How many steps were left out, because they went beyond even the bounds without a bound on generations."""
        ...

    def survey(self, rows: Any) -> Any:
        """Of each state, which instances of the liveness properties hold in it."""
        ...


class Interpreted:
    """The interpreted model: slow, obvious, and the reference for the compiled one."""

    def __init__(self, machine: Machine, endless: Machine, row_width: int) -> None:
        self.machine, self.endless, self.width = machine, endless, row_width
        self.numbers = {rule.kind: number for number, rule in enumerate(machine.model.rules)}
        self.search = Search(machine, symmetry=True, limits=Limits())
        self.left_out = 0

    @property
    def cut(self) -> int:
        """See `Backend`."""
        return self.left_out

    def reach(self, limits: Limits) -> Reached:
        """See `Backend`."""
        self.search.limits = limits
        outcome, depth = self.search.run(), dict[bytes, int]()
        for packed, came in self.search.seen.items():
            depth[packed] = depth[came[0]] + 1 if came else 0
        return Reached(outcome, as_rows(list(depth), self.width), np.array(list(depth.values())))

    def path_to(self, state: int) -> list[Action]:
        """See `Backend`."""
        return self.search.path_to(list(self.search.seen)[state])

    def steps(self, rows: Any) -> Steps:
        """See `Backend`."""
        packed, parents, labels = list[bytes](), list[int](), list[int]()
        for place, row in enumerate(rows):
            for action, after in self.endless.transitions(self.endless.unpack(row.tobytes())):
                if not self.endless.within_bounds(after):
                    self.left_out += 1
                    continue
                packed.append(self.endless.pack(after))
                parents.append(place)
                labels.append(self.label(action))
        return Steps(as_rows(packed, self.width), np.array(parents, np.int64), np.array(labels, np.int64))

    def label(self, action: Action) -> int:
        """An action as the kernel writes it."""
        return self.numbers[action.kind] << LABEL_RULE | action.member << LABEL_MEMBER | action.choice

    def survey(self, rows: Any) -> Any:
        """See `Backend`."""
        wanted = instances(self.machine.model, self.machine.bounds)
        states = [self.endless.unpack(row.tobytes()) for row in rows]
        return np.array(held_in(self.endless, wanted, states), bool)


class Compiled:
    """The compiled model."""

    def __init__(self, machine: Machine, endless: Machine, progress: SearchListener | None = None) -> None:
        self.machine, self.endless = machine, endless
        self.progress = progress
        program, self.program = (compiled(machine.model, each.bounds, progress) for each in (machine, endless))
        self.search = ParallelSearch(program, machine, symmetry=True, threads=1, limits=Limits(), progress=progress)
        self.buffer = Buffer(endless, 1)
        self.worker = Worker(self.program, endless, 0, self.buffer, symmetry=False, spill=None)

    @property
    def cut(self) -> int:
        """See `Backend`."""
        return int(self.worker.st[kernel.CUT])

    def reach(self, limits: Limits) -> Reached:
        """See `Backend`."""
        self.search.limits = limits
        self.search.keep_states()
        outcome = self.search.run()
        assert self.search.kept is not None
        levels = self.search.kept[0]
        depths = np.repeat(np.arange(len(levels)), [len(level) for level in levels])
        return Reached(outcome, np.concatenate(levels).view(np.uint8), depths)

    def path_to(self, state: int) -> list[Action]:
        """See `Backend`."""
        return self.search.path_to(state)

    def steps(self, rows: Any) -> Steps:
        """See `Backend`."""
        worker, buffer = self.worker, self.buffer
        worker.this = worker.grown(worker.this, len(rows), 0)
        worker.this[: len(rows)] = rows.view(np.uint64)
        worker.st[kernel.AT], worker.st[kernel.SIZE], worker.st[kernel.BASE] = 0, len(rows), 0
        found = []
        while worker.left:
            filled = slice(worker.expand())
            words = buffer.states[filled].copy()
            found.append(Steps(words.view(np.uint8), buffer.parents[filled].copy(), buffer.labels[filled].copy()))
        self.program.require_no_fault()
        return Steps(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def survey(self, rows: Any) -> Any:
        """See `Backend`."""
        held = np.zeros((len(rows), max(1, len(instances(self.machine.model, self.machine.bounds)))), bool)
        self.program.survey(np.ascontiguousarray(rows).view(np.uint64), len(rows), held)
        self.program.require_no_fault()
        return held
