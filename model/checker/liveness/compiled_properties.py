"""The liveness properties of a model one by one: a liveness property about members is one for each member.

"Each member gets an assignment again and again" must not be judged as "in some state all have one": each member is an
instance of its own, and the property is violated when any instance is. The compiled backend writes one column for each
instance (`compiled.achieved_source`), the interpreted one uses `held_in`; both in the order of `instances`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from rebalance_check.model.checker.interpreter import Machine, positional
from rebalance_check.model.checker.specification import EACH, LivenessProperty, Model, each_of
from rebalance_check.model.vocabulary.bounds import Bounds


class Instance(NamedTuple):
    """A liveness property, and which member or partition it is about (0 where it is about none)."""

    liveness_property: LivenessProperty
    """The property, with its predicate ``holds``."""
    at: int
    """The slot of the member, or the number of the partition."""

    def __str__(self) -> str:
        """``m1``, ``partition 0``, or ``the group``."""
        return SUBJECTS[each_of(self.liveness_property.holds)].format(self.at)


SUBJECTS: Final = {"m": "m{}", "p": "partition {}", "": "the group"}
"""How an instance is named in reports, by the parameter of its predicate (`specification.EACH`)."""


def instances(model: Model, bounds: Bounds) -> list[Instance]:
    """Every liveness property for each that it is about, in the order in which `kernel.survey` writes them."""
    found = []
    for one in model.liveness:
        each = each_of(one.holds)
        count = int(getattr(bounds, EACH[each])) if each else 1
        found += [Instance(one, at) for at in range(count)]
    return found


def held_in(machine: Machine, wanted: Iterable[Instance], states: Iterable[Any]) -> list[list[bool]]:
    """Of each state, which of the liveness properties hold in it: a list for each state, in the order of ``wanted``."""
    calls = [(positional(instance.liveness_property.holds, "c, s, m, p"), instance.at) for instance in wanted]
    return [[bool(holds(machine.config, state, at, at)) for holds, at in calls] for state in states]
