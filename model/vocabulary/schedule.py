"""The one interface of every subject: actions in, events out.

Model, simulator, reference coordinator, embedded broker, real broker: each is a `Subject`, so a schedule written for
one runs on all that understand its actions, and the same invariants judge the outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event


@dataclass(frozen=True, slots=True)
class Schedule:
    """A run before it happens: its bounds, the seed of its random part, and its actions."""

    bounds: Bounds
    """The protocol, the size of the group, and which concerns are on; a subject sets itself up by them."""
    actions: tuple[Action, ...]
    """The actions, in order; all of kinds that the subject understands (`Subject.actions`)."""
    seed: int = 0
    """Decides the details the actions leave open, such as delays in the simulator."""


class Subject(Protocol):
    """Something that coordinates a group. One object runs one schedule at a time.

    ``open`` starts a new run, ``perform`` does one action and returns the events it caused, in order, ``close``
    ends the run, returns the last observations, and gives every resource back even after an exception.
    """

    @property
    def name(self) -> str:
        """Its name in reports: ``model``, ``reference``, ``simulator``, ``embedded``, ``kafka 4.3.1``."""
        ...

    @property
    def actions(self) -> frozenset[ActionKind]:
        """The kinds of action it understands."""
        ...

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """Start a new run."""
        ...

    def perform(self, action: Action) -> Sequence[Event]:
        """Do one action."""
        ...

    def close(self) -> Sequence[Event]:
        """End the run and give everything back."""
        ...


def run(subject: Subject, schedule: Schedule) -> Iterator[Event]:
    """Run a schedule and yield the events as they are observed; the subject is closed in any case.

    Raises `RebalanceCheckError` before anything is done when the subject does not understand one of the actions.
    """
    unknown = sorted({action.kind for action in schedule.actions} - subject.actions)
    if unknown:
        raise RebalanceCheckError(
            f"{subject.name} does not understand the action {unknown[0]}; it understands "
            f"{', '.join(sorted(subject.actions))}: choose another subject or another schedule"
        )
    try:
        yield from subject.open(schedule.bounds, schedule.seed)
        for action in schedule.actions:
            yield from subject.perform(action)
    finally:
        last = subject.close()
    yield from last
