"""The claims about the rounds of a Connect group, one by one.

Sources: KIP-415 with its later corrections, and the two classes that implement ``ConnectAssignor``. A claim looks at a
course and at nothing else; where it holds only under a premise, the premise is its first line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from rebalance_check.properties.assignment import connect_balance as balance
from rebalance_check.properties.assignment import connect_delay as delay
from rebalance_check.properties.assignment.claims import Broken
from rebalance_check.properties.assignment.connect_rounds import (
    Course,
    CourseRound,
    claim,
    claim_of_incremental_rounds,
    claim_of_rounds,
)
from rebalance_check.properties.assignment.connect_steps import Item, item_names


def broken_connect_claims(assignor: str, course: Course, names: tuple[str, ...] = ()) -> Iterator[Broken]:
    """The claims that a course breaks, in the order of `CONNECT_CLAIMS`; of one that failed, nothing else is asked.

    ``names`` are the only claims that are judged; without them all are that need not be named.
    """
    for one in CONNECT_CLAIMS:
        wanted = one.name in names if names else not one.on_request
        if wanted and assignor in one.assignors and (finding := one.check(course)):
            yield Broken(one.name, finding)
        if course.failure:
            return


@claim("An assignor answers all that workers may claim: it throws nothing.")
def answers(course: Course) -> str:
    return course.failure


@claim_of_rounds("Every member of the round gets an assignment, and no other.")
def members(one: CourseRound) -> str:
    if one.answers.keys() == one.claims.keys():
        return ""
    return f"members {sorted(one.claims)}, assignments for {sorted(one.answers)}"


@claim_of_rounds(
    "All members get the same error, leader, leader URL, config offset and delay; the leader is one of them.",
)
def agreement(one: CourseRound) -> str:
    each = one.answers.values()
    said = {(it.error, it.leader, it.leader_url, it.config_offset, it.delay_ms) for it in each}
    if len(said) > 1 or any(it.leader != one.leader for it in each):
        return f"{one.leader} leads, the members get {sorted(map(str, said))}"
    return ""


@claim_of_rounds(
    "CONFIG_MISMATCH assigns and revokes nothing, and names the furthest offset, which the leader has not read.",
)
def mismatch(one: CourseRound) -> str:
    furthest = max(one.offsets.values())
    for member, answer in sorted(one.answers.items()):
        if answer.error and (answer.assigned or answer.revoked or answer.delay_ms):
            return f"{member} gets an error, and also work, revocations or a delay"
        if answer.error and not answer.config_offset == furthest > one.leader_offset:
            return f"the error names {answer.config_offset}, {furthest} was reported"
    return ""


@claim_of_rounds("The assignment's config offset is at least the furthest that a member read.")
def offset_covers(one: CourseRound) -> str:
    for answer in one.answers.values():
        if not answer.error and answer.config_offset < max(one.offsets.values()):
            return f"offset {answer.config_offset}, a member read {one.offsets}"
    return ""


@claim_of_rounds(
    "An eager round gives all that is configured, each item once.",
    among=lambda one: one.is_eager,
)
def eager_complete(one: CourseRound) -> str:
    given = sorted(chain.from_iterable(answer.assigned for answer in one.answers.values()))
    return "" if given == sorted(one.configured) else f"given {item_names(given)}"


@claim_of_incremental_rounds(
    "A worker is asked to give up work that it claims, or that was lost and dealt to it in the same round.",
)
def revoked_is_claimed(one: CourseRound) -> str:
    """Or was lost and dealt in this round, when the delay ended."""
    expired = 0 < one.before.scheduled_rebalance_ms <= one.now_ms
    for member, answer in sorted(one.answers.items()):
        for item in answer.revoked:
            if item not in one.claims[member] and not (expired and item not in one.claimed):
                return f"{item_names([item])} is revoked from {member}, which does not claim it"
    return ""


@claim_of_incremental_rounds("Nothing is given that a member still claims.")
def given_is_free(one: CourseRound) -> str:
    held = one.assigned & one.claimed.keys()
    return f"{item_names(sorted(held))} is given although a member claims it" if held else ""


@claim_of_incremental_rounds("An item that is revoked is given to no worker in that round.")
def revoked_waits(one: CourseRound) -> str:
    both = one.assigned & one.revoked
    return f"{item_names(sorted(both))} is revoked and given in one round" if both else ""


@claim_of_incremental_rounds("An item that the leader assigned and that is no longer configured is revoked.")
def deleted_is_revoked(one: CourseRound) -> str:
    """Where the leader's last round was completed, so that its memory counts."""
    kept = frozenset(chain.from_iterable(one.next_claims().values())) - one.configured
    known = sorted(kept & delay.remembered(one)) if one.completed_before else []
    return f"{item_names(known)} is not configured, and no worker is asked to give it up" if known else ""


@claim_of_incremental_rounds("Where no two claims overlap, none do after the round: everything has one owner.")
def one_owner(one: CourseRound) -> str:
    if one.duplicated:
        return ""
    owner: dict[Item, str] = {}
    for member, claimed in sorted(one.next_claims().items()):
        for item in sorted(claimed):
            if item in owner:
                return f"{item_names([item])} belongs to {owner[item]} and {member}"
            owner[item] = member
    return ""


@claim_of_incremental_rounds("An item that several workers claim is taken from all of them (KAFKA-9841).")
def duplicates_end(one: CourseRound) -> str:
    for member, claimed in sorted(one.next_claims().items()):
        if kept := claimed & one.duplicated:
            return f"{member} keeps {item_names(sorted(kept))}, which another member claims, too"
    return ""


@claim_of_rounds(
    "The leader's map of owners says where each item runs after the round.",
    among=lambda one: one.is_incremental,
)
def owners_match(one: CourseRound) -> str:
    """Of an item that two members claim any may be named."""
    owner = {item: member for member, claimed in one.next_claims().items() for item in claimed}
    wrong = sorted(item for item in owner.keys() | one.owners.keys() if owner.get(item) != one.owners.get(item))
    if wrong and not one.duplicated:
        named = [f"{item_names([item])} to {one.owners.get(item, 'no worker')}" for item in wrong]
        return f"the leader routes {', '.join(named)}, which is not where it runs"
    return ""


CONNECT_CLAIMS: Final = (
    answers,
    members,
    agreement,
    mismatch,
    offset_covers,
    eager_complete,
    balance.eager_balanced,
    given_is_free,
    revoked_is_claimed,
    revoked_waits,
    deleted_is_revoked,
    duplicates_end,
    one_owner,
    owners_match,
    *delay.CLAIMS,
    *balance.CLAIMS,
)
"""All claims, those whose break explains others first."""
