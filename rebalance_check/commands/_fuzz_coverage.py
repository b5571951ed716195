"""The coverage of all runs of a campaign together, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rebalance_check.commands._console import Console
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.model.vocabulary.status_course import STATUSES
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.verdict import Outcome

HEADING: Final = "runs in which it struck, by the status of the group"


def show_coverage(console: Console, result: FuzzResult, allowed: Sequence[FaultKind] = ()) -> None:
    """How much was reached, which kinds of fault met which status, and which of those ``allowed`` never struck.

    Nothing is said of a single run: its history shows that and more.
    """
    reached = result.reached
    if result.runs < 2:
        return
    console.say(f"coverage: {len(reached.runs):,} situations")
    struck = {kind: reached.strikes(kind) for kind in FaultKind}
    met = {kind: found for kind, found in struck.items() if found}
    if met:
        show_strikes(console, met)
    if never := [kind for kind in allowed if kind not in met]:
        console.say(f"  never struck: {', '.join(never)}")


def show_strikes(console: Console, met: dict[FaultKind, dict[str, int]]) -> None:
    """A row for each kind of fault, and a column for each status that one of them met."""
    statuses = [status for status in STATUSES if any(status in found for found in met.values())]
    width = max(map(len, met))
    console.say(f"  {'':{width}}  {'  '.join(statuses)}   {HEADING}")
    for kind, found in met.items():
        cells = "  ".join(f"{found.get(status, '-'):>{len(status)}}" for status in statuses)
        console.say(f"  {kind:{width}}  {cells}")


def untested_claims(result: FuzzResult) -> list[str]:
    """The claims that no run put to the test."""
    return [name for name, claim in result.verdicts.items() if claim.outcome is Outcome.UNTESTED]


def coverage_document(result: FuzzResult) -> dict[str, Any]:
    """The JSON form of the coverage."""
    reached = result.reached
    return {
        "situations": len(reached.runs),
        "claims_that_could_fail": len(result.verdicts) - len(untested_claims(result)),
        "untested_claims": untested_claims(result),
        "struck": [
            {"fault": kind.value, "status": status, "runs": runs}
            for kind in FaultKind
            for status, runs in reached.strikes(kind).items()
        ],
    }
