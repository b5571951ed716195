"""The result of each claim of a model, for CI systems, read off the JSON form of a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult
from rebalance_check.report.terminal import suggested


def model_results(document: Mapping[str, Any]) -> list[ClaimResult]:
    """A result per claim of an exploration, or of walks, and per liveness property where these were checked."""
    bounds, ended = str(document["bounds"]), document["ended"]
    open_text = f"the search ended early, because of {ended}" if ended else ""
    broken = [document["counterexample"]] if document["counterexample"] else []
    results = _results(bounds, document["claims"], broken, open_text)
    if liveness := document.get("liveness"):
        results += _results(bounds, liveness["claims"], liveness["counterexamples"], liveness["undecided"])
    return results


def _results(
    subject: str, claims: Mapping[str, str], broken: list[Mapping[str, Any]], open_text: str
) -> list[ClaimResult]:
    by_name = {each["invariant"]: each for each in broken}
    return [_result(subject, name, Outcome(verdict), by_name.get(name), open_text) for name, verdict in claims.items()]


def _result(subject: str, name: str, outcome: Outcome, broken: Mapping[str, Any] | None, open_text: str) -> ClaimResult:
    if outcome is Outcome.VIOLATED and broken is not None:
        return ClaimResult(
            subject=subject, claim=name, outcome=outcome, sentence=broken["claim"], text=broken["text"],
            command=suggested("explore", broken["address"]),
        )  # fmt: skip
    return ClaimResult(
        subject=subject, claim=name, outcome=outcome, text=open_text if outcome is Outcome.UNDECIDED else ""
    )


def path_result(document: Mapping[str, Any]) -> ClaimResult:
    """A path of the model as one result, for CI systems."""
    broken = document["invariant"]
    return ClaimResult(
        subject="model", claim=document["address"], outcome=Outcome.VIOLATED if broken else Outcome.HELD,
        sentence=document["claim"], text=document["text"] if broken else "",
        command=suggested("explore", document["address"]),
    )  # fmt: skip
