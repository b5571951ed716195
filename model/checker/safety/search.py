"""Breadth-first search of a model, interpreted: slow, obvious, and the reference for the compiled one.

States are compared whole, as packed bytes, so there are no hash collisions. A test runs this search and the compiled
one on the same bounds and expects the same numbers; `workers.ParallelSearch` fills in the same `Outcome`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.vocabulary.actions import Action


@dataclass(slots=True)
class Outcome:
    """The findings of a search before they become an `Exploration`. ``path`` leads to the violation of ``violated``."""

    # counts and time, as the fields of `Exploration` of the same names
    distinct: int = 1
    generated: int = 1
    cut: int = 0
    depth: int = 0
    frontier: int = 0
    ended: Ended | None = None
    violated: str = ""
    """The first claim that was seen broken, empty for none; the search ends there, so there is never a second one."""
    path: list[Action] = field(default_factory=list)
    """The labels on the way to it. Under symmetry they belong to representatives: see `explore.concrete`."""
    met: set[str] = field(default_factory=set)
    """The reachable states and steps met so far, by name; one met once is not evaluated again."""
    fired: Counter[str] = field(default_factory=Counter)
    """How often each kind of action fired."""
    seconds: float = 0.0
    disk_bytes: int = 0

    @property
    def complete(self) -> bool:
        """Whether every state within the bounds was explored."""
        return not self.violated and self.ended is None


Seen = dict[bytes, tuple[bytes, Action] | None]
"""The packed states found so far, each with its parent and the action that led here (None: the initial state)."""

SPARE: Final = 1 << 20
"""Bytes that are given back when memory runs out, so that the end of the search has some."""

MEMORY_EVERY: Final = 256
"""The resident memory is read once in so many states."""


class Search:
    """One interpreted search; ``seen`` holds the packed (and canonical, under symmetry) states afterwards.

    ``seen`` keeps the order of finding, so its states stand nearest first; the liveness check relies on that. Of the
    present level, ``frontier``, the states before ``at`` are expanded; ``found`` are the states of the next one.
    """

    def __init__(
        self, machine: Machine, *, symmetry: bool, limits: Limits, progress: SearchListener | None = None
    ) -> None:
        self.machine = machine
        self.symmetry = symmetry
        self.key: Callable[[Any], bytes] = machine.canonical if symmetry else machine.pack
        self.limits = limits
        self.pace = Pace(progress)
        self.seen: Seen = {}
        self.outcome = Outcome()
        self.frontier: list[bytes] = []
        self.found: list[bytes] = []
        self.at = 0
        self._spare: bytes | None = bytes(SPARE)

    def run(self) -> Outcome:
        """Search level by level until nothing is new, a claim breaks or a limit is reached."""
        self.pace.begin()
        self.begin()
        while self.frontier and self.outcome.complete:
            is_whole = self.level()
            self.report()
            if is_whole:
                self.next_level()
        self.outcome.seconds = self.pace.seconds
        self.outcome.frontier = len(self.frontier) - self.at + len(self.found)
        return self.outcome

    def begin(self) -> None:
        """Find the initial state."""
        initial = self.machine.initial()
        self.frontier = [self.key(initial)]
        self.seen[self.frontier[0]] = None
        self.judge(initial, self.frontier[0])
        self.outcome.depth = 0 if self.outcome.violated else 1

    def next_level(self) -> None:
        """The states found become the frontier, unless there are none."""
        self.frontier, self.found, self.at = self.found, [], 0
        if self.frontier and self.outcome.complete:
            self.outcome.depth += 1

    def level(self) -> bool:
        """Expand the states of one depth; False when the search ends within it.

        A violation ends the search after the state in which it was found, not at once, so that the counts do not depend
        on the order of that state's successors.
        """
        while self.at < len(self.frontier):
            self.outcome.ended = self.limit_reached()
            if self.outcome.ended is not None:
                return False
            try:
                self.expand(self.frontier[self.at])
            except MemoryError:
                self._spare = None
                self.outcome.ended, self.outcome.distinct = Ended.NO_MEMORY, len(self.seen)
                return False
            self.at += 1
            if self.outcome.violated:
                return False
            if self.pace.is_due():
                self.report()
        return True

    def limit_reached(self) -> Ended | None:
        """Why the search ends before the next state; None when it does not."""
        ended = self.limits.reached(len(self.seen), self.pace.seconds)
        if ended is None and self.at % MEMORY_EVERY == 0 and self.limits.is_memory_used():
            return Ended.BYTES
        return ended

    def expand(self, parent: bytes) -> None:
        """Judge every step from a state, and keep the new states."""
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
                self.found.append(child)
                self.seen[child] = (parent, action)
                self.judge(after, child)
        self.outcome.distinct = len(self.seen)

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
        self.outcome.violated, self.outcome.path = claim, path

    def path_to(self, packed: bytes) -> list[Action]:
        """The actions that led to a state when it was found; labels of representatives under symmetry."""
        path = []
        while (came := self.seen[packed]) is not None:
            packed, action = came
            path.append(action)
        return path[::-1]

    def report(self) -> None:
        """Say how far the search has come."""
        left = len(self.frontier) - self.at + len(self.found)
        self.pace.report(self.outcome.depth, len(self.seen), self.outcome.generated, left)
