"""What must hold of the rounds of a Connect group, claim by claim.

Sources: KIP-415 with its later corrections, and the two classes that implement ``ConnectAssignor``. A claim looks at a
course and at nothing else; where it holds only under a premise, the premise is its first line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import chain
from typing import Final

from rebalance_check.properties.assignment.claims import AssignmentClaim, Broken
from rebalance_check.properties.assignment.connect_balance import (
    balanced,
    candidates_share,
    complete,
    eager_balanced,
    nothing_left,
    revokes_to_the_ceiling,
    spread,
    stabilises,
)
from rebalance_check.properties.assignment.connect_delay import (
    delay_in_bounds,
    delay_is_scheduled,
    delay_keeps_work,
    lost_work_waits,
    new_work_is_placed,
    remembered,
    successive_revocations,
    waits_only_for_the_departed,
)
from rebalance_check.properties.assignment.connect_rounds import Course, CourseRound
from rebalance_check.properties.assignment.connect_steps import item_names

CONNECT_EAGER: Final = "connect-eager"
CONNECT_INCREMENTAL: Final = "connect-incremental"
CONNECT_ASSIGNORS: Final = (CONNECT_EAGER, CONNECT_INCREMENTAL)

_BOTH: Final = frozenset(CONNECT_ASSIGNORS)
_EAGER: Final = frozenset({CONNECT_EAGER})
_INCREMENTAL: Final = frozenset({CONNECT_INCREMENTAL})


def broken_connect_claims(assignor: str, course: Course, names: tuple[str, ...] = ()) -> Iterator[Broken]:
    """The claims that a course breaks, in the order of `CONNECT_CLAIMS`; of one that failed, nothing else is asked.

    ``names`` are the only claims that are judged; without them all are that need not be named.
    """
    for claim in CONNECT_CLAIMS:
        wanted = claim.name in names if names else not claim.on_request
        if wanted and assignor in claim.assignors and (finding := claim.check(course)):
            yield Broken(claim.name, finding)
        if course.failure:
            return


def _each(check: Callable[[CourseRound], str]) -> Callable[[Course], str]:
    """The check of a course: of every round in which the leader assigned incrementally."""

    @wraps(check)
    def of_course(course: Course) -> str:
        rounds = (one for one in course.rounds if not (one.eager or one.mismatch))
        return next((f"round {one.generation}: {what}" for one in rounds if (what := check(one))), "")

    return of_course


def _answers(course: Course) -> str:
    """An assignor answers whatever workers claim: it throws nothing."""
    return course.failure


def _members(course: Course) -> str:
    """Every member of the round gets an assignment, and no other."""
    for one in course.rounds:
        if one.answers.keys() != one.claims.keys():
            return f"round {one.generation}: members {sorted(one.claims)}, assignments for {sorted(one.answers)}"
    return ""


def _agreement(course: Course) -> str:
    """All members get the same error, leader, leader URL, config offset and delay; the leader is one of them."""
    for one in course.rounds:
        answers = one.answers.values()
        said = {(each.error, each.leader, each.leader_url, each.config_offset, each.delay_ms) for each in answers}
        if len(said) > 1 or any(each.leader != one.leader for each in answers):
            return f"round {one.generation}: {one.leader} leads, the members get {sorted(map(str, said))}"
    return ""


def _mismatch(course: Course) -> str:
    """CONFIG_MISMATCH assigns and revokes nothing, and names the furthest offset, which the leader has not read."""
    for one in course.rounds:
        furthest = max(one.offsets.values())
        for member, answer in sorted(one.answers.items()):
            if not answer.error:
                continue
            if answer.assigned or answer.revoked or answer.delay_ms:
                return f"round {one.generation}: {member} gets an error, and also work, revocations or a delay"
            if not answer.config_offset == furthest > one.leader_offset:
                return f"round {one.generation}: the error names {answer.config_offset}, {furthest} was reported"
    return ""


def _offset_covers(course: Course) -> str:
    """The assignment's config offset is at least what each member read."""
    for one in course.rounds:
        for answer in one.answers.values():
            if not answer.error and answer.config_offset < max(one.offsets.values()):
                return f"round {one.generation}: offset {answer.config_offset}, a member read {one.offsets}"
    return ""


def _eager_complete(course: Course) -> str:
    """An eager round gives all that is configured, each item once."""
    for one in course.rounds:
        if one.eager and not one.mismatch:
            given = list(chain.from_iterable(answer.assigned for answer in one.answers.values()))
            if sorted(given) != sorted(one.configured):
                return f"round {one.generation}: given {item_names(sorted(given))}"
    return ""


