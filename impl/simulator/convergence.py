"""The healed phase: nothing goes wrong any more, so the group must settle on one complete assignment and keep it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.impl.simulator.group_config import (
    AWAITED_MS,
    CHECK_MS,
    HEALING_EVENTS,
    HEALING_MS,
    SETTLED_MS,
)
from rebalance_check.impl.simulator.network import LATE_REQUEST_MS
from rebalance_check.impl.simulator.nodes import LEARNING_MS
from rebalance_check.model.vocabulary.group_status import GroupStatus

LATE_REQUESTS_GONE_MS: Final = LATE_REQUEST_MS + 10_000
"""For how long nothing of an older process may show up."""


def settle(environment: Environment) -> tuple[str, ...]:
    """Let time pass until the group has been settled, in one generation, for `SETTLED_MS`.

    This begins when every node that was paused knows whether it was deposed: before, commits may go to one that was.

    All that is still pending after `HEALING_MS`, or `HEALING_EVENTS` for each three members, is returned, each as a
    short sentence; nothing when all is well.
    """
    clock = environment.clock
    end_ms = clock.now_ms + HEALING_MS
    limit = environment.events + HEALING_EVENTS * max(1, len(environment.members) // 3)
    since_ms, settled = clock.now_ms, None
    learned_ms = clock.now_ms + LEARNING_MS
    while clock.now_ms < end_ms and environment.events < limit:
        clock.run_until(clock.now_ms + CHECK_MS)
        present = None if _is_unsettled(environment) else _standings(environment)
        if present is None:
            environment.enforce_rebalance()
        if present is None or present != settled or clock.now_ms <= learned_ms:
            since_ms, settled = clock.now_ms, present
        elif clock.now_ms - since_ms >= SETTLED_MS:
            return ()
    return pending(environment) or ("the group rebalances again and again",)


def await_group(environment: Environment) -> None:
    """Let time pass until the group has held only processes that run, for longer than any late request is on its way.

    Not for ever: the operator of a group that never gets there goes on.
    """
    clock = environment.clock
    end_ms, since_ms = clock.now_ms + AWAITED_MS, clock.now_ms
    while clock.now_ms < end_ms and clock.now_ms - since_ms < LATE_REQUESTS_GONE_MS:
        clock.run_until(clock.now_ms + CHECK_MS)
        if not _holds_only_running_members(environment):
            since_ms = clock.now_ms


def _holds_only_running_members(environment: Environment) -> bool:
    known = {member_id for _, member_id in _standings(environment)}
    return all(member.member_id in known for member in environment.nodes.describe().members)


def _standings(environment: Environment) -> tuple[tuple[int, str], ...]:
    """Generation and member id of everybody; they change when anybody rebalances."""
    return tuple(member.application.standing() for member in environment.members if member.application is not None)


def _is_unsettled(environment: Environment) -> bool:
    """Whether anything is pending; the first reason is enough."""
    return next(_reasons(environment), None) is not None


def pending(environment: Environment) -> tuple[str, ...]:
    """All that keeps the group from being settled: each member, the group's status, each owner, each death."""
    return tuple(_reasons(environment))


def _reasons(environment: Environment) -> Iterator[str]:
    yield from _pending_members(environment)
    yield from _pending_group(environment)
    yield from _pending_ownership(environment)
    yield from environment.more_pending()
    yield from (f"{member.name} died: {member.death}" for member in environment.members if member.death)


def _pending_members(environment: Environment) -> Iterator[str]:
    for member in environment.members:
        if member.application is not None and (reason := member.application.pending()):
            yield f"{member.name} {reason}"
    generations = {generation for generation, _ in _standings(environment)}
    if len(generations) > 1:
        yield f"members are in the generations {', '.join(map(str, sorted(generations)))} at once"


def _pending_group(environment: Environment) -> Iterator[str]:
    group = environment.nodes.describe()
    alive = sum(member.is_up for member in environment.members)
    if group.state != GroupStatus.STABLE:
        yield f"the group is {group.state}"
    if len(group.members) != alive:
        yield f"the group counts {len(group.members)} members, {alive} are alive"


def _pending_ownership(environment: Environment) -> Iterator[str]:
    owners: dict[str, int] = {}
    for member in environment.members:
        for thing in member.application.holds if member.application is not None else ():
            owners[thing] = owners.get(thing, 0) + 1
    to_own = environment.to_own()
    for thing in to_own:
        if thing not in owners:
            yield f"{thing} has no owner"
    for thing, count in sorted(owners.items()):
        if count > 1:
            yield f"{thing} has {count} owners"
        if thing not in to_own:
            yield f"{thing} is owned and does not exist"
