"""Searches: seeds in, broken claims out, each with a problem that has been shrunk as far as it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee

from rebalance_check.integration.oracle.assignors import Assignors
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.assignment.claims import OF_RACKS, Broken, broken_claims
from rebalance_check.properties.assignment.problem import Answer, Problem
from rebalance_check.properties.assignment.problems import fits, random_problem
from rebalance_check.properties.assignment.shrink import shrink


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom a seed's problem of a shape was put to."""

    assignor: str
    shape: str
    seed: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken claim: where it was found, how often in that search, and the smallest problem that breaks it."""

    origin: Origin
    count: int
    problem: Problem
    answer: Answer
    broken: Broken


def never() -> bool:
    """A search without a limit of time."""
    return False


@dataclass(slots=True)
class BrokenClaims:
    """The claims that broke so far: the first seed of each, and how many inputs broke it."""

    first: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def note(self, seed: int, broken: Broken) -> None:
        """A claim broke on the input of a seed."""
        self.first.setdefault(broken.claim, seed)
        self.counts[broken.claim] += 1


@dataclass(slots=True)
class Search:
    """What a search did and found: one finding for each assignor, shape and claim."""

    inputs: int = 0
    findings: list[Finding] = field(default_factory=list)


def search(
    assignors: Assignors,
    names: Sequence[str],
    shapes: Sequence[str],
    seeds: range,
    *,
    claims: Collection[str] = (),
    progress: ProgressListener = ignore_progress,
    is_over: Callable[[], bool] = never,
) -> Search:
    """Ask every named assignor about every seed's problem of every shape.

    ``claims`` are the only ones that are judged, all when there are none; ``progress`` receives the inputs so far. No
    input is begun once ``is_over`` says so.
    """
    found = Search()
    total = len(names) * len(shapes) * len(seeds)
    for name in names:
        for shape in shapes:
            noted = BrokenClaims()
            for seed, broken in _broken(assignors, name, shape, seeds, claims):
                found.inputs += 1
                if broken is not None:
                    noted.note(seed, broken)
                progress("assignors", found.inputs, total)
                if is_over():
                    break
            found.findings += [
                _finding(assignors, Origin(name, shape, seed), claim, noted.counts[claim])
                for claim, seed in noted.first.items()
            ]
    return found


def _broken(
    assignors: Assignors, name: str, shape: str, seeds: range, claims: Collection[str]
) -> Iterator[tuple[int, Broken | None]]:
    """The first claim that each answer breaks, which explains the others."""
    asked, kept = tee(random_problem(shape, seed) for seed in seeds)
    for seed, problem, answer in zip(seeds, kept, assignors.answer_all(name, asked), strict=True):
        yield seed, _first(_broken_of(assignors, name, problem, answer), claims)


def _broken_of(assignors: Assignors, name: str, problem: Problem, answer: Answer) -> Iterator[Broken]:
    """The claims that an answer breaks; a release without racks breaks none about them."""
    broken = broken_claims(name, problem, answer)
    return broken if assignors.knows_racks else (one for one in broken if one.claim not in OF_RACKS)


def _first(broken: Iterable[Broken], claims: Collection[str]) -> Broken | None:
    """The first of the claims that are judged."""
    return next((one for one in broken if not claims or one.claim in claims), None)


def _finding(assignors: Assignors, origin: Origin, claim: str, count: int) -> Finding:
    def broken(problem: Problem) -> Broken | None:
        return breaks(assignors, origin.assignor, problem, claim)

    start = random_problem(origin.shape, origin.seed)
    problem = shrink(start, lambda one: fits(origin.shape, one) and broken(one) is not None)
    answer = next(iter(assignors.answer_all(origin.assignor, [problem])))
    found = broken(problem)
    assert found is not None, "an assignor that answers one problem in two ways"
    return Finding(origin, count, problem, answer, found)


def breaks(assignors: Assignors, name: str, problem: Problem, claim: str) -> Broken | None:
    """How an answer to a problem breaks a claim; None when it does not."""
    answer = next(iter(assignors.answer_all(name, [problem])))
    return _first(broken_claims(name, problem, answer), (claim,))


def judge_one(assignors: Assignors, names: Sequence[str], problem: Problem, claims: Collection[str] = ()) -> Search:
    """One given problem for every named assignor: the first claim that each answer breaks, not shrunk."""
    found = Search()
    for name in names:
        answer = next(iter(assignors.answer_all(name, [problem])))
        found.inputs += 1
        broken = _first(_broken_of(assignors, name, problem, answer), claims)
        if broken is not None:
            found.findings.append(Finding(Origin(name, "given", 0), 1, problem, answer, broken))
    return found
