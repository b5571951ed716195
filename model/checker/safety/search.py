"""Breadth-first search of a model, interpreted: slow, obvious, and the reference for the compiled one.

States are compared whole, as packed bytes, so there are no hash collisions. A test runs this search and the compiled
one on the same bounds and expects the same numbers; `workers.ParallelSearch` fills in the same `Outcome`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.progress import ProgressListener


@dataclass(slots=True)
class Outcome:
    """What a search found, before it becomes an `Exploration`. ``path`` leads to the violation of ``violated``."""

    # counts and time, as the fields of `Exploration` of the same names
    distinct: int = 1
    generated: int = 1
    cut: int = 0
    depth: int = 0
    complete: bool = True
    violated: str = ""
    """The first claim that was seen broken, empty for none; the search ends there, so there is never a second one."""
    path: list[Action] = field(default_factory=list)
    """The labels on the way to it. Under symmetry they belong to representatives: see `explore.concrete`."""
    met: set[str] = field(default_factory=set)
    """The reachable states and steps met so far, by name; one met once is not evaluated again."""
    fired: Counter[str] = field(default_factory=Counter)
    """How often each kind of action fired."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to stop early: a number of distinct states, a number of seconds; None is no limit."""

    states: int | None = None
    seconds: float | None = None

    def reached(self, distinct: int, seconds: float) -> bool:
        """Whether it is time to stop, after ``distinct`` states and ``seconds`` of searching."""
        return (self.states is not None and distinct >= self.states) or (
            self.seconds is not None and seconds >= self.seconds
        )


Seen = dict[bytes, tuple[bytes, Action] | None]
"""The packed states found so far, each with its parent and the action that led here (None: the initial state)."""


class Search:
    """One interpreted search; ``seen`` holds the packed (and canonical, under symmetry) states afterwards.

    ``seen`` keeps the order of finding, so its states stand nearest first; the liveness check relies on that.
    """

    def __init__(self, machine: Machine, *, symmetry: bool, limits: Limits, progress: ProgressListener | None) -> None:
        self.machine = machine
        self.key: Callable[[Any], bytes] = machine.canonical if symmetry else machine.pack
        self.limits = limits
        self.progress = progress
        self.seen: Seen = {}
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Search level by level until nothing is new, a claim breaks or a limit is reached."""
        started = time.perf_counter()
        initial = self.machine.initial()
        frontier = [self.key(initial)]
        self.seen[frontier[0]] = None
        self.judge(initial, frontier[0])
        while frontier and self.outcome.complete:
            self.outcome.depth += 1
            frontier = self.level(frontier)
            self.outcome.seconds = time.perf_counter() - started
            self.report()
            if frontier and self.limits.reached(self.outcome.distinct, self.outcome.seconds):
                self.outcome.complete = False
        return self.outcome

    def level(self, frontier: list[bytes]) -> list[bytes]:
        """Expand every state of one depth; the states found new.

        A violation ends the search after the state in which it was found, not at once, so that the counts do not depend
        on the order of that state's successors.
        """
        found = []
        for parent in frontier:
            state = self.machine.unpack(parent)
            for action, after in self.machine.transitions(state):
                if not self.machine.within_bounds(after):
                    self.outcome.cut += 1
                    continue
                self.outcome.generated += 1
                self.outcome.fired[action.kind] += 1
                # a step is judged even where it leads to a state seen before: another step may have led there first
                self.judge_step(state, after, parent, action)
                child = self.key(after)
                if child not in self.seen:
                    self.seen[child] = (parent, action)
                    found.append(child)
                    self.judge(after, child)
            if self.outcome.violated:
                break
        self.outcome.distinct = len(self.seen)
        return found

    def judge(self, state: Any, packed: bytes) -> None:
        """Check the invariants on a new state, and note which reachable states it is one of."""
        self.outcome.met |= self.machine.met(state, but=self.outcome.met)
        broken = self.machine.violated(state)
        if broken and not self.outcome.violated:
            self.violate(broken, self.path_to(packed))

    def judge_step(self, state: Any, after: Any, parent: bytes, action: Action) -> None:
        """Check the step invariants on one transition, and note which reachable steps it is one of."""
        self.outcome.met |= self.machine.happened(state, after, but=self.outcome.met)
        broken = self.machine.violated_step(state, after)
        if broken and not self.outcome.violated:
            self.violate(broken, [*self.path_to(parent), action])

    def violate(self, claim: str, path: list[Action]) -> None:
        """End the search with a counterexample."""
        self.outcome.violated, self.outcome.path, self.outcome.complete = claim, path, False

    def path_to(self, packed: bytes) -> list[Action]:
        """The actions that led to a state when it was found; labels of representatives under symmetry."""
        path = []
        while (came := self.seen[packed]) is not None:
            packed, action = came
            path.append(action)
        return path[::-1]

    def report(self) -> None:
        """Say how far the search is."""
        if self.progress is not None:
            self.progress(f"depth {self.outcome.depth:3}", self.outcome.distinct, 0)
