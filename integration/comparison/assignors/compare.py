"""Ours and Kafka's assignors get the same random problems; every difference gets a reason, or nothing explains it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee
from typing import Any, Final, NamedTuple

from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, Field, differing
from rebalance_check.integration.comparison.assignors.assignors import Assignors, OurAssignors
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.assignment.claims import broken_claims
from rebalance_check.properties.assignment.problem import (
    RANGE,
    ROUNDROBIN,
    Answer,
    Partition,
    Problem,
    partition_name,
    problem_json,
)
from rebalance_check.properties.assignment.problems import fits, random_problem
from rebalance_check.properties.assignment.shrink import shrink

HASH_ORDER: Final = "hash order"
WITHOUT_THE_MEANINGLESS: Final = "equal without claims that mean nothing"
CHOICE: Final = "another choice"
DEFECT: Final = "Kafka breaks"
OURS_BREAKS: Final = "ours breaks"

_SUFFIXES: Final = ("", "-a", "-consumer-7", "-zz", "-0f3d", "-k9", "-another", "-Q")

Shares = Mapping[str, frozenset[Partition]]


class Asked(NamedTuple):
    """A problem, and the name of the assignor to which it was put."""

    assignor: str
    problem: Problem

    def __str__(self) -> str:
        """The problem as ``rebalance-check assignors --input`` takes it."""
        return f"{self.assignor} {problem_json(self.problem)}"


def compare(
    theirs: Assignors,
    names: Sequence[str],
    shapes: Sequence[str],
    seeds: range,
    progress: ProgressListener = ignore_progress,
) -> Iterator[Compared]:
    """One comparison for each assignor and shape. ``progress`` receives the inputs of the present one."""
    for name in names:
        for shape in shapes:
            yield _compared(theirs, name, shape, seeds, progress)


def _compared(theirs: Assignors, name: str, shape: str, seeds: range, progress: ProgressListener) -> Compared:
    result = Compared((theirs.name, OurAssignors.name), f"{name}, {shape}")
    ours, found = OurAssignors(patience_lines=None), []
    asked, kept = tee(random_problem(shape, seed) for seed in seeds)
    for seed, problem, their in zip(seeds, kept, theirs.answer_all(name, asked), strict=True):
        result.counts["inputs"] += 1
        progress(result.about, result.counts["inputs"], len(seeds))
        one = _difference(theirs.name, Asked(name, problem), their, ours.answer(name, problem))
        if one is not None:
            found.append(replace(one, origin=f"{shape}, seed {seed}"))
    for one in found:
        reason = reason_for(theirs, one)
        if _is_explained(name, reason):
            result.note(one, reason)
        else:
            result.note(_smaller(theirs, shape, replace(one, kind=reason)))
    return result


def _difference(whose: str, asked: Asked, their: Answer, our: Answer) -> Difference | None:
    """The differences of two answers; a partition that is given twice to one member differs from all."""
    twice = set(their.counts().values()) - {1}
    if not (their.failure or our.failure or twice or shares(their) != shares(our)):
        return None
    fields = differing(_shown(their), _shown(our)) or (Field("given twice", twice, twice),)
    return Difference((whose, OurAssignors.name), (asked,), fields, start=(their, our))


def _shown(answer: Answer) -> dict[str, Any]:
    given = {name: sorted(map(partition_name, partitions)) for name, partitions in answer.assigned.items()}
    return {"failure": answer.failure} if answer.failure else given


def _is_explained(assignor: str, reason: str) -> bool:
    """Not where ours breaks a claim, or chooses where Kafka's own rules leave no choice."""
    open_choices = () if assignor in {RANGE, ROUNDROBIN} else (HASH_ORDER,)
    return reason in {WITHOUT_THE_MEANINGLESS, *open_choices} or reason.startswith(DEFECT)


def _smaller(theirs: Assignors, shape: str, found: Difference) -> Difference:
    """The smallest problem of the shape that differs for the same reason."""
    [asked] = found.steps

    def again(problem: Problem) -> Difference | None:
        (their,) = theirs.answer_all(asked.assignor, [problem])
        our = OurAssignors(patience_lines=None).answer(asked.assignor, problem)
        return _difference(theirs.name, Asked(asked.assignor, problem), their, our)

    def still_differs(problem: Problem) -> bool:
        one = again(problem) if fits(shape, problem) else None
        return one is not None and reason_for(theirs, one) == found.kind

    smallest = again(shrink(asked.problem, still_differs))
    return found if smallest is None else replace(smallest, origin=found.origin, kind=found.kind)


def shares(answer: Answer) -> Shares:
    """The share of each member; the order of a list means nothing."""
    return {name: frozenset(partitions) for name, partitions in answer.assigned.items()}


def reason_for(theirs: Assignors, found: Difference) -> str:
    """Why two answers differ: who breaks which claim, or which choice the claims leave open."""
    (their, our), [(name, problem)] = found.start, found.steps
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
    """Whether ours is Kafka's answer when the problem leaves out the parts without meaning."""
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
