"""The claims about the rounds of a Connect group, one by one.

Sources: KIP-415 with its later corrections, and the two classes that implement ``ConnectAssignor``. A claim looks at a
course and at nothing else; where it holds only under a premise, the premise is its first line. No claim spans two
leaders' memories.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain
from typing import Final

from rebalance_check.properties.assignment.claims import Broken, Claim, claim
from rebalance_check.properties.assignment.connect_rounds import (
    CONNECT_ASSIGNORS,
    CONNECT_INCREMENTAL,
    Course,
    CourseRound,
)
from rebalance_check.properties.assignment.connect_steps import ITSELF, Item, item_names


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


def _all(items: Collection[Item], says: str) -> str:
    """The finding about items; none where there are no items."""
    return f"{item_names(sorted(items))} {says}" if items else ""


def _of_courses(sentence: str, *assignors: str, on_request: bool = False) -> Callable[[Callable[[Course], str]], Claim]:
    """Make the check of a course a claim about ``assignors``, without any about both of Connect's."""
    return claim(sentence, *(assignors or CONNECT_ASSIGNORS), on_request=on_request)


def _of_rounds(
    sentence: str, *assignors: str, among: Callable[[CourseRound], bool] = lambda _: True
) -> Callable[[Callable[[CourseRound], str]], Claim]:
    """Make the check of a round a claim: it is asked of each round ``among`` those of a course."""

    def of_course(check: Callable[[CourseRound], str]) -> Claim:
        def first(course: Course) -> str:
            found = ((one.generation, check(one)) for one in course.rounds if among(one))
            return next((f"round {generation}: {finding}" for generation, finding in found if finding), "")

        first.__name__ = check.__name__
        return _of_courses(sentence, *assignors)(first)

    return of_course


def _of_incremental_rounds(sentence: str) -> Callable[[Callable[[CourseRound], str]], Claim]:
    """A claim about the rounds in which an incremental assignor assigned incrementally."""
    return _of_rounds(sentence, CONNECT_INCREMENTAL, among=lambda one: one.is_incremental)


@_of_courses("An assignor answers all that workers may claim: it throws nothing.")
def answers(course: Course) -> str:
    return course.failure


@_of_rounds("Every member of the round gets an assignment, and no other.")
def members(one: CourseRound) -> str:
    if one.answers.keys() == one.claims.keys():
        return ""
    return f"members {sorted(one.claims)}, assignments for {sorted(one.answers)}"


@_of_rounds(
    "All members get the same error, leader, leader URL, config offset and delay; the leader is one of them.",
)
def agreement(one: CourseRound) -> str:
    each = one.answers.values()
    said = {(it.error, it.leader, it.leader_url, it.config_offset, it.delay_ms) for it in each}
    if len(said) > 1 or any(it.leader != one.leader for it in each):
        return f"{one.leader} leads, the members get {sorted(map(str, said))}"
    return ""


