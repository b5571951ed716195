"""Every transition of a bounded model, performed on a coordinator in this process and compared."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from rebalance_check.impl.conformance.outcome import Divergence
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds


@dataclass(frozen=True, slots=True)
class DivergentPath:
    """A transition on which the coordinator differs from the model, and the schedule that leads there."""

    actions: tuple[Action, ...]
    divergence: Divergence


@dataclass(frozen=True, slots=True)
class Conformance:
    """What an exhaustive comparison saw: sizes, the kinds of answer that occurred, and where the two differ."""

    bounds: Bounds
    states: int
    transitions: int
    answers: frozenset[tuple[str, str]]
    divergences: tuple[DivergentPath, ...]


def every_transition(start: ConformanceRun, bounds: Bounds, stop_after: int = 1) -> Conformance:
    """Perform every transition within ``bounds`` from every state, breadth first, on a copy of the coordinator there.

    ``start`` is a fresh lockstep whose transport can be copied; at most ``stop_after`` divergences are collected, so
    the first one has a shortest schedule.
    """
    pack = start.moves.pack
    parents: dict[bytes, tuple[bytes, Action] | None] = {pack(start.state): None}
    frontier = deque([start])
    answers: set[tuple[str, str]] = set()
    divergences: list[DivergentPath] = []
    transitions = 0
    while frontier and len(divergences) < stop_after:
        here = frontier.popleft()
        at = pack(here.state)
        for action in here.enabled():
            there = here.fork()
            step = there.perform(action)
            transitions += 1
            if step is None:
                continue
            answers.update((answer.api, answer.error) for answer in step.answers)
            if step.difference is not None:
                divergences.append(DivergentPath((*path(parents, at), action), step.difference))
            elif (reached := pack(there.state)) not in parents:
                parents[reached] = (at, action)
                frontier.append(there)
    return Conformance(bounds, len(parents), transitions, frozenset(answers), tuple(divergences[:stop_after]))


def path(parents: dict[bytes, tuple[bytes, Action] | None], state: bytes) -> tuple[Action, ...]:
    """The actions that first led to ``state``."""
    actions: list[Action] = []
    while (step := parents[state]) is not None:
        state, action = step
        actions.append(action)
    return tuple(reversed(actions))
