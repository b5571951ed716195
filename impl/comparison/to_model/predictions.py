"""The model's predictions, within some bounds, for each state and action, worked out once and shared by runs.

Runs of the same bounds go the same ways again and again: a tour of all transitions visits each about six times. Equal
states are one object here, so that a look at its place stands for stepping the model and for describing its
predictions. A state that came from here must not be changed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from rebalance_check.impl.comparison.to_model.action_kinds import FAILOVER
from rebalance_check.impl.comparison.to_model.answers import predicted_answers
from rebalance_check.impl.comparison.to_model.outcome import StepOutcome
from rebalance_check.impl.comparison.to_model.view import predicted_view
from rebalance_check.model.checker.interpreter import Call, Machine, positional
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds

REMEMBERED: Final = 1 << 15
"""How many states are kept before all are forgotten: a state with all that is known of it takes some kilobytes."""

Allowed = tuple[StepOutcome, Any, Any]
"""An outcome that the model allows, with the states before and after it."""


class _Place:
    """A state, its bytes, and the answers to questions about it."""

    __slots__ = ("after", "allowed", "enabled", "packed", "state")

    def __init__(self, state: Any, packed: bytes) -> None:
        self.state = state
        self.packed = packed
        self.enabled: list[Action] | None = None
        self.after: dict[Action, Any | None] = {}
        self.allowed: dict[Action, tuple[Allowed, ...]] = {}


class Predictions:
    """The model of ``bounds`` (or ``model``, a mutant of it) as a run sees it; runs that share it save work."""

    def __init__(self, bounds: Bounds, model: Model | None = None) -> None:
        self.machine, self._choices = machine_of(model or model_for(bounds), bounds)
        self._by_bytes: dict[bytes, _Place] = {}
        self._by_id: dict[int, _Place] = {}  # a place holds its state, so the number stays that state's
        self._initial = self.machine.initial()

    def initial(self) -> Any:
        """The initial state."""
        return self._place(self._initial).state

    def pack(self, state: Any) -> bytes:
        """The bytes of a state."""
        return self._place(state).packed

    def enabled(self, state: Any) -> list[Action]:
        """The actions that may happen next, always in the same order."""
        place = self._place(state)
        if place.enabled is None:
            place.enabled = self.machine.enabled(place.state)
        return place.enabled

    def after(self, state: Any, action: Action) -> Any | None:
        """The state after an action; None where it is not enabled."""
        place = self._place(state)
        try:
            return place.after[action]
        except KeyError:
            made = self.machine.copy(place.state)
            found = self._place(made).state if self.machine.step(made, action) else None
            place.after[action] = found
            return found

    def allowed(self, state: Any, action: Action) -> tuple[Allowed, ...]:
        """The outcomes that the model allows after an action, the wished one first, then the other choices."""
        place = self._place(state)
        found = place.allowed.get(action)
        if found is None:
            found = place.allowed[action] = tuple(
                (self._predicted(each, place.state, after), place.state, after)
                for each in self._tries(place.state, action)
                if (after := self.after(place.state, each)) is not None
            )
        return found

    def _tries(self, state: Any, action: Action) -> list[Action]:
        """An action, and those that differ from it in their choice, where that is the coordinator's."""
        choices = None if action.kind in FAILOVER else self._choices.get(action.kind)
        count = 0 if choices is None else choices(self.machine.config, state, action.member, 0)
        return [action, *(action._replace(choice=k) for k in range(count) if k != action.choice)]

    def _predicted(self, action: Action, before: Any, after: Any) -> StepOutcome:
        """The model's prediction for one step."""
        answers = predicted_answers(action, before, after, self.machine.config, self.machine.bounds)
        return StepOutcome(answers, predicted_view(after))

    def _place(self, state: Any) -> _Place:
        place = self._by_id.get(id(state))
        if place is None:
            packed = self.machine.pack(state)
            place = self._by_bytes.get(packed) or self._noted(state, packed)
        return place

    def _noted(self, state: Any, packed: bytes) -> _Place:
        if len(self._by_bytes) >= REMEMBERED:
            self._by_bytes.clear()
            self._by_id.clear()
        place = self._by_bytes[packed] = self._by_id[id(state)] = _Place(state, packed)
        return place


@lru_cache(maxsize=64)
def machine_of(model: Model, bounds: Bounds) -> tuple[Machine, dict[ActionKind, Call]]:
    """The machine of a model, and how many choices each of its actions has; neither holds the state of a run."""
    return Machine(model, bounds), {rule.kind: positional(rule.choices) for rule in model.rules if rule.choices}
