"""The findings of a campaign: first the finding that comes first, at the end all of it, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rebalance_check.commands._console import Console, show_untested, verdict_line
from rebalance_check.commands._fuzz_campaign import FuzzCampaign
from rebalance_check.commands._fuzz_coverage import coverage_document, show_coverage
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.pipeline.findings import Finding, KnownTally
from rebalance_check.pipeline.judging import VerdictRow
from rebalance_check.pipeline.limits import OnFinding
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.known import KnownEntry
from rebalance_check.properties.verdict import Outcome, could_have_failed
from rebalance_check.report.documents import counts_document
from rebalance_check.report.terminal import visible

SHOWN_SEEDS: Final = 20


def said_at_once(console: Console, campaign: FuzzCampaign, *, stops: bool) -> OnFinding:
    """Report the first finding on standard error, while the campaign goes on, unless it ``stops`` there."""

    def say(row: VerdictRow) -> None:
        what = "the campaign ends here" if stops else "the campaign goes on"
        console.notice(f"first finding, seed {row.seed}: {row.invariant}: {visible(row.detail)} ({what})")
        console.notice(f"  replay   {visible(campaign.command(row.seed))}")

    return say


def show_result(console: Console, result: FuzzResult, texts: list[str], allowed: Sequence[FaultKind] = ()) -> None:
    """Each counterexample, then the figures, the verdicts and the coverage with the faults ``allowed``."""
    for text in texts:
        console.say(f"\n{text}\n")
    speed = result.events / result.seconds if result.seconds else 0
    console.say(
        f"{result.runs:,} runs, {result.events:,} events, {result.seconds:.1f} s ({speed:,.0f} events/s), "
        f"engine {result.engine}" + (f", {result.resumed:,} runs were there already" if result.resumed else "")
    )
    for fault in result.faults:
        console.say(f"  not judged: {visible(fault)}")
    show_claims(console, result)
    show_known(console, result.known)
    tallies = {invariant: result.verdicts[invariant.name] for invariant in select(result.verdicts)}
    untested = {each: tally.reason for each, tally in tallies.items() if tally.outcome is Outcome.UNTESTED}
    show_untested(console, untested, required=result.require_tested)
    show_coverage(console, result, allowed)
    if result.failing_seeds:
        console.say(f"failing seeds: {_seeds(result.failing_seeds)}")
    violated = [name for name, claim in result.verdicts.items() if claim.outcome is Outcome.VIOLATED]
    broken = [name for name in violated if name not in result.causes]
    figures = could_have_failed(claim.outcome for claim in result.verdicts.values())
    about = f"{figures} in {result.runs:,} runs{_known_in_words(result)}"
    console.say(verdict_line(result.outcome, broken, about))


def show_claims(console: Console, result: FuzzResult) -> None:
    """The claims that did not hold; of those that broke, each signature with its runs."""
    found, causes = result.findings, result.causes
    for name, claim in result.verdicts.items():
        if claim.outcome in (Outcome.HELD, Outcome.UNTESTED):
            continue
        more = f" in {claim.outcomes[claim.outcome]} runs"
        if cause := causes.get(name):
            console.say(f"  {claim.outcome:<9} {name}{more}: follows from {cause}")
            continue
        reason = f": {visible(claim.reason)}" if claim.reason else ""
        console.say(f"  {claim.outcome:<9} {name}{more}{reason}")
        for finding in found:
            if finding.claim == name:
                console.say(f"    {_runs(len(finding.rows))}: {visible(finding.shape)} ({_seeds(finding.seeds)})")


def show_known(console: Console, known: tuple[KnownTally, ...]) -> None:
    """The known findings, with their runs; then the entries of the list that account for nothing."""
    for each in known:
        if each.rows:
            console.say(f"  {visible(str(each.entry))} in {_runs(len(each.rows))}: {visible(each.entry.reason)}")
    for each in known:
        if not each.rows:
            console.say(f"  {entry_not_seen(each.entry)}")


def entry_not_seen(entry: KnownEntry) -> str:
    """The sentence on an entry that accounts for nothing."""
    return f"not seen: {visible(str(entry))}; if it does not come back, delete the entry"


def _known_in_words(result: FuzzResult) -> str:
    runs = {row.seed for each in result.known for row in each.rows}
    return f", {_runs(len(runs))} with known findings" if runs else ""


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"


def _seeds(seeds: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, seeds[:SHOWN_SEEDS]))}{' ...' if len(seeds) > SHOWN_SEEDS else ''}"


def fuzz_document(result: FuzzResult) -> dict[str, Any]:
    """The JSON form of a campaign."""
    return {
        "engine": result.engine,
        "runs": result.runs,
        "events": result.events,
        "resumed": result.resumed,
        "seconds": round(result.seconds, 3),
        "verdict": result.outcome.value,
        "counts": counts_document(claim.outcome for claim in result.verdicts.values()),
        "verdicts": {
            name: {"verdict": claim.outcome.value, **{o.value: claim.outcomes[o] for o in Outcome}}
            for name, claim in result.verdicts.items()
        },
        "failing_seeds": list(result.failing_seeds),
        "findings": [_finding_document(finding) for finding in result.findings],
        "known": [_known_document(each) for each in result.known if each.rows],
        "known_not_seen": [entry_document(each.entry) for each in result.known if not each.rows],
        "faults": list(result.faults),
        "coverage": coverage_document(result),
    }


def _finding_document(finding: Finding) -> dict[str, Any]:
    return {"invariant": finding.claim, "finding": finding.shape, "runs": len(finding.rows), "seeds": finding.seeds}


def _known_document(each: KnownTally) -> dict[str, Any]:
    return {**entry_document(each.entry), "runs": len(each.rows), "seeds": [row.seed for row in each.rows]}


def entry_document(entry: KnownEntry) -> dict[str, Any]:
    """The JSON form of an entry of a list of known findings."""
    return {"invariant": entry.claim, "finding": entry.finding, "of": entry.of, "reason": entry.reason}
