"""Searches: seeds of histories in, broken claims out, each with a history from which no step can be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rebalance_check.integration.oracle.connect.assigned_group import PROTOCOL, run_history
from rebalance_check.integration.oracle.connect.request import EAGER_PROTOCOL, ConnectAssignors
from rebalance_check.integration.oracle.search import BrokenClaims, never
from rebalance_check.model.shrink import ddmin, reduced
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
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


@dataclass(frozen=True, slots=True)
class ConnectFinding:
    """A broken claim: where it was found, in how many histories of that search, and the smallest that breaks it.

    ``count`` is 0 for a history that was given.
    """

    assignor: str
    shape: str
    seed: int
    count: int
    history: History
    course: Course
    broken: Broken


@dataclass(slots=True)
class ConnectSearch:
    """What a search did and found: one finding for each assignor, shape and claim."""

    histories: int = 0
    rounds: int = 0
    findings: list[ConnectFinding] = field(default_factory=list)


def protocol_of(assignor: str) -> str:
    """The protocol under which a group uses an assignor."""
    return EAGER_PROTOCOL if assignor == CONNECT_EAGER else PROTOCOL


def search(
    assignors: ConnectAssignors,
    names: Sequence[str],
    shapes: Sequence[str],
    seeds: range,
    *,
    claims: tuple[str, ...] = (),
    progress: ProgressListener = ignore_progress,
    is_over: Callable[[], bool] = never,
) -> ConnectSearch:
    """Run every seed's history of every shape with each named assignor, and judge it by the first claim that breaks.

    ``claims`` are the only ones that are judged, all that need not be named when there are none; ``progress`` receives
    the histories so far. No history is begun once ``is_over`` says so.
    """
    found = ConnectSearch()
    total = len(names) * len(shapes) * len(seeds)
    for name in names:
        for shape in shapes:
            noted = BrokenClaims()
            for seed in seeds:
                course = run_history(assignors, random_history(shape, seed), protocol_of(name))
                found.histories, found.rounds = found.histories + 1, found.rounds + len(course.rounds)
                for broken in broken_connect_claims(name, course, claims):
                    noted.note(seed, broken)
                progress("connect assignors", found.histories, total)
                if is_over():
                    break
            for claim, seed in noted.first.items():
                found.findings += _findings(assignors, name, (shape, seed, noted.counts[claim]), claim)
    return found


def judge_one(
    assignors: ConnectAssignors, names: Sequence[str], history: History, claims: tuple[str, ...] = ()
) -> ConnectSearch:
    """One given history for every named assignor: all claims that break, not shrunk."""
    found = ConnectSearch()
    for name in names:
        course = run_history(assignors, history, protocol_of(name))
        found.histories, found.rounds = found.histories + 1, found.rounds + len(course.rounds)
        for broken in broken_connect_claims(name, course, claims):
            found.findings.append(ConnectFinding(name, "given", 0, 0, history, course, broken))
    return found


def _findings(
    assignors: ConnectAssignors, name: str, origin: tuple[str, int, int], claim: str
) -> Iterator[ConnectFinding]:
    start = random_history(origin[0], origin[1])
    history = shrink(start, lambda one: breaks(assignors, name, one, claim) is not None)
    course = run_history(assignors, history, protocol_of(name))
    for broken in broken_connect_claims(name, course, (claim,)):
        yield ConnectFinding(name, *origin, history, course, broken)


def breaks(assignors: ConnectAssignors, name: str, history: History, claim: str) -> Broken | None:
    """How the course of a history breaks a claim; None when it does not."""
    course = run_history(assignors, history, protocol_of(name))
    return next(broken_connect_claims(name, course, (claim,)), None)


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
