"""Claims about waiting: which work waits, for which worker, until when. No claim spans two leaders' memories."""

from __future__ import annotations

from rebalance_check.properties.assignment.connect_rounds import Course, CourseRound
from rebalance_check.properties.assignment.connect_steps import Item, item_names, read_item


def delay_in_bounds(one: CourseRound) -> str:
    """A delay is between 0 and scheduled.rebalance.max.delay.ms.

    Also 0 whenever the maximum is.
    """
    in_bounds = 0 <= one.delay_ms <= one.max_delay_ms
    return "" if in_bounds else f"the delay is {one.delay_ms} ms, the maximum {one.max_delay_ms} ms"


def delay_is_scheduled(one: CourseRound) -> str:
    """There is a delay exactly while a rebalance is scheduled, which stays when it was or is cancelled.

    The deadline of a delay that runs is not moved.
    """
    scheduled, before = one.after.scheduled_rebalance_ms, one.before.scheduled_rebalance_ms
    if (one.delay_ms > 0) != (scheduled > 0) or one.delay_ms != one.after.delay_ms:
        return f"the members get a delay of {one.delay_ms} ms, and the leader schedules {scheduled}"
    if scheduled and scheduled != one.now_ms + one.delay_ms:
        return f"it is {one.now_ms}, the delay {one.delay_ms} ms, and the leader schedules {scheduled}"
    if before > one.now_ms and scheduled not in {before, 0}:
        return f"the scheduled rebalance moves from {before} to {scheduled}"
    return ""


def delay_keeps_work(one: CourseRound) -> str:
    """During a delay only what is deleted or claimed twice is revoked.

    Balance has to wait.
    """
    if one.delay_ms == 0:
        return ""
    live = sorted(item for item in one.revoked if item in one.configured and item not in one.duplicated)
    return f"{item_names(live)} is revoked during a delay of {one.delay_ms} ms" if live else ""


def new_work_is_placed(one: CourseRound) -> str:
    """What is configured, claimed by no worker and was not assigned before is given, also during a delay.

    New is what the leader remembers nothing of.
    """
    new = one.configured - remembered(one) - one.claimed.keys()
    missing = sorted(new - one.assigned)
    return f"{item_names(missing)} is new and given to no worker" if missing else ""


def remembered(one: CourseRound) -> frozenset[Item]:
    """What the leader remembers as assigned when a round begins."""
    return frozenset(map(read_item, one.before.previous_assignment))


def lost_work_waits(course: Course) -> str:
    """Under one leader the work of a worker that left is given to no other before the scheduled rebalance.

    Unless the leader's last round did not complete, or a worker did not obey it: then the memory does not count.
    """
    for last, one in course.pairs():
        departed = sorted(last.claims.keys() - one.claims.keys())
        if one.max_delay_ms == 0 or not departed or not one.completed_before or last.revoked & one.claimed.keys():
            continue
        scheduled = one.before.scheduled_rebalance_ms
        lost = (remembered(one) & one.configured) - one.claimed.keys()
        given = sorted(lost & one.assigned)
        if lost and (scheduled <= 0 or one.now_ms < scheduled) and (given or not one.delay_ms):
            what = f"{item_names(given or sorted(lost))} {'is given' if given else 'waits without a delay'}"
            return f"round {one.generation}: {departed} left, and {what} before {scheduled or 'any delay'}"
    return ""


def waits_only_for_the_departed(course: Course) -> str:
    """Where no worker has left and no delay runs, all that no worker claims is given (KAFKA-9848).

    What was just revoked is no longer claimed by the one that it was revoked from, and is not meant.
    """
    last_led = {id(one): last for last, one in course.pairs()}
    for one in course.rounds:
        if one.before.scheduled_rebalance_ms > 0 or one.eager or one.mismatch:
            continue
        last = last_led.get(id(one))
        if last is not None and last.claims.keys() - one.claims.keys():
            continue
        idle = sorted(one.configured - one.claimed.keys() - one.assigned)
        if idle:
            return f"round {one.generation}: no worker has left, and {item_names(idle)} is given to no worker"
    return ""


def successive_revocations(course: Course) -> str:
    """Successive revocations are counted when one is wanted right after another, and forgotten in a balanced round.

    Where a release counts them (since 3.4.0).
    """
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
