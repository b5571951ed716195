"""A path executed once: its states, the events that they cause, and its address.

A counterexample or witness is kept as a `Path`, a list of actions. Its readers (a report, a message chart, the
check against the invariants on events) need more than that. `execute` runs the path once on the interpreted model and
keeps the result, so that a report does not step the model again for each of its sections.

Two kinds of claims judge an execution: the model's own invariants, on states (`Execution.broken`), and the catalogue of
`properties`, on ``events``. Read `model.checker.safety.path` for addresses, `model.classic.observer` for events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.classic.model import MODEL as CLASSIC
from rebalance_check.model.classic.observer.observer import Observer
from rebalance_check.model.connect.workers.model import MODEL as WORKERS
from rebalance_check.model.connect.workers.observer import WorkerObserver
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.events import Event


@dataclass(frozen=True, slots=True)
class Execution:
    """A path as it was run.

    ``states`` are one more than ``actions``; ``events`` has for each action those that it caused, and the first also
    those of the start. A path of the status store, or of the config topic, causes no events: it has states alone.
    """

    path: Path
    """The model (with its mutant), the bounds and the actions that were run."""
    address: str
    """The text from which `model.registry.path_at` makes the same path again."""
    states: tuple[Any, ...]
    """``states[i]`` is the state before ``actions[i]``, so ``states[0]`` is the initial one; each is its own copy."""
    events: tuple[tuple[Event, ...], ...]
    """``events[i]`` are the events of ``actions[i]``, in the order in which they happen."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the path."""
        return self.path.actions

    def broken(self) -> str:
        """The name of the invariant that the last step breaks; empty for none.

        A step invariant of the last step comes before an invariant of the last state, as in a search, which judges a
        step before it judges the state that the step leads to. Earlier steps are not judged: a counterexample ends at
        the first violation.
        """
        machine = self.path.machine
        before, last = self.states[-2:] if self.actions else (None, self.states[-1])
        return (machine.violated_step(before, last) if self.actions else "") or machine.violated(last)


def execute(path: Path) -> Execution:
    """Run a path on the interpreted model.

    Raises `RebalanceCheckError` when one of its actions is not enabled where it stands.
    """
    run = path.run()
    return Execution(path, path.written(run.indices), run.states, events_along(path, run.states))


def events_along(path: Path, states: Sequence[Any]) -> tuple[tuple[Event, ...], ...]:
    """The events of each step from one of these states to the next.

    ``states`` are those of `Path.run`: one more than the actions of ``path``. The result has one tuple for each action,
    and an empty one for each action of a model that has no observer (the status store's and the config topic's).
    """
    if path.model.name == WORKERS.name:
        return worker_events(path, states)
    if path.model.name != CLASSIC.name:
        return tuple(() for _ in path.actions)
    observer = Observer(path.machine.config, path.bounds, path.mutant, "group")
    # the observer remembers member ids and request numbers from step to step: begin at the start and leave out no step
    begun = observer.begin()
    caused = [
        observer.observe(action, before, after)
        for action, (before, after) in zip(path.actions, pairwise(states), strict=True)
    ]
    return tuple((*begun, *events) if number == 0 else tuple(events) for number, events in enumerate(caused))


def worker_events(path: Path, states: Sequence[Any]) -> tuple[tuple[Event, ...], ...]:
    """The events of a path of a group of Connect workers, as `events_along` returns them."""
    observer = WorkerObserver(path.machine.config, path.bounds, path.mutant)
    begun = observer.begin(states[0])
    caused = [
        observer.observe(action, before, after)
        for action, (before, after) in zip(path.actions, pairwise(states), strict=True)
    ]
    return tuple((*begun, *events) if number == 0 else tuple(events) for number, events in enumerate(caused))
