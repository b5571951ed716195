"""Paths: a run of a model as an address that can be written down, sent to someone, and replayed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.specification import edited, model_for
from rebalance_check.model.registry import mutant_named
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

VERSION = "v1"
INDICES = r"(?:\d+(?:\.\d+)*)?"


@dataclass(frozen=True, slots=True)
class Path:
    """A run of the model: bounds, the name of the mutant it ran on ("" for the healthy model), and its actions.

    Where ``loop`` is given, it goes on for ever: the actions from this place on repeat (none: it stays where it is).
    """

    bounds: Bounds
    actions: tuple[Action, ...]
    mutant: str = ""
    loop: int | None = None

    def address(self) -> str:
        """``v1/eager/2m2p.../0.2.1``: at each step the index of the action among the enabled ones.

        A mutant stands behind the bounds: ``v1/eager/2m2p...!name/0.2.1``. A part that repeats for ever begins with
        ``~``: ``0.2.1~3.4``.
        """
        machine = machine_for(self.bounds, self.mutant)
        state, indices = machine.initial(), []
        for action in self.actions:
            indices.append(machine.enabled(state).index(action))
            machine.step(state, action)
        mutant = f"!{self.mutant}" if self.mutant else ""
        parts = [indices] if self.loop is None else [indices[: self.loop], indices[self.loop :]]
        return f"{VERSION}/{self.bounds.address()}{mutant}/" + "~".join(".".join(map(str, part)) for part in parts)

    @classmethod
    def from_address(cls, text: str) -> Self:
        """The path of an `address`; `RebalanceCheckError` tells where it cannot be followed."""
        found = re.fullmatch(rf"{VERSION}/(\w+/\w+)(?:!([\w-]+))?/({INDICES})(?:~({INDICES}))?", text.strip())
        if found is None:
            raise RebalanceCheckError(
                f"{text!r} is no path: expected {VERSION}/PROTOCOL/BOUNDS/INDICES such as "
                f"{VERSION}/eager/2m2p4g1c0l0x0d0z1i0r/0.2.1"
            )
        bounds, mutant = Bounds.from_address(found[1]), found[2] or ""
        way, again = ([int(index) for index in (part or "").split(".") if index] for part in (found[3], found[4]))
        actions = tuple(follow(machine_for(bounds, mutant), way + again, text))
        return cls(bounds, actions, mutant, None if found[4] is None else len(way))


def machine_for(bounds: Bounds, mutant: str = "") -> Machine:
    """The interpreted model at these bounds, with one line changed when a mutant is named."""
    model = model_for(bounds)
    return Machine(edited(model, mutant_named(mutant).edit) if mutant else model, bounds)


def follow(machine: Machine, indices: Sequence[int], text: str) -> list[Action]:
    """The actions that the indices name."""
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
