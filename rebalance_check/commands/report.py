"""``rebalance-check report``: a recorded run, a column per member."""

from __future__ import annotations

from pathlib import Path

import click

from rebalance_check.commands._console import Console
from rebalance_check.commands._judged import Judged
from rebalance_check.commands._options import Command, chosen_rows, html_option, json_option, option, verbose_option
from rebalance_check.commands.judge import show_undecided, show_unread, show_untested_in, verdict_of
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.history import scan_history
from rebalance_check.properties.judge import judge_scanned
from rebalance_check.properties.malformed import UnreadLine
from rebalance_check.report.documents import judgement_document
from rebalance_check.report.excerpts import history_lanes
from rebalance_check.report.lanes import LaneTable
from rebalance_check.report.runs import explained, origin_of_history
from rebalance_check.report.terminal import suggested, visible
from rebalance_check.report.text import table_text


@click.command("report", cls=Command)
@click.argument("history", type=click.Path(path_type=Path))
@option("--group", help="Show this group only.")
@option("--last", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
        help="Show so many steps that change something (0: every step).")  # fmt: skip
@html_option("the run, in the place of the table")
@verbose_option()
@json_option
def command(history: Path, group: str | None, last: int, html: Path | None, as_json: bool) -> int:
    """Show a recorded HISTORY, step by step, and why a claim broke.

    The verdict decides the exit code, as for `judge`.
    """
    console = Console(as_json)
    scanned = list(scan_history(history))
    events = of_group([one for one in scanned if not isinstance(one, UnreadLine)], group)
    shown = frozenset((group or "", ""))
    judgement = judge_scanned(
        (one for one in scanned if group is None or isinstance(one, UnreadLine) or one.group in shown), CATALOGUE
    )
    if html is not None:
        from rebalance_check.commands._history_pages import write_histories  # noqa: PLC0415 - needs an extra

        write_histories(console, html, [Judged(history, judgement)])
    else:
        console.say(visible(origin_of_history(events, "").run))
        console.say(table_text(history_lanes(events, context=last)))
        for found in judgement.findings:
            console.say(f"\n{explained(events, found, suggested('judge', history), context=chosen_rows())[0]}")
    show_unread(console, judgement)
    show_undecided(console, judgement)
    show_untested_in(console, judgement)
    console.say(f"\n{verdict_of([Judged(history, judgement)])}")
    steps = table_document(history_lanes(events, context=last)) if as_json else []
    return console.finish({"steps": steps, **judgement_document(judgement)}, judgement.exit_code)


def of_group(events: list[Event], group: str | None) -> list[Event]:
    """The events of one group and of the run; all when none is asked for.

    Raises: RebalanceCheckError when the history holds no such group.
    """
    groups = {event.group for event in events}
    if group is not None and group not in groups:
        raise RebalanceCheckError(
            f"the history holds no group {group!r}: choose from {', '.join(sorted(groups - {''})) or 'no group at all'}"
        )
    return [event for event in events if group is None or event.group in (group, "")]


def table_document(table: LaneTable) -> list[dict[str, object]]:
    """The shown steps, each with its cells by column."""
    return [
        {"step": row.number, "action": row.action, "cells": dict(zip(table.columns, row.cells, strict=True))}
        for row in table.rows
        if row.number
    ]
