"""Ours compared with Kafka's: the same problems, answer by answer, and a reason for each answer that differs.

What an answer leaves open is found by asking Kafka again, with the members listed in another order and under other
names of the same order: both change nothing that an assignor may look at, only the iteration order of its hash maps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import tee
from typing import Final

from rebalance_check.integration.oracle.assignors import Assignors, OurAssignors
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.assignment.claims import broken_claims
from rebalance_check.properties.assignment.problem import RANGE, ROUNDROBIN, Answer, Partition, Problem
from rebalance_check.properties.assignment.problems import random_problem

EQUAL: Final = "equal"
HASH_ORDER: Final = "hash order"
WITHOUT_THE_MEANINGLESS: Final = "equal without claims that mean nothing"
CHOICE: Final = "another choice"
DEFECT: Final = "Kafka breaks"
OURS_BREAKS: Final = "ours breaks"

_SUFFIXES: Final = ("", "-a", "-consumer-7", "-zz", "-0f3d", "-k9", "-another", "-Q")

Shares = Mapping[str, frozenset[Partition]]


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two answers to one problem, and why they differ."""

    assignor: str
    shape: str
    seed: int
    reason: str
    problem: Problem
    theirs: Answer
    ours: Answer


@dataclass(slots=True)
class Comparison:
    """How many answers of an assignor to a shape's problems are equal or differ, for which reason, and where."""

    assignor: str
    shape: str
    inputs: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    differences: list[Divergence] = field(default_factory=list)

    @property
    def examples(self) -> dict[str, Divergence]:
        """The first difference of each reason."""
        return {one.reason: one for one in reversed(self.differences)}

    @property
    def unexplained(self) -> int:
        """Differences without an excuse: ours breaks a claim, or chooses where Kafka's own rules leave no choice."""
        chosen = (CHOICE, HASH_ORDER) if self.assignor in {RANGE, ROUNDROBIN} else (CHOICE,)
        return self.reasons[OURS_BREAKS] + sum(self.reasons[reason] for reason in chosen)


def compare(
    theirs: Assignors,
    names: Sequence[str],
    shapes: Sequence[str],
    seeds: range,
    progress: ProgressListener = ignore_progress,
) -> Iterator[Comparison]:
    """One comparison for each assignor and shape. ``progress`` receives the inputs of the present one."""
    for name in names:
        for shape in shapes:
            yield _compared(theirs, Comparison(name, shape), seeds, progress)


def _compared(theirs: Assignors, result: Comparison, seeds: range, progress: ProgressListener) -> Comparison:
    name, ours, differing = result.assignor, OurAssignors(patience_lines=None), []
    asked, kept = tee(random_problem(result.shape, seed) for seed in seeds)
    for seed, problem, their in zip(seeds, kept, theirs.answer_all(name, asked), strict=True):
        our = ours.answer(name, problem)
        result.inputs += 1
        progress(f"{name} {result.shape}", result.inputs, len(seeds))
        if their.failure or our.failure or shares(their) != shares(our) or set(their.counts().values()) - {1}:
            differing.append((seed, problem, their, our))
    result.reasons[EQUAL] = result.inputs - len(differing)
    for seed, problem, their, our in differing:
        reason = reason_for(theirs, name, problem, their, our)
        result.reasons[reason] += 1
        result.differences.append(Divergence(name, result.shape, seed, reason, problem, their, our))
    return result


def shares(answer: Answer) -> Shares:
    """What everybody gets; the order of a list means nothing."""
    return {name: frozenset(partitions) for name, partitions in answer.assigned.items()}


def reason_for(theirs: Assignors, name: str, problem: Problem, their: Answer, our: Answer) -> str:
    """Why two answers differ: who breaks which claim, or what the claims leave open."""
    if next(broken_claims(name, problem, our), None) is not None:
        return OURS_BREAKS
    broken = next(broken_claims(name, problem, their), None)
    if broken is not None:
        return f"{DEFECT} {broken.claim}"
    if equal_to_the_sensible(theirs, name, problem, our):
        return WITHOUT_THE_MEANINGLESS
    if depends_on_hash_order(theirs, name, problem, their):
        return HASH_ORDER
    return CHOICE


def equal_to_the_sensible(theirs: Assignors, name: str, problem: Problem, our: Answer) -> bool:
    """Whether ours is what Kafka answers when the problem leaves out what means nothing."""
    (answer,) = theirs.answer_all(name, [problem.sensible()])
    return not answer.failure and shares(answer) == shares(our)


def depends_on_hash_order(theirs: Assignors, name: str, problem: Problem, their: Answer) -> bool:
    """Whether members of other names of the same order, or listed in another order, get something else."""
    variants = list(_variants(problem))
    answers = theirs.answer_all(name, [variant for variant, _ in variants])
    return any(
        shares(answer) != {renamed[member]: share for member, share in shares(their).items()}
        for answer, (_, renamed) in zip(answers, variants, strict=True)
    )


def _variants(problem: Problem) -> Iterable[tuple[Problem, Mapping[str, str]]]:
    for suffix in _SUFFIXES:
        renamed = {name: f"{name}{suffix}" for name in problem.members}
        members = {renamed[name]: member for name, member in problem.members.items()}
        yield replace(problem, members=members), renamed
        yield replace(problem, members=dict(reversed(members.items()))), renamed
