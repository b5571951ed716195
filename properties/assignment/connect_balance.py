"""Claims about balance: of a round, of those that take over, and of a group that has come to rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rebalance_check.properties.assignment.connect_rounds import Course, CourseRound
from rebalance_check.properties.assignment.connect_steps import ITSELF, Item, item_names


def connectors_in(items: Collection[Item]) -> int:
    """How many connector instances there are among some items."""
    return sum(number == ITSELF for _, number in items)


def tasks_in(items: Collection[Item]) -> int:
    """How many tasks there are among some items."""
    return sum(number != ITSELF for _, number in items)


KINDS = (("connectors", connectors_in), ("tasks", tasks_in))


def eager_balanced(course: Course) -> str:
    """In an eager round numbers differ by one at most: of connectors, of tasks, and of both together (KAFKA-4553).

    Also of both kinds together.
    """
    for one in course.rounds:
        if one.eager and not one.mismatch:
            given = {member: answer.assigned for member, answer in one.answers.items()}
            for kind, count in (*KINDS, ("connectors and tasks", len)):
                numbers = {member: count(items) for member, items in sorted(given.items())}
                if max(numbers.values()) - min(numbers.values()) > 1:
                    return f"round {one.generation}: the members get {numbers} {kind}"
    return ""


def revokes_to_the_ceiling(one: CourseRound) -> str:
    """A round that revokes for balance leaves no worker more than the rounded-up average (KAFKA-10413).

    Where all that is claimed is configured and claimed once, so that what is revoked is revoked for balance.
    """
    if not one.revoked or one.duplicated or one.claimed.keys() - one.configured:
        return ""
    for kind, count in KINDS:
        ceiling = -(-count(one.configured) // len(one.claims))
        for member, answer in sorted(one.answers.items()):
            kept = count(set(one.claims[member]) - set(answer.revoked))
            if kept > ceiling:
                return f"{member} keeps {kept} {kind}, and the average of all is at most {ceiling}"
    return ""


def candidates_share(course: Course) -> str:
    """Workers that waited without work during a delay get numbers that differ by one at most (KAFKA-10413).

    In the round in which the delay ends.
    """
    for last, one in course.pairs():
        if not 0 < one.before.scheduled_rebalance_ms <= one.now_ms:
            continue
        idle = [member for member, claim in one.claims.items() if not claim and last.claims.get(member) == ()]
        for kind, count in KINDS:
            numbers = {member: count(one.answers[member].assigned) for member in sorted(idle)}
            if numbers and max(numbers.values()) - min(numbers.values()) > 1:
                return f"round {one.generation}: {sorted(idle)} waited without work, and get {numbers} {kind}"
    return ""


def stabilises(course: Course) -> str:
    """A group that nothing happens to comes to rest: it asks for no more rounds.

    At rest is a group whose last round revoked nothing and scheduled nothing.
    """
    return "" if course.quiet else f"after {len(course.rounds) - course.settling} rounds it still asks for another one"


def _at_rest(course: Course) -> Mapping[str, frozenset[Item]]:
    """What each member claims in the end; nothing where the group is not at rest, or empty."""
    settled = course.rounds[course.settling :]
    if not settled or not course.quiet:
        return {}
    return settled[-1].next_claims()


def complete(course: Course) -> str:
    """When a group is at rest, all that is configured is claimed.

    Nothing that is configured is left idle.
    """
    claims = _at_rest(course)
    missing = sorted(course.rounds[-1].configured - frozenset().union(*claims.values())) if claims else []
    return f"{item_names(missing)} is run by no worker" if missing else ""


def nothing_left(course: Course) -> str:
    """When a group is at rest, nothing is claimed that is not configured.

    Nothing that is not configured is left running.
    """
    claims = _at_rest(course)
    left = sorted(frozenset().union(*claims.values()) - course.rounds[-1].configured) if claims else []
    return f"{item_names(left)} is not configured, and runs on" if left else ""


def balanced(course: Course) -> str:
    """When a group is at rest, numbers of connectors, and numbers of tasks, differ by one at most (KAFKA-12495).

    Each kind for itself, where nothing is left running that is not configured: that counts, too.
    """
    claims = {} if nothing_left(course) else _at_rest(course)
    for kind, count in KINDS:
        numbers = {member: count(claim) for member, claim in sorted(claims.items())}
        if numbers and max(numbers.values()) - min(numbers.values()) > 1:
            return f"the workers are at rest with {numbers} {kind}"
    return ""


def spread(course: Course) -> str:
    """When a group is at rest, the numbers of tasks of one connector differ by one at most (KAFKA-17049).

    Of each connector for itself.
    """
    claims = _at_rest(course)
    for connector in sorted(course.rounds[-1].task_counts if claims else ()):
        numbers = {
            member: sum(name == connector and number != ITSELF for name, number in claim)
            for member, claim in sorted(claims.items())
        }
        if max(numbers.values()) - min(numbers.values()) > 1:
            return f"the workers are at rest with {numbers} tasks of {connector}"
    return ""
