"""A judged history on paper: the same explanation in every sub-command that has one."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.model.vocabulary.events import Event, RunStarted
from rebalance_check.properties.verdict import Counterexample
from rebalance_check.report.board import members_of
from rebalance_check.report.excerpts import MOST_ROWS, history_lanes
from rebalance_check.report.lanes import LaneTable
from rebalance_check.report.text import Origin, counterexample_text


def origin_of_history(history: Sequence[Event], replay: str) -> Origin:
    """The origin that a history tells of itself."""
    started = next((event for event in history if isinstance(event, RunStarted)), None)
    members = len(members_of(history))
    size = f"{len(history)} events of {members} members"
    if started is None:
        return Origin(size, replay)
    parts = [started.subject, started.bounds, f"mutant {started.mutant}" if started.mutant else "", size]
    return Origin("; ".join(part for part in parts if part), replay, str(started.seed))


def explained(
    history: Sequence[Event], counterexample: Counterexample, replay: str, *, context: int = MOST_ROWS
) -> tuple[str, LaneTable, Origin]:
    """The counterexample as text, and the data with which a page shows it."""
    table = history_lanes(history, counterexample, context=context)
    origin = origin_of_history(history, replay)
    return counterexample_text(counterexample, table, origin), table, origin
