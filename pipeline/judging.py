"""Judging runs by the same invariants as ever: a run becomes verdict rows, rows become a tally per claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import Judge, judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.malformed import UnreadLine
from rebalance_check.properties.verdict import (
    Counterexample,
    Outcome,
    Undecided,
    Untested,
    Verdict,
    Violated,
    outcome_over_groups,
    overall_outcome,
)

DECIDED: Final = (Outcome.HELD, Outcome.VIOLATED)
"""The outcomes of a claim that something in the history could have broken, and that the judge could decide."""


@cache
def breaking(invariant: Invariant) -> frozenset[str]:
    """The names of the event types that a claim may break at."""
    return frozenset(kind.__name__ for way in invariant.needs for kind in way[0])


class UnreadableRun(RebalanceCheckError):  # noqa: N818 - named for what is wrong with the input
    """An event of a stored run cannot be read: names the seed, the event and the value."""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The judge's verdict on one claim in one run.

    ``count`` says how often the claim was seen broken (0 unless violated), ``event_count`` the length of the run,
    ``detail`` the headline of the counterexample or the reason why nothing was decided.
    """

    seed: int
    invariant: str
    outcome: Outcome
    count: int
    event_count: int
    detail: str


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The result of one run: its length, and the outcomes of its claims."""

    seed: int
    event_count: int
    outcomes: frozenset[Outcome]

    def outcome(self, *, require_tested: bool = False) -> Outcome:
        """Their sum: violated, undecided or held."""
        return overall_outcome(self.outcomes, require_tested=require_tested)


def run_verdicts(rows: Iterable[VerdictRow]) -> list[RunVerdict]:
    """The verdict on each run; its rows stand together."""
    return [
        RunVerdict(seed, alike[0].event_count, frozenset(row.outcome for row in alike))
        for seed, group in groupby(rows, key=lambda row: row.seed)
        for alike in [list(group)]
    ]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run and the judge's verdicts; ``pending`` names work that was unsettled when the run was healed."""

    seed: int
    judgement: Judgement
    pending: tuple[str, ...]

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """One verdict per invariant, by its name."""
        return {invariant.name: verdict for invariant, verdict in self.judgement.verdicts.items()}

    @property
    def violated(self) -> tuple[str, ...]:
        """The names of the broken invariants, in the order of the catalogue."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.outcome is Outcome.VIOLATED)

    @property
    def tested(self) -> list[tuple[str, frozenset[str]]]:
        """The claims that were put to the test, each with the event types that it may break at."""
        return [
            (invariant.name, breaking(invariant))
            for invariant, verdict in self.judgement.verdicts.items()
            if verdict.outcome in DECIDED
        ]

    @property
    def counterexample(self) -> Counterexample | None:
        """The first violated invariant's, safety before liveness."""
        return next(iter(self.judgement.counterexamples), None)

    @property
    def rows(self) -> list[VerdictRow]:
        """A row per invariant, in the order in which they were asked for."""
        return [
            VerdictRow(self.seed, name, verdict.outcome, _count(verdict), self.judgement.events, _detail(verdict))
            for name, verdict in self.verdicts.items()
        ]


def judge_run(seed: int, events: Iterable[Event], invariants: Sequence[Invariant] | None = None) -> JudgedRun:
    """Judge the run of a seed, wherever its events come from: a simulation, a list, or a row of a history table.

    ``invariants`` default to the whole catalogue. A run whose history cannot be read to its end is judged up to there:
    a violation stands, everything else is undecided.
    """
    judging, event = Judge(invariants), None
    try:
        for event in events:
            judging.observe(event)
    except UnreadableRun as fault:
        judging.miss(UnreadLine(str(fault)))
    pending = (event.pending or ()) if isinstance(event, RunEnded) else ()
    return JudgedRun(seed, judging.judgement(), pending)


def _count(verdict: Verdict) -> int:
    return verdict.count if isinstance(verdict, Violated) else 0


def _detail(verdict: Verdict) -> str:
    if isinstance(verdict, Violated):
        return verdict.counterexample.headline
    return verdict.reason if isinstance(verdict, Undecided | Untested) else ""


@dataclass(slots=True)
class ClaimTally:
    """The result of one claim in many runs: how many runs per outcome, which runs broke it, and why one is open.

    ``violations`` are the rows of the runs that broke the claim, in order of their seeds; ``first_open`` has, for
    undecided and for untested, the row of the run with the smallest seed.
    """

    invariant: str
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    violations: list[VerdictRow] = field(default_factory=list)
    first_open: dict[Outcome, VerdictRow] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of all runs, where one that held makes up for those that are untested."""
        found = outcome_over_groups(outcome for outcome, runs in self.outcomes.items() if runs)
        return Outcome.UNDECIDED if found is None else found

    @property
    def reason(self) -> str:
        """Why the claim is undecided or untested, in the run of this kind with the smallest seed; otherwise empty."""
        first = self.first_open.get(self.outcome)
        return first.detail if first else ""

    @property
    def shortest(self) -> VerdictRow | None:
        """The shortest run that broke the claim; among equals that with the smallest seed."""
        return min(self.violations, key=lambda row: (row.event_count, row.seed), default=None)


def tally(rows: Iterable[VerdictRow], invariants: Sequence[str]) -> dict[str, ClaimTally]:
    """Add verdict rows up, one tally per name of ``invariants``, in that order; the order of rows does not matter."""
    tallies = {name: ClaimTally(name) for name in invariants}
    for row in rows:
        claim = tallies[row.invariant]
        claim.outcomes[row.outcome] += 1
        if row.outcome is Outcome.VIOLATED:
            claim.violations.append(row)
        elif row.outcome is not Outcome.HELD:
            first = claim.first_open.get(row.outcome, row)
            claim.first_open[row.outcome] = min(row, first, key=lambda each: each.seed)
    for claim in tallies.values():
        claim.violations.sort(key=lambda row: row.seed)
    return tallies


def failing_seeds(tallies: Mapping[str, ClaimTally]) -> tuple[int, ...]:
    """The seeds of all runs that broke any claim, in order."""
    return tuple(sorted({row.seed for claim in tallies.values() for row in claim.violations}))


@dataclass(frozen=True, slots=True)
class FoundRun:
    """The shortest run that broke a claim: its seed, its history, and why the claim does not hold in it."""

    seed: int
    history: tuple[Event, ...]
    counterexample: Counterexample


def explain(tallies: Mapping[str, ClaimTally], history_of: Callable[[int], Sequence[Event]]) -> tuple[FoundRun, ...]:
    """The shortest run of each broken claim, judged once more for its counterexample.

    Raises `RebalanceCheckError` when the second look sees no violation: then the history of a seed is not always the
    same, and no verdict on it is worth anything.
    """
    found: list[FoundRun] = []
    for claim in tallies.values():
        if claim.shortest is None:
            continue
        seed = claim.shortest.seed
        history = tuple(history_of(seed))
        verdict = judge(history, select([claim.invariant])).verdict(claim.invariant)
        if not isinstance(verdict, Violated):
            raise RebalanceCheckError(
                f"seed {seed} broke {claim.invariant} and, run again, does not: its history is not the same each time; "
                f"look for a clock, a random number or the order of a set that the seed does not decide"
            )
        found.append(FoundRun(seed, history, verdict.counterexample))
    return tuple(found)
