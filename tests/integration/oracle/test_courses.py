"""Courses of several rounds: what our own assignors keep to, and what breaks each claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.integration.comparison.assignors.courses import run_course
from rebalance_check.properties.assignment.courses import COURSE_CLAIMS, Course, broken_course_claims
from rebalance_check.properties.assignment.problem import ASSIGNORS, Answer, Member, Problem
from rebalance_check.properties.assignment.problems import random_problem
from rebalance_check.properties.machines.endless import DoesNotEnd, within

PAIR = Problem({"a": 2}, {"m0": Member(("a",)), "m1": Member(("a",))})
BOTH = {"m0": (("a", 0),), "m1": (("a", 1),)}
SWAPPED = {"m0": (("a", 1),), "m1": (("a", 0),)}


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_our_assignors_break_no_claim_about_courses(assignor: str) -> None:
    for seed in range(80):
        assert broken_course_claims(run_course(assignor, random_problem("tame", seed))) == []


def broken(course: Course) -> set[str]:
    return {one.claim for one in broken_course_claims(course)}


def altered(course: Course, number: int, **changes: Any) -> Course:
    rounds = list(course.rounds)
    rounds[number] = replace(rounds[number], **changes)
    return replace(course, rounds=tuple(rounds))


def test_each_claim_about_courses_has_a_course_that_breaks_it() -> None:
    course = run_course("sticky", PAIR)
    assert broken(course) == set()
    assert broken(altered(course, 2, without_memory=Answer(SWAPPED))) == {"any_leader"}
    moved = altered(course, 3, answer=Answer(SWAPPED), without_memory=Answer(SWAPPED))
    assert broken(moved) == {"stabilises", "sticky_over_rounds"}
    assert broken(altered(course, 1, answer=Answer({}, "it threw"))) == {"answers"}
    assert {claim.name for claim in COURSE_CLAIMS} == {"any_leader", "stabilises", "sticky_over_rounds"}


def test_a_cooperative_group_has_one_round_more_to_settle() -> None:
    course = run_course("cooperative-sticky", PAIR)
    given = [dict(one.answer.assigned) for one in course.rounds]
    assert given[1] != given[2] == given[3] == BOTH
    assert broken(course) == set()


def test_what_does_not_end_is_stopped() -> None:
    def forever() -> None:
        while True:
            pass

    with pytest.raises(DoesNotEnd, match="no answer within 1,000 lines"):
        within(1_000, forever)
    assert within(1_000, lambda: 7) == 7
