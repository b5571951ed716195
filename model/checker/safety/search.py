"""Breadth-first search of a model, interpreted: slow, obvious, and the reference for the compiled one.

States are compared whole, as packed bytes, so there are no hash collisions. A test runs this search and the compiled
one on the same bounds and expects the same numbers; `workers.ParallelSearch` fills in the same `Outcome`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.checkpoint import Checkpoint, identity_of, require_same_search
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.vocabulary.actions import Action


@dataclass(slots=True)
class Outcome:
    """What a search found, before it becomes an `Exploration`. ``path`` leads to the violation of ``violated``."""

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
        """Search level by level until nothing is new, a claim breaks or a limit is reached.

        After `resume` the search goes on where the checkpoint was made.
        """
        self.pace.begin(len(self.seen))
        if not self.seen:
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
        self.pace.levels.append(len(self.frontier))
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
                self.outcome.ended = Ended.NO_MEMORY
                return False
            self.at += 1
            if self.outcome.violated:
                return False
            if self.pace.is_due():
                self.report()
        return True

    def limit_reached(self) -> Ended | None:
        """Why the search ends before the next state; None when it does not."""
        ended = self.limits.reached(len(self.seen), self.pace.seconds_of_this_run)
        if ended is None and self.at % MEMORY_EVERY == 0 and self.limits.is_memory_used():
            return Ended.BYTES
        return ended

    def expand(self, parent: bytes) -> None:
        """Judge every step from a state, and keep what is new.

        Raises `MemoryError` with nothing of this state kept, so that the search can go on from there.
        """
        before, size = self.outcome, len(self.found)
        self.outcome = Outcome(
            distinct=before.distinct, generated=before.generated, cut=before.cut, depth=before.depth,
            met=set(before.met), fired=before.fired.copy(),
        )  # fmt: skip
        try:
            self.steps_from(parent)
        except MemoryError:
            for child in self.found[size:]:
                del self.seen[child]
            del self.found[size:]
            self.outcome = before
            raise

    def steps_from(self, parent: bytes) -> None:
        """The steps from a state, one after the other."""
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
        """Say how far the search is."""
        self.pace.report(
            self.outcome.depth, len(self.seen), self.outcome.generated, len(self.frontier) - self.at, len(self.found)
        )

    # ------------------------------------------------------------------------------------------- going on later

    def identity(self) -> dict[str, Any]:
        """See `checkpoint.identity_of`."""
        return identity_of(self.machine, symmetry=self.symmetry, compiled=False, threads=1)

    def checkpoint(self) -> Checkpoint:
        """All that was done so far; to be called when `run` has ended at a limit."""
        numbers = {packed: number for number, packed in enumerate(self.seen)}
        kinds = {rule.kind: number for number, rule in enumerate(self.machine.model.rules)}
        came = array("q")
        for origin in self.seen.values():
            parent, action = origin or (b"", None)
            came.extend((numbers.get(parent, -1), *((kinds[action.kind], *action[1:]) if action else (0, 0, 0))))
        done = self.outcome
        counters = {
            "depth": done.depth, "generated": done.generated, "cut": done.cut, "seconds": self.pace.seconds,
            "met": sorted(done.met), "fired": {str(kind): count for kind, count in done.fired.items()},
            "states": len(self.seen), "frontier": len(self.frontier), "found": len(self.found), "at": self.at,
            "levels": self.pace.levels,
        }  # fmt: skip
        return Checkpoint(
            identity=self.identity(), numbers=counters, blocks={"states": b"".join(self.seen), "came": came}
        )

    def resume(self, saved: Checkpoint) -> None:
        """Make `run` go on from here.

        Raises `RebalanceCheckError` when the checkpoint belongs to another search.
        """
        require_same_search(saved, self.identity())
        numbers, width = saved.numbers, len(self.machine.pack(self.machine.initial()))
        data, came = bytes(saved.blocks["states"]), array("q", bytes(saved.blocks["came"]))
        states = [data[start : start + width] for start in range(0, len(data), width)]
        kinds = [rule.kind for rule in self.machine.model.rules]
        for number, packed in enumerate(states):
            parent, kind, member, choice = came[4 * number : 4 * number + 4]
            self.seen[packed] = None if parent < 0 else (states[parent], Action(kinds[kind], member, choice))
        first = len(states) - numbers["found"] - numbers["frontier"]
        self.frontier = list(islice(states, first, first + numbers["frontier"]))
        self.found, self.at = states[first + numbers["frontier"] :], numbers["at"]
        by_name = {str(kind): kind for kind in kinds}
        self.outcome = Outcome(
            distinct=len(states), generated=numbers["generated"], cut=numbers["cut"], depth=numbers["depth"],
            met=set(numbers["met"]), fired=Counter({by_name[name]: count for name, count in numbers["fired"].items()}),
        )  # fmt: skip
        self.pace.go_on(numbers["seconds"], numbers["levels"])
