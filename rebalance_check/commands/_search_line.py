"""A sign that a search goes on: one line on a terminal, redrawn and then erased; now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click
from rich.console import Console as RichConsole
from rich.live import Live
from rich.text import Text

from rebalance_check.model.checker.safety.limits import Coverage

PLAIN_EVERY: Final = 30.0
"""Seconds between two lines where standard error is no terminal."""


class SearchLine:
    """A `SearchListener` that shows what it receives on standard error."""

    def __init__(self, live: Live | None) -> None:
        self._live = live
        self._shown = time.monotonic()
        self._compiles = False

    def compiling(self, seconds: float) -> None:
        """Say that the model is compiled, and how long for."""
        if self._live is not None:
            self._draw(f"compiling the model, once for these bounds: {seconds:.0f} s")
        elif not self._compiles:
            click.echo("compiling the model, once for these bounds", err=True)
        self._compiles = True

    def searching(self, coverage: Coverage) -> None:
        """Say how far the search has come."""
        if self._live is not None:
            self._draw(progress_text(coverage))
        elif time.monotonic() - self._shown >= PLAIN_EVERY:
            self._shown = time.monotonic()
            click.echo(progress_text(coverage), err=True)

    def _draw(self, text: str) -> None:
        assert self._live is not None
        self._live.update(Text(text, no_wrap=True, overflow="ellipsis"))


def progress_text(coverage: Coverage) -> str:
    """Depth, states, frontier and speed."""
    return (
        f"depth {coverage.depth}, {coverage.states:,} states, frontier {coverage.frontier:,}, "
        f"{coverage.states_per_second:,.0f} states/s"
    )


@contextmanager
def search_line() -> Iterator[SearchLine]:
    """The line while the block runs; afterwards nothing of it is left on the terminal."""
    console = RichConsole(stderr=True, highlight=False)
    if not console.is_terminal:
        yield SearchLine(None)
        return
    with Live(console=console, transient=True, refresh_per_second=5) as live:
        yield SearchLine(live)
