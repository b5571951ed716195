"""Random walks through a model whose bounds are too large to be explored: what they found, and what they covered.

A walk begins in the initial state and takes one enabled action after the other. Coverage guides it: actions that lead
to a state that no walk was in come first, and of them those of a kind that was taken least (`walks.Curious`). Every
state and step on the way is judged like in a search. Walks prove nothing; their coverage says how much they have seen.
A walk that breaks a claim is shrunk to a path.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.limits import NO_LIMITS, Ended, Limits
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.checker.walks import Curious, walk
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress

DEFAULT_DEPTH: Final = 100
"""Actions of a walk at most."""

SHRINK_RUNS: Final = 5_000
"""Repetitions that shrinking may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomWalks:
    """The findings and the coverage of some walks."""

    bounds: Bounds
    """Within which they went."""
    mutant: str
    """The name of the model's defect, empty for none."""
    seed: int
    """The seed of the first walk; they count on by one."""
    asked: int
    """How many walks were asked for."""
    walks: int
    """How many were done: fewer where a limit or a violation ended them."""
    depth: int
    """The most actions that a walk may have."""
    steps: int
    """The actions of all walks."""
    distinct: int
    """The distinct states on them; those that differ only in how members are named count apart."""
    seconds: float
    """Wall-clock time, shrinking included."""
    ended: Ended | None
    """Why there are fewer walks than asked for, other than by a violation; None otherwise."""
    verdicts: Mapping[str, str]
    """For each invariant and step invariant: ``violated``; ``held`` on these walks, which proves nothing about others;
    ``undecided`` where the walks ended early."""
    reachable_states: Mapping[str, bool]
    """For each reachable state and reachable step, whether a walk met it."""
    actions: Mapping[ActionKind, int]
    """How often each kind of action was taken."""
    walked: int
    """The length of the walk that broke a claim, before it was shrunk; 0 for none."""
    counterexample: Path | None
    """The rest of that walk: none of its actions can be left out."""

    @property
    def violated(self) -> str:
        """The name of the violated claim, empty when there is none."""
        return next((name for name, verdict in self.verdicts.items() if verdict == "violated"), "")


def random_walks(
    model: Model,
    bounds: Bounds,
    walks: int,
    *,
    seed: int = 0,
    depth: int = DEFAULT_DEPTH,
    limits: Limits = NO_LIMITS,
    progress: ProgressListener = ignore_progress,
) -> RandomWalks:
    """Take so many walks of at most ``depth`` actions; the first that breaks a claim ends them.

    The same ``seed`` gives the same walks. ``limits`` end them early: states are those that are distinct.
    """
    started, watch = time.perf_counter(), Watch(Machine(model, bounds), depth, limits)
    done = 0
    while done < walks and not watch.violated and watch.ended is None:
        progress("walks", done, walks)
        watch.take(Random(f"walk/{seed + done}"))
        done += watch.ended is None
    small = shrunk(watch.machine, watch.actions, watch.violated) if watch.violated else ()
    unseen = "held" if done == walks and not watch.violated else "undecided"
    names = [claim.__name__ for claim in (*model.invariants, *model.step_invariants)]
    reachable = [claim.__name__ for claim in (*model.reachable_states, *model.reachable_steps)]
    return RandomWalks(
        bounds=bounds, mutant=model.mutant, seed=seed, asked=walks, walks=done, depth=depth, steps=watch.steps,
        distinct=len(watch.seen), seconds=time.perf_counter() - started, ended=watch.ended,
        verdicts={name: "violated" if name == watch.violated else unseen for name in names},
        reachable_states={name: name in watch.met for name in reachable},
        actions={rule.kind: watch.curious.taken[rule.kind] for rule in model.rules},
        walked=len(watch.actions) if watch.violated else 0,
        counterexample=Path(model, bounds, tuple(small)) if watch.violated else None,
    )  # fmt: skip


class Watch:
    """Chooses the actions of walks, and judges every state and step on the way."""

    def __init__(self, machine: Machine, depth: int, limits: Limits) -> None:
        self.machine, self.depth, self.limits = machine, depth, limits
        self.curious = Curious()
        self.seen: set[bytes] = set()
        self.met: set[str] = set()
        self.steps = 0
        self.violated = ""
        self.ended: Ended | None = None
        self.actions: list[Action] = []
        self._started = time.perf_counter()
        self._before: Any = None
        self._random = Random(0)

    def take(self, random: Random) -> None:
        """One walk; ``actions`` are its actions afterwards."""
        self._random, self._before, self.actions = random, None, []
        try:
            walk(self.machine, self.choose, self.depth + 1)
        except MemoryError:
            self.seen, self.ended = set(), Ended.NO_MEMORY

    def choose(self, state: Any) -> Action | None:
        """Judge the state and the step to it; the next action, or None where the walk ends."""
        self.judge(state)
        self.ended = self.limits.reached(len(self.seen), time.perf_counter() - self._started)
        if self.ended is None and self.limits.is_memory_used():
            self.ended = Ended.BYTES
        if self.violated or self.ended is not None or len(self.actions) == self.depth:
            return None
        enabled = self.enabled(state)
        if not enabled:
            return None
        self._before = self.machine.copy(state)
        self.actions.append(self.curious.choose(enabled, self._random))
        self.steps += 1
        return self.actions[-1]

    def enabled(self, state: Any) -> list[Action]:
        """The actions that lead to states that no walk was in; all that are enabled where there are none."""
        successors = [(action, self.machine.pack(after)) for action, after in self.machine.successors(state)]
        return [action for action, after in successors if after not in self.seen] or [each for each, _ in successors]

    def judge(self, state: Any) -> None:
        """Check the claims on a state and the step to it, and note what was reached."""
        machine = self.machine
        self.seen.add(machine.pack(state))  # not its canonical form, which takes long with many members
        self.met |= machine.met(state, but=self.met)
        if self._before is not None:
            self.met |= machine.happened(self._before, state, but=self.met)
            self.violated = machine.violated_step(self._before, state)
        self.violated = self.violated or machine.violated(state)


def shrunk(machine: Machine, actions: list[Action], violated: str) -> tuple[Action, ...]:
    """The actions of a walk that breaks a claim, with as many left out as that one claim allows."""

    def still_breaks(kept: tuple[Action, ...]) -> tuple[Action, ...] | None:
        return replayed(machine, kept, violated)

    found: tuple[Action, ...] = ddmin(tuple(actions), lambda one: one, still_breaks, SHRINK_RUNS, last_first=True)
    return found


def replayed(machine: Machine, actions: tuple[Action, ...], violated: str) -> tuple[Action, ...] | None:
    """Take those of the actions that are enabled, up to the step that breaks the claim; None where none does."""
    state, taken = machine.initial(), list[Action]()
    for action in actions:
        before = machine.copy(state)
        if not machine.step(state, action):
            continue
        if not machine.within_bounds(state):
            state = before
            continue
        taken.append(action)
        broken = machine.violated_step(before, state) or machine.violated(state)
        if broken:
            return tuple(taken) if broken == violated else None
    return None
