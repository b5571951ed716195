"""What a judge says: held, violated or undecided, as data. Nothing here prints; `Violation` is the form that raises.

A counterexample is an explanation in three parts: the claim, the reasons (each with the event that gives it), and the
events concerned. Reports turn it into text, a table of members, or a page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rebalance_check.model.vocabulary.events import Event

STEP = "{step}"
"""Stands in a reason's text for the place of its event; a report that knows the history writes ``step 6`` there."""


class Outcome(StrEnum):
    """The three verdicts, from best to worst: a violation outweighs a doubt, and a doubt outweighs a pass."""

    HELD = "held"
    UNDECIDED = "undecided"
    VIOLATED = "violated"


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of the outcomes; `Outcome.HELD` when there is none."""
    return max(outcomes, key=list(Outcome).index, default=Outcome.HELD)


@dataclass(frozen=True, slots=True)
class Because:
    """One reason: a sentence, in which `STEP` stands for the place of ``event``, the event that gives the reason."""

    text: str
    event: Event | None = None

    def __str__(self) -> str:
        return self.text.replace(STEP, place_of(self.event))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """Why a claim does not hold.

    ``invariant`` is the claim's name, ``headline`` what went wrong in one short line (who, what, when), ``because`` the
    reasons ending on the contradiction, ``events`` the events concerned in the order of observation, the last one
    being where the claim broke. ``group`` is the group they belong to.
    """

    invariant: str
    headline: str
    claim: str
    because: tuple[Because, ...]
    events: tuple[Event, ...]
    group: str = ""

    def __str__(self) -> str:
        """First line: name and headline; then the claim and one line per reason."""
        lines = [f"{self.invariant}: {self.headline}", f"  claim    {self.claim}"]
        labels = ["because", *[""] * len(self.because)]
        lines += [f"  {label:<8} {reason}" for label, reason in zip(labels, self.because, strict=False)]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Held:
    """The claim held on all events. ``checked_events`` counts those that the claim depends on: 0 is a vacuous pass."""

    checked_events: int = 0

    outcome = Outcome.HELD


@dataclass(frozen=True, slots=True)
class Undecided:
    """No conclusion: a premise fails, the history is incomplete, or the checker failed. ``reason`` says which."""

    reason: str

    outcome = Outcome.UNDECIDED


@dataclass(frozen=True, slots=True)
class Violated:
    """The claim is broken: the first counterexample, and how often the claim was seen broken in all."""

    counterexample: Counterexample
    count: int = 1

    outcome = Outcome.VIOLATED


Verdict: TypeAlias = Held | Undecided | Violated
"""What a judge says about one claim."""


class Violation(AssertionError):  # noqa: N818 - it is a failed claim about a subject, not an error of this program
    """A violated claim as an exception. Each invariant raises its own subclass, so that Hypothesis reports distinct
    violations apart; ``counterexample`` holds the explanation."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(str(counterexample))
        self.counterexample = counterexample

    def __reduce__(self) -> tuple[type[Violation], tuple[Counterexample]]:
        return (type(self), (self.counterexample,))


def place_of(event: Event | None) -> str:
    """How an event is named when its place in the history is not known: ``event 4 of m1``."""
    if event is None or event.seq < 0:
        return "an unnumbered event"
    return f"event {event.seq} of {event.source}"


def worst(verdicts: list[Verdict]) -> Verdict:
    """The worst of the verdicts on one claim; counts of equal outcomes are added up. ``Held()`` when there is none."""
    violated = [v for v in verdicts if isinstance(v, Violated)]
    if violated:
        return Violated(violated[0].counterexample, sum(v.count for v in violated))
    undecided = [v for v in verdicts if isinstance(v, Undecided)]
    if undecided:
        return undecided[0]
    return Held(sum(v.checked_events for v in verdicts if isinstance(v, Held)))
