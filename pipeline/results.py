"""What a campaign comes back with: figures, a tally per claim, failing seeds, one explained run per broken claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.pipeline.judging import ClaimTally, FoundRun
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import EXIT_HELD, EXIT_PROGRESS, EXIT_SAFETY, EXIT_UNDECIDED
from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome

Progress: TypeAlias = Callable[[str, int, int], None]
"""Receives the phase (``simulate``, ``judge``), the runs done in it and the runs to do, whenever some were done."""


def silent(phase: str, done: int, total: int) -> None:
    """A `Progress` that nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzResult:
    """The outcome of a campaign, or of judging a table.

    ``runs`` and ``events`` are what was judged; ``resumed`` counts the runs that stood in the table before.
    ``verdicts`` has a tally per claim, in the order of the catalogue, ``counterexamples`` one run per violated claim.
    ``seconds`` are wall time from the first seed to the last verdict, without the start of a Spark session.
    """

    engine: str
    runs: int
    events: int
    resumed: int
    verdicts: Mapping[str, ClaimTally]
    counterexamples: tuple[FoundRun, ...]
    failing_seeds: tuple[int, ...]
    seconds: float

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of all claims."""
        return max((t.outcome for t in self.verdicts.values()), key=list(Outcome).index)

    @property
    def exit_code(self) -> int:
        """0 held, 10 a safety claim is violated, 11 only a progress claim is, 12 undecided."""
        broken = [i for i in select(self.verdicts) if self.verdicts[i.name].violations]
        if broken:
            return EXIT_SAFETY if any(i.kind is Kind.SAFETY for i in broken) else EXIT_PROGRESS
        return EXIT_UNDECIDED if self.outcome is Outcome.UNDECIDED else EXIT_HELD
