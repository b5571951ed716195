"""``judge HISTORY... --html`` and ``report --html``: recorded histories as one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rebalance_check.commands._console import Console, write_page
from rebalance_check.commands._judged import Judged
from rebalance_check.report.pages.chosen_runs import MOST_EVENTS, chosen_runs
from rebalance_check.report.pages.run_pages import Broken, ListedRun, run_page
from rebalance_check.report.pages.shown_run import Finding
from rebalance_check.report.shown_histories import shown_history
from rebalance_check.report.terminal import suggested


def write_histories(console: Console, html: Path, judged: Sequence[Judged], most_events: int = MOST_EVENTS) -> None:
    """Write the page of these histories. Where they have more than ``most_events`` events, it holds the histories that
    `chosen_runs` chooses, and of the others verdicts and findings."""
    broken = {place: found for place, one in enumerate(judged) if (found := broken_in(one))}
    chosen = chosen_runs({place: one.judgement.events for place, one in enumerate(judged)}, broken, most_events)
    runs = [
        ListedRun.of(shown_history(one.name, one.files, one.events(), one.judgement)) if place in chosen
        else ListedRun(one.name, one.outcome, one.judgement.events, broken.get(place, ()))
        for place, one in enumerate(judged)
    ]  # fmt: skip
    write_page(console, html, run_page(runs, again=suggested("judge", "HISTORY", "--html", "FILE")))
    if len(chosen) < len(judged):
        held = f"{len(chosen):,} of {len(judged):,} histories"
        console.say(f"  it holds {held} ({most_events:,} events at most), of the others verdicts and findings")


def broken_in(one: Judged) -> list[Broken]:
    """The claims that a history breaks, in short."""
    return [Broken.of(Finding.of(found)) for found in one.judgement.findings]
