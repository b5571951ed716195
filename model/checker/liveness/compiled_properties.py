"""The aims of a model one by one: a claim of progress about members is one for each member."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from rebalance_check.model.checker.interpreter import Machine, positional
from rebalance_check.model.checker.specification import EACH, LivenessProperty, Model, each_of
from rebalance_check.model.vocabulary.bounds import Bounds


class Instance(NamedTuple):
    """An aim, and which member or partition it is about (0 where it is about none)."""

    aim: LivenessProperty
    at: int

    def __str__(self) -> str:
        """``m1``, ``partition 0``, or ``the group``."""
        return SUBJECTS[each_of(self.aim.holds)].format(self.at)


SUBJECTS: Final = {"m": "m{}", "p": "partition {}", "": "the group"}


def instances(model: Model, bounds: Bounds) -> list[Instance]:
    """Every aim for each that it is about, in the order in which `kernel.survey` writes them."""
    found = []
    for aim in model.liveness:
        each = each_of(aim.holds)
        count = int(getattr(bounds, EACH[each])) if each else 1
        found += [Instance(aim, at) for at in range(count)]
    return found


def held_in(machine: Machine, wanted: Iterable[Instance], states: Iterable[Any]) -> list[list[bool]]:
    """Of each state, which of the aims hold in it."""
    calls = [(positional(instance.aim.holds, "c, s, m, p"), instance.at) for instance in wanted]
    return [[bool(holds(machine.config, state, at, at)) for holds, at in calls] for state in states]
