"""Claims about waiting: which work waits, for which worker, until when. No claim spans two leaders' memories."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.assignment.connect_rounds import (
    CONNECT_INCREMENTAL,
    Course,
    CourseRound,
    claim,
    claim_of_incremental_rounds,
)
from rebalance_check.properties.assignment.connect_steps import Item, item_names, read_item


@claim_of_incremental_rounds("A delay is between 0 and scheduled.rebalance.max.delay.ms.")
def delay_in_bounds(one: CourseRound) -> str:
    """Also 0 whenever the maximum is."""
    in_bounds = 0 <= one.delay_ms <= one.max_delay_ms
    return "" if in_bounds else f"the delay is {one.delay_ms} ms, the maximum {one.max_delay_ms} ms"


@claim_of_incremental_rounds(
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


@claim_of_incremental_rounds("During a delay only deleted work, and work claimed twice, is revoked.")
def delay_keeps_work(one: CourseRound) -> str:
    """Balance has to wait."""
    if one.delay_ms == 0:
        return ""
    live = sorted(item for item in one.revoked if item in one.configured and item not in one.duplicated)
    return f"{item_names(live)} is revoked during a delay of {one.delay_ms} ms" if live else ""


@claim_of_incremental_rounds(
    "Work that is configured, claimed by no worker and not assigned before is given, also during a delay.",
)
def new_work_is_placed(one: CourseRound) -> str:
    """New is an item that the leader does not remember."""
    new = one.configured - remembered(one) - one.claimed.keys()
    missing = sorted(new - one.assigned)
    return f"{item_names(missing)} is new and given to no worker" if missing else ""


def remembered(one: CourseRound) -> frozenset[Item]:
    """The items that the leader remembers as assigned when a round begins."""
    return frozenset(map(read_item, one.before.previous_assignment))


@claim(
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
        lost = (remembered(one) & one.configured) - one.claimed.keys()
        given = sorted(lost & one.assigned)
        if lost and (scheduled <= 0 or one.now_ms < scheduled) and (given or not one.delay_ms):
            work = f"{item_names(given or sorted(lost))} {'is given' if given else 'waits without a delay'}"
            return f"round {one.generation}: {departed} left, and {work} before {scheduled or 'any delay'}"
    return ""


@claim(
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


@claim(
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
        live = any(item in one.configured and item not in one.duplicated for item in one.revoked)
        forgotten = after == 0 and one.before.revoked_in_previous and not live and one.delay_ms == 0
        if not (counted or forgotten):
            return f"round {one.generation}: the count goes from {before} to {after}"
    return ""


CLAIMS: Final = (
    delay_in_bounds,
    delay_is_scheduled,
    delay_keeps_work,
    new_work_is_placed,
    lost_work_waits,
    waits_only_for_the_departed,
    successive_revocations,
)
