"""What the counters of the shares of a search (`kernel`) amount to, wherever the shares are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.glue import LABEL_MEMBER, LABEL_RULE
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.actions import Action


def counted(model: Model, distinct: int, counters: Sequence[Any]) -> Outcome:
    """The outcome of a search that keeps ``distinct`` states, as far as counters say it; a path is added by others."""
    totals = np.sum(counters, axis=0)
    outcome = Outcome(distinct=distinct, cut=int(totals[kernel.CUT]), met=met(model, counters))
    outcome.fired.update({rule.kind: int(n) for rule, n in zip(model.rules, totals[kernel.FIRED :], strict=True)})
    outcome.generated = 1 + outcome.fired.total()
    broken = [int(st[kernel.CLAIM]) for st in counters if st[kernel.CLAIM]]
    if broken:
        outcome.violated = (*model.invariants, *model.step_invariants)[broken[0] - 1].__name__
    return outcome


def met(model: Model, counters: Sequence[Any]) -> set[str]:
    """The names of the reachable states and steps that any share has met."""
    found = set[str]()
    for counter, claims in ((kernel.MET, model.reachable_states), (kernel.HAPPENED, model.reachable_steps)):
        bits = int(np.bitwise_or.reduce([st[counter] for st in counters]))
        found |= {claim.__name__ for bit, claim in enumerate(claims) if bits >> bit & 1}
    return found


def fired_in(counters: Sequence[Any]) -> int:
    """How many steps were taken."""
    return sum(int(st[kernel.FIRED :].sum()) for st in counters)


def last_step(st: Any) -> list[int]:
    """The label of the step that broke a claim, where it was not the state that it begins in."""
    return [] if st[kernel.LABEL] < 0 else [int(st[kernel.LABEL])]


def actions_of(machine: Machine, labels: Iterable[int]) -> list[Action]:
    """The actions of some labels."""
    kinds = [rule.kind for rule in machine.model.rules]
    return [Action(kinds[label >> LABEL_RULE], label >> LABEL_MEMBER & 0xFF, label & 0xFFFF) for label in labels]
