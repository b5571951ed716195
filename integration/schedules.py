"""Schedules out of the model's state graph: walks that prefer transitions which no walk has taken yet.

Together the walks cover the graph the way a transition tour does, without building it first; each begins at the empty
group, so that each can be replayed by itself, and many at once. The one thing left out is what a socket cannot do at
will, the expiry of a member id that was only handed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from rebalance_check.model.actions import Action, ActionKind
from rebalance_check.model.bounds import Bounds
from rebalance_check.model.classic_state import has
from rebalance_check.model.machine import Machine
from rebalance_check.model.specification import model_for
from rebalance_check.model.subject import Schedule

DEFAULT_STEPS: Final = 60


def _expires_a_pending_id(state: Any, action: Action) -> bool:
    """A LeaveGroup in the name of an id that was only handed out (KIP-394) is not the same as its expiry: in Stable it
    makes Kafka's Java coordinator rebalance. So a broker on a socket cannot be brought to do this at once."""
    return action.kind is ActionKind.EXPIRE_SESSION and has(state.pending, action.member)


def walks(bounds: Bounds, count: int, *, seed: int = 0, steps: int = DEFAULT_STEPS) -> Iterator[Schedule]:
    """``count`` schedules of at most ``steps`` actions each; a walk ends early where nothing more can happen."""
    random = Random(f"walks/{seed}/{bounds.address()}")
    machine = Machine(model_for(bounds), bounds)
    taken: set[tuple[bytes, Action]] = set()
    for number in range(count):
        yield Schedule(bounds, tuple(_walk(machine, random, taken, steps)), seed=number)


def _walk(machine: Machine, random: Random, taken: set[tuple[bytes, Action]], steps: int) -> Iterator[Action]:
    state = machine.initial()
    for _ in range(steps):
        enabled = [action for action in machine.enabled(state) if not _expires_a_pending_id(state, action)]
        if not enabled:
            return
        here = machine.pack(state)
        action = random.choice([each for each in enabled if (here, each) not in taken] or enabled)
        taken.add((here, action))
        following = machine.copy(state)
        machine.step(following, action)
        state = following
        yield action
