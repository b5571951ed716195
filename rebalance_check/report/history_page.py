"""The page of judged histories: a section per violated claim, or one for a run on which nothing broke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.verdict import names_by_reason
from rebalance_check.report.lanes import history_lanes
from rebalance_check.report.page import page
from rebalance_check.report.runs import origin_of_history
from rebalance_check.report.section import Section
from rebalance_check.report.terminal import suggested

SHOWN = 400
"""So many steps of a run are shown, the last ones; quiet ones are folded."""


def history_page(runs: Iterable[tuple[str | Path, Sequence[Event], Judgement]]) -> str:
    """The page of these runs: file, history, judgement."""
    return page("rebalance-check", [section for run in runs for section in sections(*run)])


def sections(path: str | Path, history: Sequence[Event], judgement: Judgement) -> Iterator[Section]:
    """What is shown of one run."""
    name = str(path)
    origin = origin_of_history(history, suggested("judge", Path(path)))
    for found in judgement.counterexamples:
        table = history_lanes(history, found, context=SHOWN)
        yield Section(f"{found.invariant}: {found.headline}", "violated", table, origin, found, [name])
    if not judgement.counterexamples:
        table = history_lanes(history, context=SHOWN)
        yield Section(name, judgement.outcome.value, table, origin, lines=_open_lines(judgement))


def _open_lines(judgement: Judgement) -> list[str]:
    """Why something is undecided, and what was not tested."""
    lines = [f"undecided: {', '.join(names)}: {why}" for why, names in names_by_reason(judgement.undecided).items()]
    return [*lines, *([f"untested: {', '.join(judgement.untested)}"] if judgement.untested else [])]
