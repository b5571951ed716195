"""The outcome of a step of the coordinator, and how model and coordinator may differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rebalance_check.impl.comparison.difference import Difference, Field
from rebalance_check.impl.comparison.to_model.answers import Answer
from rebalance_check.impl.comparison.to_model.view import View
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.schedule import Schedule

MODEL: Final = "model"
"""The name of the model, as a side."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The outcome of a step of the coordinator: the answers it gives, sorted, and the group afterwards."""

    answers: tuple[Answer, ...]
    view: View

    def agrees_with(self, seen: StepOutcome) -> bool:
        """Whether the answers are the same, and the group wherever both show it."""
        return self.answers == seen.answers and self.view.agrees_with(seen.view)

    def __str__(self) -> str:
        """The answers, then the group."""
        return f"{', '.join(map(str, self.answers)) or 'no answer'}; {self.view}"


class Alternatives(tuple[Any, ...]):
    """The model allows any of these."""

    __slots__ = ()

    def __str__(self) -> str:
        """Each of them."""
        return ", or ".join(map(str, self))


class Answers(tuple[Answer, ...]):
    """Answers of one step, sorted."""

    __slots__ = ()

    def __str__(self) -> str:
        """Each in a few words."""
        return ", ".join(map(str, self)) or "none"


class Disagreement(NamedTuple):
    """How a difference from the model arose: the schedule until then, the outcomes that it allows, and the one seen."""

    schedule: Schedule
    predicted: tuple[StepOutcome, ...]
    observed: StepOutcome

    def difference(self, name: str) -> Difference:
        """The difference between the model and the coordinator of this name."""
        allowed, seen = self.predicted, self.observed
        answers = Field("answers", Alternatives(dict.fromkeys(Answers(one.answers) for one in allowed)), seen.answers)
        group = Field("group", Alternatives(dict.fromkeys(one.view for one in allowed)), seen.view)
        is_answered = any(one.answers == seen.answers for one in allowed)
        is_shown = any(one.view.agrees_with(seen.view) for one in allowed)
        differing = [*([] if is_answered else [answers]), *([] if is_shown else [group])]
        fields = tuple(differing) or (answers, group)
        shown = tuple(each._replace(second=Answers(each.second)) if each is answers else each for each in fields)
        actions = self.schedule.actions
        return Difference((MODEL, name), actions, shown, kind=str(actions[-1].kind), start=self)


@dataclass(frozen=True, slots=True)
class Step:
    """One action performed: the answers that came back, the model's states around it, and the difference, if any."""

    action: Action
    answers: tuple[Answer, ...]
    before: Any
    after: Any
    difference: Difference | None = None