def _revoked_is_claimed(one: CourseRound) -> str:
    """A worker is asked to give up what it claims, or what was lost and dealt to it in the same round.

    Or was lost and dealt in this round, when the delay ended.
    """
    expired = 0 < one.before.scheduled_rebalance_ms <= one.now_ms
    for member, answer in sorted(one.answers.items()):
        for item in answer.revoked:
            if item not in one.claims[member] and not (expired and item not in one.claimed):
                return f"{item_names([item])} is revoked from {member}, which does not claim it"
    return ""


def _given_is_free(one: CourseRound) -> str:
    """Nothing is given that a member still claims."""
    held = one.assigned & one.claimed.keys()
    return f"{item_names(sorted(held))} is given although a member claims it" if held else ""


def _revoked_waits(one: CourseRound) -> str:
    """What is revoked is given to no worker in that round."""
    both = one.assigned & one.revoked
    return f"{item_names(sorted(both))} is revoked and given in one round" if both else ""


def _deleted_is_revoked(one: CourseRound) -> str:
    """What the leader assigned and is no longer configured is revoked.

    Where the leader's last round was completed, so that its memory counts.
    """
    kept = frozenset(chain.from_iterable(one.next_claims().values())) - one.configured
    known = sorted(kept & remembered(one)) if one.completed_before else []
    return f"{item_names(known)} is not configured, and no worker is asked to give it up" if known else ""


def _one_owner(one: CourseRound) -> str:
    """Where no two claims overlap, none do after the round: everything has one owner."""
    if one.duplicated:
        return ""
    owner: dict[object, str] = {}
    for member, claim in sorted(one.next_claims().items()):
        for item in sorted(claim):
            if item in owner:
                return f"{item_names([item])} belongs to {owner[item]} and {member}"
            owner[item] = member
    return ""


def _duplicates_end(one: CourseRound) -> str:
    """What several workers claim is taken from all of them (KAFKA-9841)."""
    for member, claim in sorted(one.next_claims().items()):
        kept = claim & one.duplicated
        if kept:
            return f"{member} keeps {item_names(sorted(kept))}, which another member claims, too"
    return ""


def _owners_match(one: CourseRound) -> str:
    """The leader's map of owners is what workers run after the round.

    Of an item that two members claim any may be named.
    """
    owner = {item: member for member, claim in one.next_claims().items() for item in claim}
    wrong = sorted(item for item in owner.keys() | one.owners.keys() if owner.get(item) != one.owners.get(item))
    if wrong and not one.duplicated:
        named = [f"{item_names([item])} to {one.owners.get(item, 'no worker')}" for item in wrong]
        return f"the leader routes {', '.join(named)}, which is not where it runs"
    return ""


CONNECT_CLAIMS: Final = (
    AssignmentClaim(_answers, _BOTH),
    AssignmentClaim(_members, _BOTH),
    AssignmentClaim(_agreement, _BOTH),
    AssignmentClaim(_mismatch, _BOTH),
    AssignmentClaim(_offset_covers, _BOTH),
    AssignmentClaim(_eager_complete, _BOTH),
    AssignmentClaim(eager_balanced, _BOTH),
    AssignmentClaim(_each(_given_is_free), _INCREMENTAL),
    AssignmentClaim(_each(_revoked_is_claimed), _INCREMENTAL),
    AssignmentClaim(_each(_revoked_waits), _INCREMENTAL),
    AssignmentClaim(_each(_deleted_is_revoked), _INCREMENTAL),
    AssignmentClaim(_each(_duplicates_end), _INCREMENTAL),
    AssignmentClaim(_each(_one_owner), _INCREMENTAL),
    AssignmentClaim(_each(_owners_match), _BOTH),
    AssignmentClaim(_each(delay_in_bounds), _INCREMENTAL),
    AssignmentClaim(_each(delay_is_scheduled), _INCREMENTAL),
    AssignmentClaim(_each(delay_keeps_work), _INCREMENTAL),
    AssignmentClaim(_each(new_work_is_placed), _INCREMENTAL),
    AssignmentClaim(lost_work_waits, _INCREMENTAL),
    AssignmentClaim(waits_only_for_the_departed, _INCREMENTAL),
    AssignmentClaim(successive_revocations, _INCREMENTAL),
    AssignmentClaim(_each(revokes_to_the_ceiling), _INCREMENTAL),
    AssignmentClaim(candidates_share, _INCREMENTAL),
    AssignmentClaim(stabilises, _BOTH),
    AssignmentClaim(complete, _BOTH),
    AssignmentClaim(balanced, _BOTH),
    AssignmentClaim(nothing_left, _BOTH, on_request=True),
    AssignmentClaim(spread, _BOTH, on_request=True),
)
"""All claims, those whose break explains others first."""
