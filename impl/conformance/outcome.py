"""What a step of the coordinator leads to, and how model and coordinator may differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalance_check.impl.conformance.answers import Answer
from rebalance_check.impl.conformance.view import View
from rebalance_check.model.vocabulary.actions import Action


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a step of the coordinator leads to: the answers it gives, sorted, and the group afterwards."""

    answers: tuple[Answer, ...]
    view: View

    def agrees_with(self, seen: StepOutcome) -> bool:
        """Whether the answers are the same, and the group wherever both show it."""
        return self.answers == seen.answers and self.view.agrees_with(seen.view)

    def __str__(self) -> str:
        """The answers, then the group."""
        return f"{', '.join(map(str, self.answers)) or 'no answer'}; {self.view}"


@dataclass(frozen=True, slots=True)
class Divergence:
    """Model and coordinator disagree: each outcome that the model allows, and the one that was seen."""

    step: int
    action: Action
    predicted: tuple[StepOutcome, ...]
    observed: StepOutcome

    def __str__(self) -> str:
        """A few lines that can stand in a report."""
        allowed = "\n  or        ".join(map(str, self.predicted))
        return f"step {self.step}, {self.action}\n  predicted {allowed}\n  observed  {self.observed}"


@dataclass(frozen=True, slots=True)
class Step:
    """One action performed: the answers that came back, the model's states around it, and the divergence, if any."""

    action: Action
    answers: tuple[Answer, ...]
    before: Any
    after: Any
    divergence: Divergence | None = None
