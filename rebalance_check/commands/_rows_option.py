"""The option ``--all-rows``, and what was chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from rebalance_check.report.excerpts import MOST_ROWS

F = TypeVar("F", bound=Callable[..., Any])

_CHOSEN: Final = f"{__name__}.rows"


def rows_option(command: F) -> F:
    """The option of every sub-command that explains a history; `chosen_rows` says what was chosen."""

    def choose(context: click.Context, _option: click.Parameter, every: bool) -> None:
        context.meta[_CHOSEN] = 0 if every else MOST_ROWS

    return click.option(
        "--all-rows", is_flag=True, expose_value=False, callback=choose,
        help="In the table of a counterexample, show every step, member and field, not only what the argument needs.",
    )(command)  # fmt: skip


def chosen_rows() -> int:
    """How many steps of a counterexample to show at most, those that its argument needs apart; 0 for all."""
    context = click.get_current_context(silent=True)
    rows: int = MOST_ROWS if context is None else context.meta.get(_CHOSEN, MOST_ROWS)
    return rows
