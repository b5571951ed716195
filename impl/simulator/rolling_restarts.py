"""The churn of an upgrade: rolling restarts along a path (`vocabulary.upgrade_paths`), with other churn in between.

``StartMember m1 [2]`` starts m1 with the list of assignors at place 2 of the path. On a legal path ``AwaitGroup``
stands between the restarts: the operator looks that the group has forgotten every member that had an older list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from random import Random
from typing import Final

from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.upgrade_paths import Order, UpgradePath

Pause = Callable[[Random], Action]
"""Draws some time between two actions."""

KILLED: Final = 0.3
"""The chance that a restart kills the process, where crashes may happen."""


def upgrade_actions(
    random: Random, path: UpgradePath, *, members: int, steps: int, plan: FaultPlan, pause: Pause
) -> Iterator[Action]:
    """All start with the first list; every member is restarted to the last; ``steps`` other actions lie in between."""
    for member in range(members):
        yield Action(ActionKind.START_MEMBER, member)
        yield pause(random)
    restarts = list(_restarts(random, path, members))
    reached = [0] * members
    gaps = _spread(random, steps // 2, len(restarts))
    for (member, step), others in zip(restarts, gaps, strict=True):
        yield from chain.from_iterable(_other(random, reached, plan, pause) for _ in range(others))
        if path.order is Order.GROUP and step > 1 and reached.count(step - 1) == members:
            yield Action(ActionKind.AWAIT_GROUP)
        yield from _restart(random, member, step, plan, pause)
        reached[member] = step


def _restarts(random: Random, path: UpgradePath, members: int) -> Iterator[tuple[int, int]]:
    """The member that is restarted, and to which place of the path, in turn."""
    places = range(1, len(path.lists))
    if path.order is not Order.NONE:
        for place in places:
            yield from ((member, place) for member in random.sample(range(members), members))
        return
    order = random.sample([member for member in range(members) for _ in places], members * len(places))
    reached = [0] * members
    for member in order:
        reached[member] += 1
        yield member, reached[member]


def _spread(random: Random, count: int, gaps: int) -> list[int]:
    """``count`` things spread over some gaps."""
    places = [random.randrange(gaps) for _ in range(count)]
    return [places.count(gap) for gap in range(gaps)]


def _restart(random: Random, member: int, step: int, plan: FaultPlan, pause: Pause) -> Iterator[Action]:
    """Stop or kill a process, and start it with the list at ``step``."""
    killed = random.random() < KILLED
    kind = ActionKind.CRASH_MEMBER if killed and plan.has(FaultKind.CRASH) else ActionKind.STOP_MEMBER
    yield Action(kind, member)
    yield pause(random)
    yield Action(ActionKind.START_MEMBER, member, step)
    yield pause(random)


def _other(random: Random, reached: list[int], plan: FaultPlan, pause: Pause) -> Iterator[Action]:
    """A member that restarts as it was, or pauses for a while."""
    member = random.randrange(len(reached))
    if random.random() < 0.5:
        yield from _restart(random, member, reached[member], plan, pause)
    elif plan.has(FaultKind.PAUSE):
        yield Action(ActionKind.PAUSE_MEMBER, member)
        yield pause(random)
        yield Action(ActionKind.RESUME_MEMBER, member)
        yield pause(random)


def legal_steps(path: UpgradePath, actions: Iterable[Action], members: int) -> Iterator[Action]:
    """The actions, with lists taken back where one that was left out before makes them come too early.

    The guarantees of a legal path hold for runs that follow it; a shrunk run must follow it, too.
    """
    if path.order is Order.NONE:
        yield from actions
        return
    reached = [0] * members
    for action in actions:
        if action.kind is ActionKind.START_MEMBER:
            own = reached[action.member]
            step = min(action.choice, own + 1, 1 + min(reached))
            reached[action.member] = max(step, own)
            yield action._replace(choice=reached[action.member])
        else:
            yield action
