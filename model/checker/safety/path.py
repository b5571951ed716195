"""Paths: a run of a model as an address that can be written down, sent to someone, and replayed.

A path holds actions, and its address their indices among the enabled actions: short, and each index that is in range
leads somewhere. The price is that an address holds for one version of a model only, because indices shift when a rule
is added.

`model.execution` runs a path for a report, and `model.registry.path_at` finds the model that an address belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

VERSION = "v1"
"""The version of the notation; that of the model is not written."""

BOUNDS = r"[\w-]+(?:\?[\w=&-]*)?"
"""Bounds in an address, as `Bounds.from_address` reads them."""

INDICES = r"(?:\d{1,9}(?:\.\d{1,9})*)?"
"""Steps in an address; none for a path that stays in the initial state. No state has 10^9 actions."""


class Run(NamedTuple):
    """A path as it ran: the states, the initial one first, and the index of each action among the enabled ones."""

    states: tuple[Any, ...]
    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A run of a model, or of a mutant of it: bounds and actions.

    Where ``loop`` is given, it goes on for ever: the actions from this place on repeat (none: it stays where it is).
    """

    model: Model = field(repr=False)
    """The model, a mutant where the path belongs to one."""
    bounds: Bounds
    """The bounds within which actions count as enabled: an index of the address depends on them."""
    actions: tuple[Action, ...]
    """From the initial state on."""
    loop: int | None = None
    """The index in ``actions`` from which they repeat (a lasso); None for a run that ends."""

    @property
    def mutant(self) -> str:
        """The name of the defect that the model runs with, empty for none."""
        return self.model.mutant

    @property
    def machine(self) -> Machine:
        """The interpreted model at these bounds."""
        return Machine(self.model, self.bounds)

    def address(self) -> str:
        """``v1/eager?members=2/0.2.1``: at each step the index of the action among the enabled ones.

        A mutant stands behind the bounds: ``v1/eager?members=2!name/0.2.1``. A part that repeats for ever begins with
        ``~``: ``0.2.1~3.4``. Quote it for a shell.
        """
        return self.written(self.run().indices)

    def run(self) -> Run:
        """Run the actions on the interpreted model.

        Raises `RebalanceCheckError` when an action is not enabled where it stands.
        """
        machine = self.machine
        states, indices = [machine.initial()], list[int]()
        for number, action in enumerate(self.actions, 1):
            enabled = machine.enabled(states[-1])
            if action not in enabled:
                listed = ", ".join(map(str, enabled)) or "none"
                raise RebalanceCheckError(f"step {number}, {action}, is not enabled there; enabled are: {listed}")
            indices.append(enabled.index(action))
            states.append(machine.copy(states[-1]))
            machine.step(states[-1], action)
        return Run(tuple(states), tuple(indices))

    def written(self, indices: Sequence[int]) -> str:
        """The `address`, from the indices that a `run` has."""
        mutant = f"!{self.mutant}" if self.mutant else ""
        parts = [indices] if self.loop is None else [indices[: self.loop], indices[self.loop :]]
        return f"{VERSION}/{self.bounds.address()}{mutant}/" + "~".join(".".join(map(str, part)) for part in parts)

    @classmethod
    def from_address(cls, text: str, model_for: Callable[[Bounds, str], Model]) -> Self:
        """The path of an `address`; ``model_for`` finds the model of bounds and the name of a mutant.

        Raises `RebalanceCheckError` where the address cannot be read or followed (see `model.registry.path_at`).
        """
        found = re.fullmatch(rf"{VERSION}/({BOUNDS})(?:!([\w-]+))?/({INDICES})(?:~({INDICES}))?", text.strip())
        if found is None:
            raise RebalanceCheckError(
                f"{text!r} is no path: expected {VERSION}/BOUNDS/INDICES such as "
                f"{VERSION}/eager?members=2&partitions=2/0.2.1"
            )
        bounds = Bounds.from_address(found[1])
        model = model_for(bounds, found[2] or "")
        way, again = ([int(index) for index in (part or "").split(".") if index] for part in (found[3], found[4]))
        actions = tuple(follow(Machine(model, bounds), way + again, text))
        return cls(model, bounds, actions, None if found[4] is None else len(way))


def follow(machine: Machine, indices: Sequence[int], text: str) -> list[Action]:
    """The actions that the indices name; ``text`` is the address, for the message.

    Raises `RebalanceCheckError` when an index names no enabled action.
    """
    state, actions = machine.initial(), []
    for number, index in enumerate(indices, 1):
        enabled = machine.enabled(state)
        if index >= len(enabled):
            raise RebalanceCheckError(
                f"step {number} of the path {text!r} is {index}, but only {len(enabled)} actions are enabled there: "
                "the path was written by another version of the model, or with other bounds"
            )
        machine.step(state, enabled[index])
        actions.append(enabled[index])
    return actions
