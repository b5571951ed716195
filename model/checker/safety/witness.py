"""A shortest path to a reachable state, or to the end of a reachable step, of a model (`Model.reachable_states`).

An exploration says *that* a reachable state was met; a witness shows how, as an example of the model or as the start of
a scenario. It is found as a counterexample to "never ``goal``", by the same search.
"""

from __future__ import annotations

from typing import Any

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.explore import concrete
from rebalance_check.model.checker.safety.limits import NO_LIMITS, Limits
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.safety.search import Outcome, Search
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class WitnessSearch(Search):
    """A search that ends where ``goal`` is reached first, as it would end at a violation."""

    goal = ""
    """The name of the reachable state or step to find; set before `run`."""

    def judge(self, state: Any, packed: bytes) -> None:
        """Check the invariants on a new state, and whether it is the goal."""
        super().judge(state, packed)
        if self.goal in self.outcome.met and not self.outcome.violated:
            self.violate(self.goal, self.path_to(packed))

    def judge_step(self, state: Any, after: Any, parent: bytes, action: Action) -> None:
        """Check the step invariants on a transition, and whether it is the goal."""
        super().judge_step(state, after, parent, action)
        if self.goal in self.outcome.met and not self.outcome.violated:
            self.violate(self.goal, [*self.path_to(parent), action])


def witness(model: Model, bounds: Bounds, goal: str) -> Path | None:
    """A shortest path within ``bounds`` to a state, or to the end of a step, where ``goal`` is true; None for none.

    Raises `RebalanceCheckError` as `found_witness` does.
    """
    return found_witness(model, bounds, goal, NO_LIMITS)[0]


def found_witness(model: Model, bounds: Bounds, goal: str, limits: Limits) -> tuple[Path | None, Outcome]:
    """The shortest path to ``goal``, None where the search ends without it, and the search's outcome.

    ``goal`` is a name of `Model.reachable_states` or `Model.reachable_steps`. Interpreted, and so for small bounds.

    Raises `RebalanceCheckError` for a name that the model has not, and where an invariant breaks on the way.
    """
    names = [claim.__name__ for claim in (*model.reachable_states, *model.reachable_steps)]
    if goal not in names:
        raise RebalanceCheckError(
            f"{goal!r} is no reachable state or step of the model: choose one of {', '.join(names)}"
        )
    machine = Machine(model, bounds)
    search = WitnessSearch(machine, symmetry=True, limits=limits)
    search.goal = goal
    outcome = search.run()
    if outcome.violated not in {"", goal}:
        raise RebalanceCheckError(
            f"{outcome.violated} breaks before {goal} is reached: explore {bounds.address()} first"
        )
    path = Path(model, bounds, tuple(concrete(machine, outcome.path, goal))) if outcome.violated else None
    return path, outcome
