"""Several rounds of one group, and claims about all of them together: a member comes, then nothing happens any more.

A claim about one answer (`claims`) cannot see the memory of an assignor, nor how long a group goes on moving its
partitions. A course begins without claims, with all members but the last; then the last one comes, and rounds follow
until one changes nothing. Another member leads every time, as happens where leaders go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.properties.assignment.claims import Broken, claim, sticky
from rebalance_check.properties.assignment.problem import COOPERATIVE_STICKY, STICKY_FAMILY, Answer, Problem

MOST_ROUNDS: Final = 6
"""After so many rounds a course ends, stable or not."""


@dataclass(frozen=True, slots=True)
class Round:
    """The problem of the leader and its answer; ``without_memory``: of an assignor that never assigned before."""

    problem: Problem
    answer: Answer
    without_memory: Answer


@dataclass(frozen=True, slots=True)
class Course:
    """The rounds of one group; the first is without its last member."""

    assignor: str
    rounds: tuple[Round, ...]


def broken_course_claims(course: Course) -> list[Broken]:
    """The claims that a course breaks, in the order of `COURSE_CLAIMS`; nothing is asked of one that failed."""
    failure = next((one.answer.failure for one in course.rounds if one.answer.failure), "")
    if failure:
        return [Broken("answers", failure)]
    found = ((one.name, one.check(course)) for one in COURSE_CLAIMS if course.assignor in one.assignors)
    return [Broken(name, finding) for name, finding in found if finding]


@claim("When a member came, an eager group is stable after one round, a cooperative one after two (KIP-429).")
def stabilises(course: Course) -> str:
    """An eager group is stable after the round in which the member came, a cooperative one after the next round."""
    last = 2 if course.assignor == COOPERATIVE_STICKY else 1
    answers = [dict(one.answer.assigned) for one in course.rounds]
    for number in range(last, len(answers) - 1):
        if answers[number] != answers[number + 1]:
            moved = sorted(name for name in answers[number] if answers[number][name] != answers[number + 1][name])
            return f"round {number + 1} should be the last to change anything, and then {moved} get other partitions"
    return ""


@claim(
    "As much stays with the member that the round before gave it to as balance allows.",
    *STICKY_FAMILY,
)
def sticky_over_rounds(course: Course) -> str:
    """A partition has the owner that the round before gave it to."""
    for number, one in enumerate(course.rounds):
        if finding := sticky.check(course.assignor, one.problem, one.answer):
            return f"round {number + 1}: {finding}"
    return ""


@claim("An answer is a function of the subscriptions: which member leads makes no difference.")
def any_leader(course: Course) -> str:
    for number, one in enumerate(course.rounds):
        if one.answer.assigned != one.without_memory.assigned:
            return f"in round {number + 1} the leader's answer depends on its assignments before"
    return ""


COURSE_CLAIMS: Final = (any_leader, stabilises, sticky_over_rounds)
"""All claims about courses."""