@_of_rounds(
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


@_of_rounds("The assignment's config offset is at least the furthest that a member read.")
def offset_covers(one: CourseRound) -> str:
    for answer in one.answers.values():
        if not answer.error and answer.config_offset < max(one.offsets.values()):
            return f"offset {answer.config_offset}, a member read {one.offsets}"
    return ""


@_of_rounds(
    "An eager round gives all that is configured, each item once.",
    among=lambda one: one.is_eager,
)
def eager_complete(one: CourseRound) -> str:
    given = sorted(chain.from_iterable(answer.assigned for answer in one.answers.values()))
    return "" if given == sorted(one.configured) else f"given {item_names(given)}"


@_of_incremental_rounds(
    "A worker is asked to give up work that it claims, or that was lost and dealt to it in the same round.",
)
def revoked_is_claimed(one: CourseRound) -> str:
    """Or was lost and dealt in this round, when the delay ended."""
    expired = one.ends_a_delay
    for member, answer in sorted(one.answers.items()):
        for item in answer.revoked:
            if item not in one.claims[member] and not (expired and item not in one.claimed):
                return f"{item_names([item])} is revoked from {member}, which does not claim it"
    return ""


@_of_incremental_rounds("Nothing is given that a member still claims.")
def given_is_free(one: CourseRound) -> str:
    return _all(one.assigned & one.claimed.keys(), "is given although a member claims it")


@_of_incremental_rounds("An item that is revoked is given to no worker in that round.")
def revoked_waits(one: CourseRound) -> str:
    return _all(one.assigned & one.revoked, "is revoked and given in one round")


@_of_incremental_rounds("An item that the leader assigned and that is no longer configured is revoked.")
def deleted_is_revoked(one: CourseRound) -> str:
    """Where the leader's last round was completed, so that its memory counts."""
    kept = frozenset(chain.from_iterable(one.next_claims().values())) - one.configured
    known = kept & one.remembered if one.completed_before else ()
    return _all(known, "is not configured, and no worker is asked to give it up")


@_of_incremental_rounds("Where no two claims overlap, none do after the round: everything has one owner.")
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


@_of_incremental_rounds("An item that several workers claim is taken from all of them (KAFKA-9841).")
def duplicates_end(one: CourseRound) -> str:
    for member, claimed in sorted(one.next_claims().items()):
        if kept := claimed & one.duplicated:
            return f"{member} keeps {item_names(sorted(kept))}, which another member claims, too"
    return ""


@_of_rounds(
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


@_of_incremental_rounds("A delay is between 0 and scheduled.rebalance.max.delay.ms.")
def delay_in_bounds(one: CourseRound) -> str:
    """Also 0 whenever the maximum is."""
    in_bounds = 0 <= one.delay_ms <= one.max_delay_ms
    return "" if in_bounds else f"the delay is {one.delay_ms} ms, the maximum {one.max_delay_ms} ms"


@_of_incremental_rounds(
    "There is a delay exactly while a rebalance is scheduled, which stays when it was or is cancelled.",
)
def delay_is_scheduled(one: CourseRound) -> str:
    """The deadline of a delay that runs is not moved."""
    scheduled, before = one.after.scheduled_rebalance_ms, one.before.scheduled_rebalance_ms
    if (one.delay_ms > 0) != (scheduled > 0) or one.delay_ms != one.after.delay_ms:
        return f"the members get a delay of {one.delay_ms} ms, and the leader schedules {scheduled}"
    if scheduled and scheduled != one.now_ms + one.delay_ms:
        return f"it is {one.now_ms}, the delay {one.delay_ms} ms, and the leader schedules {scheduled}"
    if before > one.now_ms and scheduled not in {before, 0}:
        return f"the scheduled rebalance moves from {before} to {scheduled}"
    return ""


@_of_incremental_rounds("During a delay only deleted work, and work claimed twice, is revoked.")
def delay_keeps_work(one: CourseRound) -> str:
    """Balance has to wait."""
    live = one.revoked & one.configured - one.duplicated if one.delay_ms else ()
    return _all(live, f"is revoked during a delay of {one.delay_ms} ms")


@_of_incremental_rounds(
    "Work that is configured, claimed by no worker and not assigned before is given, also during a delay.",
)
def new_work_is_placed(one: CourseRound) -> str:
    """New is an item that the leader does not remember."""
    new = one.configured - one.remembered - one.claimed.keys()
    return _all(new - one.assigned, "is new and given to no worker")


@_of_courses(
    "Under one leader the work of a worker that left is given to no other before the scheduled rebalance.",
    CONNECT_INCREMENTAL,
)
def lost_work_waits(course: Course) -> str:
    """Unless the leader's last round did not complete, or a worker did not obey it: then the memory does not count."""
    for last, one in course.pairs():
        departed = sorted(last.claims.keys() - one.claims.keys())
        if one.max_delay_ms == 0 or not departed or not one.completed_before or last.revoked & one.claimed.keys():
            continue
        scheduled = one.before.scheduled_rebalance_ms
        lost = (one.remembered & one.configured) - one.claimed.keys()
        given = sorted(lost & one.assigned)
        if lost and (scheduled <= 0 or one.now_ms < scheduled) and (given or not one.delay_ms):
            work = f"{item_names(given or sorted(lost))} {'is given' if given else 'waits without a delay'}"
            return f"round {one.generation}: {departed} left, and {work} before {scheduled or 'any delay'}"
    return ""


@_of_courses(
    "Where no worker has left and no delay runs, all that no worker claims is given (KAFKA-9848).",
    CONNECT_INCREMENTAL,
)
def waits_only_for_the_departed(course: Course) -> str:
    """An item that was just revoked is no longer claimed by its worker, and is not meant."""
    last_led = {id(one): last for last, one in course.pairs()}
    for one in course.rounds:
        if one.before.scheduled_rebalance_ms > 0 or not one.is_incremental:
            continue
        last = last_led.get(id(one))
        if last is not None and last.claims.keys() - one.claims.keys():
            continue
        idle = sorted(one.configured - one.claimed.keys() - one.assigned)
        if idle:
            return f"round {one.generation}: no worker has left, and {item_names(idle)} is given to no worker"
    return ""


@_of_courses(
    "Successive revocations are counted when one is wanted right after another, and forgotten in a balanced round.",
    CONNECT_INCREMENTAL,
)
def successive_revocations(course: Course) -> str:
    """Where a release counts them (since 3.4.0)."""
    for _, one in course.pairs():
        before, after = one.before.successive_revocations, one.after.successive_revocations
        if before is None or after is None or before == after:
            continue
        counted = after == before + 1 and one.before.revoked_in_previous and one.after.revoked_in_previous
        live = one.revoked & one.configured - one.duplicated
        forgotten = after == 0 and one.before.revoked_in_previous and not live and one.delay_ms == 0
        if not (counted or forgotten):
            return f"round {one.generation}: the count goes from {before} to {after}"
    return ""


def _connectors_in(items: Collection[Item]) -> int:
    return sum(number == ITSELF for _, number in items)


def _tasks_in(items: Collection[Item]) -> int:
    return len(items) - _connectors_in(items)


KINDS: Final = (("connectors", _connectors_in), ("tasks", _tasks_in))


def _uneven(shares: Mapping[str, Collection[Item]], *, together: bool = False) -> str:
    """The numbers of a kind that differ by more than one; ``together`` counts both kinds as one, too."""
    for kind, count in (*KINDS, ("connectors and tasks", len))[: 3 if together else 2]:
        numbers = {member: count(items) for member, items in sorted(shares.items())}
        if numbers and max(numbers.values()) - min(numbers.values()) > 1:
            return f"{numbers} {kind}"
    return ""


@_of_rounds(
    "In an eager round numbers differ by one at most: of connectors, of tasks, and of both together (KAFKA-4553).",
    among=lambda one: one.is_eager,
)
def eager_balanced(one: CourseRound) -> str:
    uneven = _uneven({member: answer.assigned for member, answer in one.answers.items()}, together=True)
    return uneven and f"the members get {uneven}"


@_of_incremental_rounds(
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


@_of_courses(
    "Workers that waited without work during a delay get numbers that differ by one at most (KAFKA-10413).",
    CONNECT_INCREMENTAL,
)
def candidates_share(course: Course) -> str:
    """In the round in which the delay ends."""
    for last, one in course.pairs():
        if one.ends_a_delay:
            idle = [member for member, claimed in one.claims.items() if not claimed and last.claims.get(member) == ()]
            if uneven := _uneven({member: one.answers[member].assigned for member in idle}):
                return f"round {one.generation}: {sorted(idle)} waited without work, and get {uneven}"
    return ""


@_of_courses("A group that nothing happens to comes to rest: it asks for no more rounds.")
def stabilises(course: Course) -> str:
    """At rest is a group whose last round revoked nothing and scheduled nothing."""
    return "" if course.quiet else f"after {len(course.rounds) - course.settling} rounds it still asks for another one"


def _at_rest(course: Course) -> Mapping[str, frozenset[Item]]:
    """The claims of each member in the end; nothing where the group is not at rest, or empty."""
    settled = course.rounds[course.settling :]
    return settled[-1].next_claims() if settled and course.quiet else {}


@_of_courses("When a group is at rest, all that is configured is claimed.")
def complete(course: Course) -> str:
    claims = _at_rest(course)
    return _all(course.rounds[-1].configured.difference(*claims.values()) if claims else (), "is run by no worker")


def _left(course: Course) -> frozenset[Item]:
    claims = _at_rest(course)
    return frozenset[Item]().union(*claims.values()) - course.rounds[-1].configured if claims else frozenset()


@_of_courses("When a group is at rest, nothing is claimed that is not configured.", on_request=True)
def nothing_left(course: Course) -> str:
    return _all(_left(course), "is not configured, and runs on")


@_of_courses(
    "When a group is at rest, numbers of connectors, and numbers of tasks, differ by one at most (KAFKA-12495).",
)
def balanced(course: Course) -> str:
    """Where nothing is left running that is not configured: that counts, too."""
    uneven = "" if _left(course) else _uneven(_at_rest(course))
    return uneven and f"the workers are at rest with {uneven}"


@_of_courses(
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


CONNECT_CLAIMS: Final = (
    answers, members, agreement, mismatch, offset_covers, eager_complete, eager_balanced, given_is_free,
    revoked_is_claimed, revoked_waits, deleted_is_revoked, duplicates_end, one_owner, owners_match,
    delay_in_bounds, delay_is_scheduled, delay_keeps_work, new_work_is_placed, lost_work_waits,
    waits_only_for_the_departed, successive_revocations,
    revokes_to_the_ceiling, candidates_share, stabilises, complete, balanced, nothing_left, spread,
)  # fmt: skip
"""All claims, those whose break explains others first."""
