"""Searches random inputs for ones on which an assignor breaks a claim; each claim comes with a smallest input.

Nothing is compared here: the claims say which answers are right, of any assignor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from typing import Any

from rebalance_check.integration.comparison.assignors.assignors import Assignors
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.assignment.claims import OF_RACKS, Broken, broken_claims
from rebalance_check.properties.assignment.problem import Answer, Problem
from rebalance_check.properties.assignment.problems import fits, random_problem
from rebalance_check.properties.assignment.shrink import shrink


def _no_rounds(_answer: Any) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Asked:
    """One kind of inputs for one side's assignors: how they are drawn by shape and seed, answered, judged, made small.

    ``broken`` gives the claims that an answer breaks, of those that are named, or of all that need not be.
    """

    draw: Callable[[str, int], Any]
    answers: Callable[[str, Iterable[Any]], Iterator[Any]]
    broken: Callable[[str, Any, Any, Collection[str]], Iterator[Broken]]
    shrink: Callable[[str, Any, Callable[[Any], bool]], Any]
    rounds: Callable[[Any], int] = _no_rounds

    def answer(self, name: str, one: Any) -> Any:
        """The answer of the assignor of this name to one input."""
        return next(self.answers(name, [one]))

    def breaks(self, name: str, one: Any, claim: str) -> Broken | None:
        """How an answer breaks a claim; None when it does not."""
        return next(self.broken(name, one, self.answer(name, one), (claim,)), None)


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken claim: where it was found, how often in that search, and the smallest input that breaks it.

    ``count`` is 0 for an input that was given.
    """

    assignor: str
    shape: str
    seed: int
    count: int
    input: Any
    answer: Any
    broken: Broken


@dataclass(slots=True)
class Search:
    """The work of a search: one finding for each assignor, shape and claim."""

    inputs: int = 0
    rounds: int = 0
    findings: list[Finding] = field(default_factory=list)


def problems_for(assignors: Assignors) -> Asked:
    """Problems of one round, for assignors of consumers; of an answer the first broken claim explains the others."""

    def broken(name: str, problem: Problem, answer: Answer, claims: Collection[str]) -> Iterator[Broken]:
        found = (one for one in broken_claims(name, problem, answer) if not claims or one.claim in claims)
        known = found if assignors.knows_racks else (one for one in found if one.claim not in OF_RACKS)
        first = next(known, None)
        yield from () if first is None else (first,)

    def smallest(shape: str, problem: Problem, still: Callable[[Problem], bool]) -> Problem:
        return shrink(problem, lambda one: fits(shape, one) and still(one))

    return Asked(random_problem, assignors.answer_all, broken, smallest)


def never() -> bool:
    """A search without a limit of time."""
    return False


def search(
    asked: Asked,
    names: Sequence[str],
    shapes: Sequence[str],
    seeds: range,
    *,
    claims: Collection[str] = (),
    progress: ProgressListener = ignore_progress,
    is_over: Callable[[], bool] = never,
) -> Search:
    """Ask every named assignor about every seed's input of every shape.

    ``claims`` are the only ones that are judged, all when there are none; ``progress`` receives the inputs so far. No
    input is begun once ``is_over`` says so.
    """
    found, total = Search(), len(names) * len(shapes) * len(seeds)
    for name in names:
        for shape in shapes:
            first, counts = dict[str, int](), Counter[str]()
            drawn, kept = tee(asked.draw(shape, seed) for seed in seeds)
            for seed, one, answer in zip(seeds, kept, asked.answers(name, drawn), strict=True):
                found.inputs, found.rounds = found.inputs + 1, found.rounds + asked.rounds(answer)
                for broken in asked.broken(name, one, answer, claims):
                    first.setdefault(broken.claim, seed)
                    counts[broken.claim] += 1
                progress("assignors", found.inputs, total)
                if is_over():
                    break
            found.findings += [
                _finding(asked, name, (shape, seed, counts[claim]), claim) for claim, seed in first.items()
            ]
    return found


def _finding(asked: Asked, name: str, origin: tuple[str, int, int], claim: str) -> Finding:
    shape, seed, _ = origin
    start = asked.draw(shape, seed)
    smallest = asked.shrink(shape, start, lambda one: asked.breaks(name, one, claim) is not None)
    broken = asked.breaks(name, smallest, claim)
    assert broken is not None, "an assignor that answers one input in two ways"
    return Finding(name, *origin, smallest, asked.answer(name, smallest), broken)


def judge_one(asked: Asked, names: Sequence[str], one: Any, claims: Collection[str] = ()) -> Search:
    """One given input for every named assignor: the claims that break, not shrunk."""
    found = Search()
    for name in names:
        answer = asked.answer(name, one)
        found.inputs, found.rounds = found.inputs + 1, found.rounds + asked.rounds(answer)
        for broken in asked.broken(name, one, answer, claims):
            found.findings.append(Finding(name, "given", 0, 0, one, answer, broken))
    return found
