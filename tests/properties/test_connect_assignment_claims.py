"""Claims about rounds of Connect groups: ours keep them; each is broken by a course that is changed in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from rebalance_check.integration.comparison.connect_assignors.assigned_group import run_history
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.search import protocol_of
from rebalance_check.properties.assignment.connect_claims import CONNECT_CLAIMS, broken_connect_claims
from rebalance_check.properties.assignment.connect_histories import SHAPES, random_history
from rebalance_check.properties.assignment.connect_rounds import (
    CONNECT_ASSIGNORS,
    CONNECT_INCREMENTAL,
    Course,
)
from rebalance_check.properties.assignment.connect_steps import Item, read_history, read_item

TWO = "configure c1 2; join w1; join w2; round"
LOST = f"{TWO}; leave w2; round; wait 10000; join w3; round"
EAGER = f"{TWO} eager"
SUCCESSIVE = "configure c1 4; configure c2 4; join w1; round; join w2; round; join w3; round"


ALL = ""
"""The beginning of the name of every worker."""


def items(*names: str) -> tuple[Item, ...]:
    return tuple(map(read_item, names))


def changed(course: Course, number: int, **changes: Any) -> Course:
    """The course with another round of that number (from 0; -1 is the last)."""
    rounds = list(course.rounds)
    rounds[number] = replace(rounds[number], **changes)
    return replace(course, rounds=tuple(rounds))


def given(course: Course, number: int, worker: str, **changes: Any) -> Course:
    """The course with another answer to one worker, or to all, in one round."""
    answers = {
        member: replace(answer, **changes) if member.startswith(worker) else answer
        for member, answer in course.rounds[number].answers.items()
    }
    return changed(course, number, answers=answers)


def scheduled(course: Course, number: int, **changes: Any) -> Course:
    """The course with another memory after one round."""
    return changed(course, number, after=msgspec.structs.replace(course.rounds[number].after, **changes))


def last_claims(course: Course, **claims: tuple[str, ...]) -> Course:
    """The course whose members claim this at the end."""
    last = course.rounds[-1]
    members = {member: items(*claims.get(name, ())) for member, name in last.workers.items()}
    return changed(given(course, -1, ALL, assigned=(), revoked=()), -1, claims=members)


BREAKING: dict[str, tuple[str, Callable[[Course], Course]]] = {
    "answers": (TWO, lambda one: changed(one, 0, failure="it threw")),
    "members": (TWO, lambda one: changed(one, 0, answers={})),
    "agreement": (LOST, lambda one: given(one, 1, "w1", leader="w9")),
    "mismatch": (f"{TWO}; round behind", lambda one: given(one, 1, "w2", delay_ms=1)),
    "offset_covers": (TWO, lambda one: given(one, 0, "w1", config_offset=0)),
    "eager_complete": (EAGER, lambda one: given(one, 0, "w1", assigned=())),
    "eager_balanced": (
        EAGER, lambda one: given(given(one, 0, "w1", assigned=()), 0, "w2", assigned=items("c1", "c1-0", "c1-1"))
    ),
    "given_is_free": (LOST, lambda one: given(one, 1, "w1", assigned=items("c1"))),
    "revoked_is_claimed": (LOST, lambda one: given(one, 1, "w1", revoked=items("c7"))),
    "revoked_waits": (TWO, lambda one: given(one, 0, "w1", revoked=items("c1"))),
    "deleted_is_revoked": (f"{TWO}; delete c1; round", lambda one: given(one, 1, ALL, revoked=())),
    "duplicates_end": (
        f"{TWO}; cut-off w2; return w2; join w3 claiming c1 c1-0; round", lambda one: given(one, 1, ALL, revoked=())
    ),
    "one_owner": (TWO, lambda one: given(one, 0, ALL, assigned=items("c1"))),
    "owners_match": (TWO, lambda one: changed(one, 0, owners={("c1", -1): "w9"})),
    "delay_in_bounds": (LOST, lambda one: given(one, 1, ALL, delay_ms=300_001)),
    "delay_is_scheduled": (LOST, lambda one: scheduled(one, 1, scheduled_rebalance_ms=0)),
    "delay_keeps_work": (LOST, lambda one: given(one, 1, "w1", revoked=items("c1"))),
    "new_work_is_placed": (f"{LOST}; configure c2 1; round", lambda one: given(one, 3, ALL, assigned=())),
    "lost_work_waits": (LOST, lambda one: given(one, 1, "w1", assigned=items("c1-1"))),
    "waits_only_for_the_departed": (TWO, lambda one: given(one, 0, ALL, assigned=())),
    "successive_revocations": (SUCCESSIVE, lambda one: scheduled(one, 2, successive_revocations=5)),
    "revokes_to_the_ceiling": (SUCCESSIVE, lambda one: given(one, 1, "w1", revoked=items("c1-0"))),
    "candidates_share": (
        "configure c1 4; join w1; join w2; round; leave w2; round; join w3; join w4; round; wait 300000; round",
        lambda one: given(one, 3, "w3", assigned=items("c1-1", "c1-2", "c1-3")),
    ),
    "stabilises": (TWO, lambda one: replace(one, quiet=False)),
    "complete": (TWO, lambda one: last_claims(one, w1=("c1", "c1-0"))),
    "balanced": (TWO, lambda one: last_claims(one, w1=("c1", "c1-0", "c1-1"))),
    "nothing_left": (TWO, lambda one: last_claims(one, w1=("c1", "c1-0"), w2=("c1-1", "c8"))),
    "spread": (TWO, lambda one: last_claims(one, w1=("c1", "c1-0", "c1-1"))),
}  # fmt: skip
"""By claim: a history whose course holds, and the change that breaks the claim."""


def broken(course: Course, name: str) -> set[str]:
    return {one.claim for one in broken_connect_claims(CONNECT_INCREMENTAL, course, (name,))}


@pytest.mark.parametrize("assignor", CONNECT_ASSIGNORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_our_assignors_break_no_claim(assignor: str, shape: str) -> None:
    for seed in range(50):
        course = run_history(OurConnectAssignors(), random_history(shape, seed), protocol_of(assignor))
        assert list(broken_connect_claims(assignor, course)) == [], seed


@pytest.mark.parametrize("claim", CONNECT_CLAIMS, ids=lambda claim: claim.name)
def test_each_claim_holds_in_a_course__and_breaks_when_that_is_changed(claim: Any) -> None:
    text, change = BREAKING[claim.name]
    course = run_history(OurConnectAssignors(), read_history(text), protocol_of(CONNECT_INCREMENTAL))
    assert broken(course, claim.name) == set()
    assert broken(change(course), claim.name) == {claim.name}


def test_a_history_is_read_as_it_is_written() -> None:
    for shape in SHAPES:
        for seed in range(40):
            history = random_history(shape, seed)
            assert read_history("\n".join(history.lines)) == history
