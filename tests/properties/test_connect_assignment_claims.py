"""Claims about rounds of Connect groups: ours keep them; each is broken by a course that is changed in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from rebalance_check.integration.oracle.connect.assigned_group import run_history
from rebalance_check.integration.oracle.connect.ours import OurConnectAssignors
from rebalance_check.integration.oracle.connect.search import protocol_of
from rebalance_check.properties.assignment.connect_claims import CONNECT_CLAIMS, broken_connect_claims
from rebalance_check.properties.assignment.connect_histories import SHAPES, random_history
from rebalance_check.properties.assignment.connect_rounds import (
    CONNECT_ASSIGNORS,
    CONNECT_EAGER,
    CONNECT_INCREMENTAL,
    Course,
    MemberAnswer,
)
from rebalance_check.properties.assignment.connect_steps import Item, read_history, read_item

TWO = "configure c1 2; join w1; join w2; round"
LOST = f"{TWO}; leave w2; round; wait 10000; join w3; round"
TWICE = f"{TWO}; cut-off w2; return w2; join w3 claiming c1 c1-0; round"
MISMATCH = f"{TWO}; round behind"
SUCCESSIVE = "configure c1 4; configure c2 4; join w1; round; join w2; round; join w3; round"


def course_of(text: str, assignor: str = CONNECT_INCREMENTAL) -> Course:
    return run_history(OurConnectAssignors(), read_history(text), protocol_of(assignor))


def items(*names: str) -> tuple[Item, ...]:
    return tuple(map(read_item, names))


def changed(course: Course, number: int, **changes: Any) -> Course:
    """The course with another round of that number (from 0; -1 is the last)."""
    rounds = list(course.rounds)
    rounds[number] = replace(rounds[number], **changes)
    return replace(course, rounds=tuple(rounds))


def answering(course: Course, number: int, change: Callable[[str, MemberAnswer], MemberAnswer]) -> Course:
    """The course with other answers in one round."""
    answers = {member: change(member, answer) for member, answer in course.rounds[number].answers.items()}
    return changed(course, number, answers=answers)


def given(course: Course, number: int, worker: str, **changes: Any) -> Course:
    """The course with another answer to one worker in one round."""
    return answering(course, number, lambda member, one: replace(one, **changes) if member.startswith(worker) else one)


def scheduled(course: Course, number: int, **changes: Any) -> Course:
    """The course with another memory after one round."""
    return changed(course, number, after=msgspec.structs.replace(course.rounds[number].after, **changes))


def last_claims(course: Course, **claims: tuple[str, ...]) -> Course:
    """The course whose members claim this at the end."""
    last = course.rounds[-1]
    members = {member: items(*claims.get(name, ())) for member, name in last.workers.items()}
    idle = answering(course, -1, lambda _, answer: replace(answer, assigned=(), revoked=()))
    return changed(idle, -1, claims=members)


BREAKING: dict[str, tuple[str, str, Callable[[Course], Course]]] = {
    "answers": (CONNECT_INCREMENTAL, TWO, lambda one: changed(one, 0, failure="it threw")),
    "members": (CONNECT_EAGER, TWO, lambda one: changed(one, 0, answers={})),
    "agreement": (CONNECT_INCREMENTAL, LOST, lambda one: given(one, 1, "w1", leader="w9")),
    "mismatch": (CONNECT_INCREMENTAL, MISMATCH, lambda one: given(one, 1, "w2", delay_ms=1)),
    "offset_covers": (CONNECT_EAGER, TWO, lambda one: given(one, 0, "w1", config_offset=0)),
    "eager_complete": (CONNECT_EAGER, TWO, lambda one: given(one, 0, "w1", assigned=())),
    "eager_balanced": (
        CONNECT_EAGER,
        TWO,
        lambda one: given(given(one, 0, "w1", assigned=()), 0, "w2", assigned=items("c1", "c1-0", "c1-1")),
    ),
    "given_is_free": (CONNECT_INCREMENTAL, LOST, lambda one: given(one, 1, "w1", assigned=items("c1"))),
    "revoked_is_claimed": (CONNECT_INCREMENTAL, LOST, lambda one: given(one, 1, "w1", revoked=items("c7"))),
    "revoked_waits": (
        CONNECT_INCREMENTAL,
        TWO,
        lambda one: given(one, 0, "w1", revoked=items("c1")),
    ),
    "deleted_is_revoked": (
        CONNECT_INCREMENTAL,
        f"{TWO}; delete c1; round",
        lambda one: answering(one, 1, lambda _, answer: replace(answer, revoked=())),
    ),
    "duplicates_end": (
        CONNECT_INCREMENTAL,
        TWICE,
        lambda one: answering(one, 1, lambda _, answer: replace(answer, revoked=())),
    ),
    "one_owner": (
        CONNECT_INCREMENTAL,
        TWO,
        lambda one: answering(one, 0, lambda _, answer: replace(answer, assigned=items("c1"))),
    ),
    "owners_match": (CONNECT_INCREMENTAL, TWO, lambda one: changed(one, 0, owners={("c1", -1): "w9"})),
    "delay_in_bounds": (
        CONNECT_INCREMENTAL,
        LOST,
        lambda one: answering(one, 1, lambda _, answer: replace(answer, delay_ms=300_001)),
    ),
    "delay_is_scheduled": (CONNECT_INCREMENTAL, LOST, lambda one: scheduled(one, 1, scheduled_rebalance_ms=0)),
    "delay_keeps_work": (CONNECT_INCREMENTAL, LOST, lambda one: given(one, 1, "w1", revoked=items("c1"))),
    "new_work_is_placed": (
        CONNECT_INCREMENTAL,
        f"{LOST}; configure c2 1; round",
        lambda one: answering(one, 3, lambda _, answer: replace(answer, assigned=())),
    ),
    "lost_work_waits": (CONNECT_INCREMENTAL, LOST, lambda one: given(one, 1, "w1", assigned=items("c1-1"))),
    "waits_only_for_the_departed": (
        CONNECT_INCREMENTAL,
        TWO,
        lambda one: answering(one, 0, lambda _, answer: replace(answer, assigned=())),
    ),
    "successive_revocations": (
        CONNECT_INCREMENTAL,
        SUCCESSIVE,
        lambda one: scheduled(one, 2, successive_revocations=5),
    ),
    "revokes_to_the_ceiling": (
        CONNECT_INCREMENTAL,
        SUCCESSIVE,
        lambda one: given(one, 1, "w1", revoked=items("c1-0")),
    ),
    "candidates_share": (
        CONNECT_INCREMENTAL,
        "configure c1 4; join w1; join w2; round; leave w2; round; join w3; join w4; round; wait 300000; round",
        lambda one: given(one, 3, "w3", assigned=items("c1-1", "c1-2", "c1-3")),
    ),
    "stabilises": (CONNECT_EAGER, TWO, lambda one: replace(one, quiet=False)),
    "complete": (CONNECT_INCREMENTAL, TWO, lambda one: last_claims(one, w1=("c1", "c1-0"))),
    "balanced": (CONNECT_INCREMENTAL, TWO, lambda one: last_claims(one, w1=("c1", "c1-0", "c1-1"))),
    "nothing_left": (CONNECT_INCREMENTAL, TWO, lambda one: last_claims(one, w1=("c1", "c1-0"), w2=("c1-1", "c8"))),
    "spread": (CONNECT_INCREMENTAL, TWO, lambda one: last_claims(one, w1=("c1", "c1-0", "c1-1"))),
}
"""By claim: an assignor, a history whose course holds, and the change that breaks the claim."""


def broken(assignor: str, course: Course, name: str) -> set[str]:
    return {one.claim for one in broken_connect_claims(assignor, course, (name,))}


@pytest.mark.parametrize("assignor", CONNECT_ASSIGNORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_our_assignors_break_no_claim(assignor: str, shape: str) -> None:
    for seed in range(50):
        course = run_history(OurConnectAssignors(), random_history(shape, seed), protocol_of(assignor))
        assert list(broken_connect_claims(assignor, course)) == [], seed


@pytest.mark.parametrize("claim", CONNECT_CLAIMS, ids=lambda claim: claim.name)
def test_each_claim_holds_in_a_course__and_breaks_when_that_is_changed(claim: Any) -> None:
    assignor, text, change = BREAKING[claim.name]
    course = course_of(text, assignor)
    assert assignor in claim.assignors
    assert broken(assignor, course, claim.name) == set()
    assert broken(assignor, change(course), claim.name) == {claim.name}


def test_a_history_is_read_as_it_is_written() -> None:
    for shape in SHAPES:
        for seed in range(40):
            history = random_history(shape, seed)
            assert read_history("\n".join(history.lines)) == history
