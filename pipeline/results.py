"""The result of a campaign: figures, a tally per claim, failing seeds, one explained run per broken claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalance_check.pipeline.findings import Finding, KnownTally, findings, folded
from rebalance_check.pipeline.judging import ClaimTally, FoundRun, RunVerdict
from rebalance_check.pipeline.reached import Reached
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of_claims, worst_exit_code
from rebalance_check.properties.verdict import Outcome, overall_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzResult:
    """The outcome of a campaign, or of judging a table.

    ``runs`` and ``events`` count the judged ones; ``resumed`` counts the runs that stood in the table before.
    ``verdicts`` has a tally per claim, in the order of the catalogue, ``counterexamples`` one run per violated claim.
    ``seconds`` are wall time from the first seed to the last verdict, without the start of a Spark session. ``faults``
    name the shards of the table that could not be read, and were not judged. ``require_tested``: a claim that no run
    put to the test leaves the campaign undecided. ``listed`` has every run in order of its seed, where that was asked
    for. ``known`` has the part of known findings, left out of all the rest. ``reached`` are situations that the runs
    reached together.
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
    require_tested: bool = False
    listed: tuple[RunVerdict, ...] = ()
    known: tuple[KnownTally, ...] = ()
    reached: Reached = field(default_factory=Reached)

    @property
    def outcome(self) -> Outcome:
        """The sum of the claims: violated, undecided or held. Where nothing was tested, it is undecided."""
        return overall_outcome((claim.outcome for claim in self.verdicts.values()), require_tested=self.require_tested)

    @property
    def exit_code(self) -> ExitCode:
        """0 held, 10 a safety invariant is violated, 11 only a liveness invariant is, 2 bad shards, 12 undecided."""
        claims = [(self.verdicts[i.name].outcome, i.kind) for i in select(self.verdicts)]
        code = exit_code_of_claims(claims, require_tested=self.require_tested)
        return worst_exit_code([code, *(ExitCode.USAGE for _ in self.faults)])

    @property
    def first_causes(self) -> tuple[FoundRun, ...]:
        """The counterexamples without those of invariants that broke only in runs where a first cause of theirs did;
        these are the consequences of that one."""
        return folded(self.verdicts, self.counterexamples)

    @property
    def causes(self) -> Mapping[str, str]:
        """The first cause of each violated invariant that followed from another."""
        found = [run.counterexample for run in self.first_causes]
        return {one.invariant: cause.invariant for cause in found for one in cause.consequences}

    @property
    def findings(self) -> list[Finding]:
        """New violations, by signature."""
        return findings(self.verdicts)
