"""A path executed once: its states, the events that they cause, and its address; reports read what they need from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.classic.model import MODEL as CLASSIC
from rebalance_check.model.classic.observer.observer import Observer
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.events import Event


@dataclass(frozen=True, slots=True)
class Execution:
    """What happened along a path.

    ``states`` are one more than ``actions``; ``events`` has for each action those that it caused, and the first also
    those of the start. A path of the status store causes no events: the model's states are all there is.
    """

    path: Path
    address: str
    states: tuple[Any, ...]
    events: tuple[tuple[Event, ...], ...]

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the path."""
        return self.path.actions

    def broken(self) -> str:
        """The name of the invariant that the last step breaks; empty for none."""
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
    """The events of each step from one of these states to the next."""
    if path.model.name != CLASSIC.name:
        return tuple(() for _ in path.actions)
    observer = Observer(path.machine.config, path.bounds, path.mutant, "group")
    begun = observer.begin()
    caused = [
        observer.observe(action, before, after)
        for action, (before, after) in zip(path.actions, pairwise(states), strict=True)
    ]
    return tuple((*begun, *events) if number == 0 else tuple(events) for number, events in enumerate(caused))
