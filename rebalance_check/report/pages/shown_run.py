"""One run on a page, before anything is drawn: its steps, the claims that broke in it, and where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.verdict import Because, Counterexample, Outcome
from rebalance_check.report.text import Origin


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim that is broken in a run: ``sentence`` is its text, ``because`` why it does not hold.

    ``events`` are those concerned, the last one where the claim broke; without any it broke at the last step.
    """

    claim: str
    headline: str
    sentence: str
    because: Sequence[Because] = ()
    events: Sequence[Event] = ()

    @classmethod
    def of(cls, found: Counterexample) -> Finding:
        """The finding that a counterexample explains; the last reasons tell the consequences."""
        then = [Because(f"then {one}") for one in found.consequences]
        return cls(found.invariant, found.headline, found.claim, [*found.because, *then], found.events)


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One run on a page.

    ``steps`` are actions or events, each with the events it caused: an event of a history, or an action of the model.
    ``file_name`` is that of the history that a page gives back, empty for a run of the model. ``lines`` say more about
    the run. The steps behind ``repeats_after`` repeat for ever.
    """

    name: str
    verdict: Outcome
    steps: Sequence[tuple[str, Sequence[Event]]]
    origin: Origin
    findings: Sequence[Finding] = ()
    lines: Sequence[str] = ()
    file_name: str = ""
    repeats_after: int | None = None
