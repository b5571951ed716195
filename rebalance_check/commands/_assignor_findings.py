"""How `rebalance-check assignors` ends a search: every finding, then the figures and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome


class Shown(NamedTuple):
    """A finding: the claim that is broken, its text, and its JSON form."""

    claim: str
    text: str
    document: dict[str, Any]


def finish_search(console: Console, whose: str, looked_at: Mapping[str, int], findings: Sequence[Shown]) -> int:
    """The exit code; ``looked_at`` says how much was judged: ``inputs``, or ``histories`` and ``rounds``."""
    for finding in findings:
        console.say(finding.text)
        console.say()
    figures = ", ".join(f"{count:,} {what}" for what, count in looked_at.items())
    broken = len(findings)
    console.say(f"{whose}: {figures}, {f'{broken} ways to break a claim' if broken else 'every claim holds'}")
    outcome = Outcome.VIOLATED if broken else Outcome.HELD
    console.say(verdict_line(outcome, [finding.claim for finding in findings], figures))
    document: dict[str, Any] = {
        "assignors": whose,
        **looked_at,
        "verdict": outcome.value,
        "findings": [finding.document for finding in findings],
    }
    return console.finish(document, ExitCode.SAFETY if broken else ExitCode.HELD)
