"""The result of each claim in a campaign of seeds, for CI systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.catalogue import select
from rebalance_check.report.claim_results import (
    ClaimResult,
    located,
    places_of,
    unread_result,
    untested_results,
)


def campaign_results(
    subject: str, result: FuzzResult, explained: Sequence[tuple[str, str]], history: Path | None = None
) -> list[ClaimResult]:
    """A result per claim over all seeds, and one for each shard that could not be read.

    ``explained`` has the text of each counterexample and the command that repeats it; ``history`` is the file of the
    first of them, None where none was written.
    """
    found = {run.counterexample.invariant: (run, *each)
             for run, each in zip(result.first_causes, explained, strict=True)}  # fmt: skip
    first = next(iter(result.first_causes), None)
    causes = result.causes
    results = [unread_result(subject, fault) for fault in result.faults]
    for invariant in select(result.verdicts):
        claim = result.verdicts[invariant.name]
        one = ClaimResult(subject=subject, claim=invariant.name, outcome=claim.outcome, sentence=invariant.claim,
                          text=claim.reason, notes=_known(invariant.name, result))  # fmt: skip
        if invariant.name in causes:
            cause = causes[invariant.name]
            one = replace(one, text=f"follows from {cause}", more={"follows_from": cause})
        if invariant.name in found:
            run, text, command = found[invariant.name]
            one = replace(one, text=text, command=command)
            if history is not None and first is not None and run.seed == first.seed:
                one = located(one, run.counterexample, places_of([history], [run.counterexample]))
        results.append(one)
    return results + untested_results(subject, result.outcome, results)


def _known(claim: str, result: FuzzResult) -> tuple[str, ...]:
    """The notes on a known claim, with the number of its runs."""
    return tuple(
        f"{each.entry} in {len(each.rows):,} runs: {each.entry.reason}"
        for each in result.known
        if each.rows and each.entry.claim == claim
    )
