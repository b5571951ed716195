"""What a campaign comes back with: figures, a tally per claim, failing seeds, one explained run per broken claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_check.pipeline.judging import ClaimTally, FoundRun
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of, worst_exit_code
from rebalance_check.properties.verdict import Outcome, worst_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzResult:
    """The outcome of a campaign, or of judging a table.

    ``runs`` and ``events`` are what was judged; ``resumed`` counts the runs that stood in the table before.
    ``verdicts`` has a tally per claim, in the order of the catalogue, ``counterexamples`` one run per violated claim.
    ``seconds`` are wall time from the first seed to the last verdict, without the start of a Spark session. ``faults``
    name the shards of the table that could not be read, and were not judged.
    """

    engine: str
    runs: int
    events: int
    resumed: int
    verdicts: Mapping[str, ClaimTally]
    counterexamples: tuple[FoundRun, ...]
    failing_seeds: tuple[int, ...]
    seconds: float
    faults: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of all claims."""
        return worst_outcome(tally.outcome for tally in self.verdicts.values())

    @property
    def exit_code(self) -> ExitCode:
        """0 held, 10 a safety invariant is violated, 11 only a liveness invariant is, 2 bad shards, 12 undecided."""
        codes = [exit_code_of(self.verdicts[i.name].outcome, i.kind) for i in select(self.verdicts)]
        return worst_exit_code([*codes, *(ExitCode.USAGE for _ in self.faults)])
