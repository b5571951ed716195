"""Judged histories as runs on a page: each event is a step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.judging import FoundRun
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.verdict import Outcome, names_by_reason
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.phrases import phrase
from rebalance_check.report.runs import origin_of_history
from rebalance_check.report.terminal import suggested


def shown_history(name: str, files: Sequence[Path], history: Sequence[Event], judgement: Judgement) -> ShownRun:
    """A judged history, recorded in one file or in several."""
    return ShownRun(
        name=name,
        verdict=judgement.outcome,
        steps=steps_of(history),
        origin=origin_of_history(history, suggested("judge", *files)),
        findings=[Finding.of(found) for found in judgement.findings],
        lines=open_lines(judgement),
        file_name=files[0].name,
    )


def shown_seed(run: FoundRun, replay: str) -> ShownRun:
    """The shortest run that broke a claim in a campaign."""
    found = Finding.of(run.counterexample)
    return seed_run(run.seed, run.history, Outcome.VIOLATED, [found], replay)


def seed_run(
    seed: int, history: Sequence[Event], verdict: Outcome, findings: Sequence[Finding], replay: str
) -> ShownRun:
    """The run of a seed; ``replay`` is the command that repeats it."""
    return ShownRun(
        name=f"seed {seed}",
        verdict=verdict,
        steps=steps_of(history),
        origin=origin_of_history(history, replay),
        findings=findings,
        file_name=f"seed-{seed}.jsonl",
    )


def steps_of(history: Sequence[Event]) -> list[tuple[str, Sequence[Event]]]:
    """A history as steps."""
    return [(phrase(event), (event,)) for event in history]


def open_lines(judgement: Judgement) -> list[str]:
    """How many invariants could have failed, why some are undecided, and which were not tested."""
    lines = [f"undecided: {', '.join(names)}: {why}" for why, names in names_by_reason(judgement.undecided).items()]
    untested = [f"untested: {', '.join(judgement.untested)}"] if judgement.untested else []
    return [judgement.could_have_failed, *lines, *untested]
