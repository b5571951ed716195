"""A shortest path to a situation or moment that the model should meet somewhere, as an address that replays it."""

from __future__ import annotations

from typing import Any

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.explore import concrete
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.safety.search import Limits, Search
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Hunt(Search):
    """A search that ends where ``goal`` is met first, by the way that a violated claim would go."""

    goal = ""

    def judge(self, state: Any, packed: bytes) -> None:
        """Check the claims on a new state, and whether this is the one."""
        super().judge(state, packed)
        if self.goal in self.outcome.met and not self.outcome.violated:
            self.violate(self.goal, self.path_to(packed))

    def judge_step(self, state: Any, after: Any, parent: bytes, action: Action) -> None:
        """Check the step claims on a transition, and whether this is the one."""
        super().judge_step(state, after, parent, action)
        if self.goal in self.outcome.met and not self.outcome.violated:
            self.violate(self.goal, [*self.path_to(parent), action])


def witness(model: Model, bounds: Bounds, goal: str) -> Path | None:
    """A shortest path within ``bounds`` to a state that meets the sometimes-claim ``goal``, or to the end of a step
    that is this moment; None where there is none.

    Interpreted, and so for small bounds. `RebalanceCheckError` for a claim that the model has not, and where one of the
    claims that always hold breaks on the way.
    """
    names = [claim.__name__ for claim in (*model.reachable_states, *model.reachable_steps)]
    if goal not in names:
        raise RebalanceCheckError(f"{goal!r} is no situation of the model: choose one of {', '.join(names)}")
    machine = Machine(model, bounds)
    hunt = Hunt(machine, symmetry=True, limits=Limits(), progress=None)
    hunt.goal = goal
    outcome = hunt.run()
    if outcome.violated not in {"", goal}:
        raise RebalanceCheckError(f"{outcome.violated} breaks before {goal} is met: explore {bounds.address()} first")
    return Path(model, bounds, tuple(concrete(machine, outcome.path, goal))) if outcome.violated else None
