"""Claims about balance: of a round, of those that take over, and of a group that has come to rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from rebalance_check.properties.assignment.connect_rounds import (
    CONNECT_INCREMENTAL,
    Course,
    CourseRound,
    claim,
    claim_of_incremental_rounds,
    claim_of_rounds,
)
from rebalance_check.properties.assignment.connect_steps import ITSELF, Item, item_names


def _connectors_in(items: Collection[Item]) -> int:
    return sum(number == ITSELF for _, number in items)


def _tasks_in(items: Collection[Item]) -> int:
    return sum(number != ITSELF for _, number in items)


KINDS: Final = (("connectors", _connectors_in), ("tasks", _tasks_in))


def _uneven(shares: Mapping[str, Collection[Item]], *, together: bool = False) -> str:
    """The numbers of a kind that differ by more than one; ``together`` counts both kinds as one, too."""
    for kind, count in (*KINDS, ("connectors and tasks", len))[: 3 if together else 2]:
        numbers = {member: count(items) for member, items in sorted(shares.items())}
        if numbers and max(numbers.values()) - min(numbers.values()) > 1:
            return f"{numbers} {kind}"
    return ""


@claim_of_rounds(
    "In an eager round numbers differ by one at most: of connectors, of tasks, and of both together (KAFKA-4553).",
    among=lambda one: one.is_eager,
)
def eager_balanced(one: CourseRound) -> str:
    uneven = _uneven({member: answer.assigned for member, answer in one.answers.items()}, together=True)
    return uneven and f"the members get {uneven}"


@claim_of_incremental_rounds(
    "A round that revokes for balance leaves no worker more than the rounded-up average (KAFKA-10413).",
)
def revokes_to_the_ceiling(one: CourseRound) -> str:
    """Where all that is claimed is configured and claimed once, so that only balance is a reason to revoke."""
    if not one.revoked or one.duplicated or one.claimed.keys() - one.configured:
        return ""
    for kind, count in KINDS:
        ceiling = -(-count(one.configured) // len(one.claims))
        for member, answer in sorted(one.answers.items()):
            kept = count(set(one.claims[member]) - set(answer.revoked))
            if kept > ceiling:
                return f"{member} keeps {kept} {kind}, and the average of all is at most {ceiling}"
    return ""


@claim(
    "Workers that waited without work during a delay get numbers that differ by one at most (KAFKA-10413).",
    CONNECT_INCREMENTAL,
)
def candidates_share(course: Course) -> str:
    """In the round in which the delay ends."""
    for last, one in course.pairs():
        if 0 < one.before.scheduled_rebalance_ms <= one.now_ms:
            idle = [member for member, claimed in one.claims.items() if not claimed and last.claims.get(member) == ()]
            if uneven := _uneven({member: one.answers[member].assigned for member in idle}):
                return f"round {one.generation}: {sorted(idle)} waited without work, and get {uneven}"
    return ""


@claim("A group that nothing happens to comes to rest: it asks for no more rounds.")
def stabilises(course: Course) -> str:
    """At rest is a group whose last round revoked nothing and scheduled nothing."""
    return "" if course.quiet else f"after {len(course.rounds) - course.settling} rounds it still asks for another one"


def _at_rest(course: Course) -> Mapping[str, frozenset[Item]]:
    """The claims of each member in the end; nothing where the group is not at rest, or empty."""
    settled = course.rounds[course.settling :]
    return settled[-1].next_claims() if settled and course.quiet else {}


@claim("When a group is at rest, all that is configured is claimed.")
def complete(course: Course) -> str:
    claims = _at_rest(course)
    missing = sorted(course.rounds[-1].configured - frozenset().union(*claims.values())) if claims else []
    return f"{item_names(missing)} is run by no worker" if missing else ""


def _left(course: Course) -> list[Item]:
    claims = _at_rest(course)
    return sorted(frozenset().union(*claims.values()) - course.rounds[-1].configured) if claims else []


@claim("When a group is at rest, nothing is claimed that is not configured.", on_request=True)
def nothing_left(course: Course) -> str:
    left = _left(course)
    return f"{item_names(left)} is not configured, and runs on" if left else ""


@claim("When a group is at rest, numbers of connectors, and numbers of tasks, differ by one at most (KAFKA-12495).")
def balanced(course: Course) -> str:
    """Where nothing is left running that is not configured: that counts, too."""
    uneven = "" if _left(course) else _uneven(_at_rest(course))
    return uneven and f"the workers are at rest with {uneven}"


@claim(
    "When a group is at rest, the numbers of tasks of one connector differ by one at most (KAFKA-17049).",
    on_request=True,
)
def spread(course: Course) -> str:
    claims = _at_rest(course)
    for connector in sorted(course.rounds[-1].task_counts if claims else ()):
        tasks = {
            member: [(name, number) for name, number in claimed if name == connector and number != ITSELF]
            for member, claimed in claims.items()
        }
        if uneven := _uneven(tasks):
            return f"the workers are at rest with {uneven} of {connector}"
    return ""


CLAIMS: Final = (revokes_to_the_ceiling, candidates_share, stabilises, complete, balanced, nothing_left, spread)
