"""The verdicts of several scenarios, merged: a row per claim of each KIP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rebalance_check.integration.kits.report import KitRow
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.falsify import NOT_FALSIFIABLE, falsify
from rebalance_check.properties.files import readable_events
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Held, Outcome, Undecided, Untested, Verdict, Violated, worst

CHANGED: Final = 2
"""So many histories are changed for each claim that held, those first that checked it most."""

TRIES: Final = 400
"""So many changes are tried in each of them."""

Kips = Mapping[str, Sequence[Invariant]]
"""Claims by KIP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """A scenario that was run: its history in the file ``path``, the judgement, and why it was ``cut`` short.

    ``cut`` is "" where it was not.
    """

    name: str
    path: Path
    judgement: Judgement
    cut: str
    seconds: float


def chosen_kips(names: Sequence[str], kips: Kips) -> Kips:
    """The claims of the KIPs of these names (``KIP-429``, ``429``, ``base``), all where none is given.

    Raises: RebalanceCheckError for a name that is none.
    """
    known = {alias: kip for kip in kips for alias in (kip, kip.removeprefix("KIP-"), kip.partition(" ")[0])}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise RebalanceCheckError(f"{unknown[0]!r} is no KIP of this kit: choose from {', '.join(kips)}")
    wanted = {known[name] for name in names} or set(kips)
    return {kip: claims for kip, claims in kips.items() if kip in wanted}


def rows(
    results: Sequence[ScenarioResult],
    kips: Kips,
    reproduces: Callable[[str], str],
    untested: Mapping[str, str],
    *,
    falsifies: bool = False,
) -> Iterator[KitRow]:
    """A row per claim of each KIP.

    ``reproduces`` gives the command that runs a scenario again; ``untested`` why a whole KIP could not be tested. With
    ``falsifies`` a claim that held names a change of a history that breaks it, and is untested where there is none.
    """
    for kip, claims in kips.items():
        for claim in claims:
            row = _row(kip, claim, results, reproduces, untested.get(kip, ""))
            yield _falsified(row, claim, results) if falsifies and row.outcome is Outcome.HELD else row


def _falsified(row: KitRow, claim: Invariant, results: Sequence[ScenarioResult]) -> KitRow:
    """The row with a change that breaks the claim in one of the histories in which it held."""
    held = [(verdict.checked_events, one.path) for one in results if isinstance(verdict := _said(one, claim), Held)]
    for _, path in sorted(held, key=lambda pair: -pair[0])[:CHANGED]:
        if change := falsify(list(readable_events(path)), claim, TRIES):
            return replace(row, detail=f"broken by {change.text}: {change.headline}", history=str(path))
    return replace(row, outcome=Outcome.UNTESTED, detail=NOT_FALSIFIABLE, history="")


def _said(result: ScenarioResult, claim: Invariant) -> Verdict:
    return result.judgement.verdict(claim.name)


def violated_rows(result: ScenarioResult, kips: Kips, reproduces: Callable[[str], str]) -> list[KitRow]:
    """The rows that one scenario by itself shows violated."""
    return [row for row in rows([result], kips, reproduces, {}) if row.outcome is Outcome.VIOLATED]


def _row(
    kip: str, claim: Invariant, results: Sequence[ScenarioResult], reproduces: Callable[[str], str], untested: str
) -> KitRow:
    said = [(result, _said(result, claim)) for result in results]
    verdict = worst([each for _, each in said])
    shown = _best_shown(said, verdict)
    return KitRow(
        section=kip,
        claim=claim.name,
        kind=claim.kind,
        outcome=verdict.outcome,
        checked=sum(each.checked_events for _, each in said if isinstance(each, Held)),
        detail=_detail(verdict, untested),
        history=str(shown.path) if shown else "",
        command=reproduces(shown.name) if shown and isinstance(verdict, Violated) else "",
    )


def _best_shown(said: Sequence[tuple[ScenarioResult, Verdict]], verdict: Verdict) -> ScenarioResult | None:
    """The scenario that shows the verdict best: the first of them, of those that held the one that checked most."""
    alike = [(result, each) for result, each in said if each.outcome is verdict.outcome]
    if not alike or isinstance(verdict, Untested):
        return None
    return max(alike, key=lambda pair: pair[1].checked_events if isinstance(pair[1], Held) else 0)[0]


def _detail(verdict: Verdict, untested: str) -> str:
    match verdict:
        case Violated(counterexample, count):
            text = str(counterexample).removeprefix(f"{counterexample.invariant}: ")
            return text if count == 1 else f"{text}\n  {'seen':<8} {count} times"
        case Undecided(reason):
            return reason
        case Untested(reason):
            return untested or reason
        case _:
            return ""
