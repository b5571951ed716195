"""Schedules out of the model's state graph: walks that prefer the rarest transitions.

Each begins at the empty group, so that each can be replayed by itself, and many at once. The one thing left out is what
a socket cannot do at will, the expiry of a member id that was only handed out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from random import Random
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.walks import walk
from rebalance_check.model.classic.state import has
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.actions import DISTURBANCES, Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule

DEFAULT_STEPS: Final = 60

UNDISTURBED: Final = 0.85
"""How often a walk leaves out disturbances: the budgets are small, and a walk without it
would spend all of them on young groups."""

WHIM: Final = 0.5
"""How often a walk takes any transition instead of the kind that was rarest so far."""


def expires_a_pending_id(state: Any, action: Action) -> bool:
    """A LeaveGroup in the name of an id that was only handed out (KIP-394) is not the same as its expiry: in Stable it
    makes Kafka's Java coordinator rebalance. So a broker on a socket cannot be brought to do this at once."""
    return action.kind is ActionKind.EXPIRE_SESSION and has(state.pending, action.member)


def walks(bounds: Bounds, count: int, *, seed: int = 0, steps: int = DEFAULT_STEPS) -> Iterator[Schedule]:
    """``count`` schedules of at most ``steps`` actions each; a walk ends early where nothing more can happen."""
    walker = _Walker(machine_for(bounds), Random(f"walks/{seed}/{bounds.address()}"))
    for number in range(count):
        yield Schedule(bounds, tuple(walk(walker.machine, walker.choose, steps)), seed=number)


class _Walker:
    """Chooses the actions of walks; remembers which transitions were taken and how often each kind of them happened."""

    def __init__(self, machine: Machine, random: Random) -> None:
        self.machine = machine
        self._random = random
        self._taken: set[tuple[bytes, Action]] = set()
        self._seen: Counter[Hashable] = Counter()

    def choose(self, state: Any) -> Action | None:
        """Now and then any action, usually the one that leads to the rarest transition."""
        successors = [
            (action, self.machine.copy(after))
            for action, after in self.machine.successors(state)
            if not expires_a_pending_id(state, action)
        ]
        if not successors:
            return None
        if self._random.random() < UNDISTURBED:
            successors = [pair for pair in successors if pair[0].kind not in DISTURBANCES] or successors
        here = self.machine.pack(state)
        untaken = [pair for pair in successors if (here, pair[0]) not in self._taken] or successors
        if self._random.random() < WHIM:
            chosen = self._random.choice(untaken)
        else:
            rarest = min(self._seen[_happening(state, *pair)] for pair in untaken)
            chosen = self._random.choice([p for p in untaken if self._seen[_happening(state, *p)] == rarest])
        self._taken.add((here, chosen[0]))
        self._seen[_happening(state, *chosen)] += 1
        return chosen[0]


def _happening(before: Any, action: Action, after: Any) -> Hashable:
    """The kind of a transition: the step, the group's status around it, the reply that it brings about."""
    net = after.member[action.member].net
    duplicate = (before.duplicate.kind, before.duplicate.stale) if action.kind is ActionKind.DELIVER_DUPLICATE else ()
    return (action.kind, before.status, after.status, net.kind, net.error, bool(after.parked_duplicates), duplicate)
