"""Searches: seeds of histories in, broken claims out, each with a history from which no step can be left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.integration.comparison.assignors.search import Asked
from rebalance_check.integration.comparison.connect_assignors.assigned_group import PROTOCOL, run_history
from rebalance_check.integration.comparison.connect_assignors.request import EAGER_PROTOCOL, ConnectAssignors
from rebalance_check.model.shrink import ddmin, reduced
from rebalance_check.properties.assignment.claims import Broken
from rebalance_check.properties.assignment.connect_claims import broken_connect_claims
from rebalance_check.properties.assignment.connect_histories import random_history
from rebalance_check.properties.assignment.connect_rounds import CONNECT_EAGER, Course
from rebalance_check.properties.assignment.connect_steps import (
    DEFAULT_MAX_DELAY_MS,
    Configure,
    History,
    Join,
    Rebalance,
    Step,
)

_MOST_RUNS: Final = 400


def protocol_of(assignor: str) -> str:
    """The protocol under which a group uses an assignor."""
    return EAGER_PROTOCOL if assignor == CONNECT_EAGER else PROTOCOL


def histories_for(assignors: ConnectAssignors) -> Asked:
    """Histories of groups, for the assignors of Connect workers; of a course all broken claims count."""

    def answers(name: str, histories: Iterable[History]) -> Iterator[Course]:
        return (run_history(assignors, history, protocol_of(name)) for history in histories)

    def broken(name: str, _history: History, course: Course, claims: Collection[str]) -> Iterator[Broken]:
        return broken_connect_claims(name, course, tuple(claims))

    def smallest(_shape: str, history: History, still: Callable[[History], bool]) -> History:
        return shrink(history, still)

    return Asked(random_history, answers, broken, smallest, lambda course: len(course.rounds))


def shrink(history: History, still_broken: Callable[[History], bool]) -> History:
    """A smallest history: no step can be left out, and no number, claim or failure be less, without healing it."""

    def with_steps(steps: Sequence[Step]) -> History | None:
        smaller = replace(history, steps=tuple(steps))
        return smaller if still_broken(smaller) else None

    return reduced(ddmin(history, lambda one: one.steps, with_steps, _MOST_RUNS), smaller, still_broken)


def smaller(history: History) -> Iterator[History]:
    """Every history that is one reduction smaller: a step less, the default delay, or a lesser step."""
    for i, step in enumerate(history.steps):
        yield replace(history, steps=history.steps[:i] + history.steps[i + 1 :])
        for lesser in _lesser(step):
            yield replace(history, steps=(*history.steps[:i], lesser, *history.steps[i + 1 :]))
    if history.max_delay_ms != DEFAULT_MAX_DELAY_MS:
        yield replace(history, max_delay_ms=DEFAULT_MAX_DELAY_MS)


def _lesser(step: Step) -> Iterator[Step]:
    match step:
        case Configure(connector, tasks) if tasks > 0:
            yield Configure(connector, tasks - 1)
        case Join(worker, claims):
            for i in range(len(claims)):
                yield Join(worker, claims[:i] + claims[i + 1 :])
        case Rebalance() if step != Rebalance():
            yield Rebalance()
            for i in range(len(step.missed)):
                yield replace(step, missed=step.missed[:i] + step.missed[i + 1 :])
