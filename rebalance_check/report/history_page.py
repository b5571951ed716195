"""Judged histories on a page: each with what broke in it, its lanes, and its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.verdict import names_by_reason
from rebalance_check.report.pages.run_pages import ListedRun, run_page
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.phrases import phrase
from rebalance_check.report.runs import origin_of_history
from rebalance_check.report.terminal import suggested


def history_page(runs: Iterable[tuple[str | Path, Sequence[Event], Judgement]]) -> str:
    """The page of these runs: file, history, judgement."""
    return run_page(ListedRun.of(judged_run(*run)) for run in runs)


def judged_run(path: str | Path, history: Sequence[Event], judgement: Judgement) -> ShownRun:
    """What is shown of one history file."""
    return ShownRun(
        name=str(path),
        verdict=judgement.outcome,
        steps=steps_of(history),
        origin=origin_of_history(history, suggested("judge", Path(path))),
        findings=[Finding.of(found) for found in judgement.counterexamples],
        lines=open_lines(judgement),
        file_name=Path(path).name,
    )


def steps_of(history: Sequence[Event]) -> list[tuple[str, Sequence[Event]]]:
    """A history as steps: each event is one."""
    return [(phrase(event), (event,)) for event in history]


def open_lines(judgement: Judgement) -> list[str]:
    """Why something is undecided, and what was not tested."""
    lines = [f"undecided: {', '.join(names)}: {why}" for why, names in names_by_reason(judgement.undecided).items()]
    return [*lines, *([f"untested: {', '.join(judgement.untested)}"] if judgement.untested else [])]
