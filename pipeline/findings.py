"""A campaign's findings, by signature: violations of one claim that differ only in their numbers; known ones apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rebalance_check.pipeline.judging import ClaimTally, FoundRun, VerdictRow
from rebalance_check.properties.implication import may_follow
from rebalance_check.properties.judge import judge
from rebalance_check.properties.known import KnownEntry, KnownFindings
from rebalance_check.properties.signatures import shape_of
from rebalance_check.properties.verdict import Outcome, with_consequences


@dataclass(frozen=True, slots=True)
class Finding:
    """Violations that are alike: their claim, the ``shape`` of their headlines, and the rows of their runs by seed."""

    claim: str
    shape: str
    rows: tuple[VerdictRow, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the runs, in order."""
        return tuple(row.seed for row in self.rows)

    @property
    def shortest(self) -> VerdictRow:
        """The shortest run; among equals that with the smallest seed."""
        return min(self.rows, key=lambda row: (row.event_count, row.seed))


@dataclass(frozen=True, slots=True)
class KnownTally:
    """In how many runs something was found that ``entry`` accounts for: the rows of these runs, by seed."""

    entry: KnownEntry
    rows: tuple[VerdictRow, ...]


def findings(tallies: Mapping[str, ClaimTally]) -> list[Finding]:
    """Violations, grouped by signature: claims in their order, for each the signature of most runs first."""
    return [finding for claim in tallies.values() for finding in _of_claim(claim)]


def _of_claim(claim: ClaimTally) -> Iterator[Finding]:
    by_shape: dict[str, list[VerdictRow]] = {}
    for row in claim.violations:
        by_shape.setdefault(shape_of(row.detail), []).append(row)
    for shape, rows in sorted(by_shape.items(), key=lambda pair: (-len(pair[1]), pair[1][0].seed)):
        yield Finding(claim.invariant, shape, tuple(rows))


def folded(tallies: Mapping[str, ClaimTally], found: Sequence[FoundRun]) -> tuple[FoundRun, ...]:
    """The runs of first causes, each with the invariants that broke only in runs in which the cause broke, too."""
    runs = {run.counterexample.invariant: run for run in sorted(found, key=_place)}
    seeds = {name: {row.seed for row in tallies[name].violations} for name in runs}
    then: dict[str, tuple[str, ...]] = {}
    for name in runs:
        known = {one for names in then.values() for one in names}
        within = (one for one in runs if one in may_follow(name) and one != name and seeds[one] <= seeds[name])
        then[name] = tuple(one for one in within if one not in known and name not in then.get(one, ()))
    explained = {one for names in then.values() for one in names}
    first = [run for run in found if run.counterexample.invariant not in explained]
    return tuple(_with_consequences(run, then[run.counterexample.invariant]) for run in first)


def _with_consequences(run: FoundRun, names: Sequence[str]) -> FoundRun:
    """The run with the consequences in this very run."""
    later = judge(run.history, names).counterexamples if names else ()
    return replace(run, counterexample=with_consequences(run.counterexample, later))


def _place(run: FoundRun) -> int:
    """Where in its history a run broke its invariant."""
    broke_at = run.counterexample.events[-1:]
    return next((at for at, event in enumerate(run.history) if event in broke_at), len(run.history))


def apart(
    tallies: Mapping[str, ClaimTally], known: KnownFindings
) -> tuple[dict[str, ClaimTally], tuple[KnownTally, ...]]:
    """The tallies without known findings, and a tally for each known finding, in the order of the list.

    A run with nothing but known violations of a claim counts as one in which it held.
    """
    taken: dict[int, list[VerdictRow]] = {number: [] for number in range(len(known.entries))}
    numbers = {id(entry): number for number, entry in enumerate(known.entries)}
    left = {}
    for name, claim in tallies.items():
        new: list[VerdictRow] = []
        for row in claim.violations:
            entry = known.entry_for(row.invariant, row.detail)
            (new if entry is None else taken[numbers[id(entry)]]).append(row)
        left[name] = _with_violations(claim, new)
    return left, tuple(KnownTally(known.entries[number], tuple(rows)) for number, rows in taken.items())


def _with_violations(claim: ClaimTally, new: list[VerdictRow]) -> ClaimTally:
    excused = len(claim.violations) - len(new)
    if not excused:
        return claim
    outcomes = Counter(claim.outcomes)
    outcomes[Outcome.VIOLATED] -= excused
    outcomes[Outcome.HELD] += excused
    return replace(claim, outcomes=outcomes, violations=new)
