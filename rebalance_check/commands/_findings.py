"""Findings about a history that was judged: shown with its verdict, and never part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from rebalance_check.commands._console import Console
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.diagnose.diagnosis import findings_of
from rebalance_check.pipeline.diagnose.findings.finding import Finding
from rebalance_check.report.terminal import visible

MOST_EVENTS: Final = 200_000
"""A longer history is diagnosed by `diagnose` alone: its events are read a second time here."""


def findings_in(events: Callable[[], Iterable[Event]], count: int) -> list[Finding]:
    """The findings about a history of ``count`` events; none for one that is too long."""
    return findings_of(events()) if count <= MOST_EVENTS else []


def show_findings(console: Console, findings: Sequence[Finding]) -> None:
    """A line per finding: what a threshold finds is no verdict."""
    for finding in findings:
        console.say(visible(f"  {finding.severity} {finding.rule.name}: {finding.title}: {finding.cause}"))


def findings_documents(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The JSON form."""
    return [
        {
            "rule": one.rule.name,
            "severity": one.severity.value,
            "title": one.title,
            "cause": one.cause,
            "remedy": one.to_do,
        }
        for one in findings
    ]
