"""What one run leaves behind: its history, and what the judge said about each claim. Both become rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.properties.verdict import Outcome


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. ``options`` is canonical JSON, ``version`` that of the package which made the run, ``events`` the JSON
    lines of the history."""

    seed: int
    subject: str
    options: str
    version: str
    events: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """What the judge said about one claim in one run.

    ``count`` tells how often the claim was seen broken (0 unless violated), ``event_count`` the length of the run,
    ``detail`` the headline of the counterexample or the reason why nothing was decided.
    """

    seed: int
    invariant: str
    outcome: Outcome
    count: int
    event_count: int
    detail: str
