"""How the command line speaks: prose and tables for people, one JSON object for programs, progress on a terminal."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console as RichConsole
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from rebalance_check.commands._options import is_verbose
from rebalance_check.model.vocabulary.errors import INTERRUPTIONS
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Outcome, names_by_reason
from rebalance_check.report.terminal import visible, visible_lines

_WIDEST = 160
"""A table is never squeezed below this: a terminal wraps it, a file keeps it."""


@contextmanager
def said_at_interruption(hint: str | Callable[[], str]) -> Iterator[None]:
    """Where a signal ends the block, the command line says ``hint``, too: a note on the exception carries it."""
    try:
        yield
    except INTERRUPTIONS as end:
        end.add_note(hint if isinstance(hint, str) else hint())
        raise


def json_line(document: Mapping[str, Any]) -> bytes:
    r"""The document as one line of UTF-8, without its end, under any encoding of the terminal.

    Characters that a terminal obeys are escapes of JSON (``\u202e``), so that the text they stand for is exact;
    so is a lone surrogate (``\udcff``), a byte of a file name that is no UTF-8.
    """
    try:
        text = msgspec.json.encode(document).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(document)).encode()
    if not text.isprintable():
        text = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
    return text.encode()


def verdict_line(outcome: Outcome, broken: Iterable[str], about: str) -> str:
    """The last line of every command that judges something.

    ``broken`` has the violated names (each once, empty ones left out), ``about`` says as numbers the claims that could
    have failed, and on what: ``verdict: violated: one_leader (41 of 128 invariants could have failed on 19 events)``.
    """
    names = ", ".join(dict.fromkeys(filter(None, broken)))
    return f"verdict: {outcome}{names and ': ' + names} ({about})"


class Console:
    """Where a sub-command says things. ``as_json``: prose goes to standard error, and `finish` prints the document."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._errors = RichConsole(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str = "") -> None:
        """One line or several; of the control characters in them only the line feeds reach the terminal."""
        click.echo(visible_lines(text), err=self.as_json)

    def notice(self, text: str) -> None:
        """One line on standard error, at once, also while a bar is shown there: it comes before the result."""
        self._errors.print(visible_lines(text), markup=False)

    def table(self, title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        """A small table."""
        table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
        for column in columns:
            table.add_column(column, no_wrap=True)
        for row in rows:
            table.add_row(*(escape(visible(cell)) for cell in row))
        wide = RichConsole(file=io.StringIO(), width=max(self._errors.width, _WIDEST), highlight=False)
        with wide.capture() as drawn:
            wide.print(table)
        self.say(drawn.get().removesuffix("\n"))

    @contextmanager
    def progress(self) -> Iterator[ProgressListener]:
        """A progress bar on standard error while the block runs; nothing where that is not a terminal."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._errors, transient=True, disable=not self._errors.is_terminal) as bar:
            tasks: dict[str, Any] = {}

            def advance(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    tasks[what] = bar.add_task(escape(visible(what)), total=total or None)
                bar.update(tasks[what], completed=done, total=total or None)

            yield advance

    def finish(self, document: Mapping[str, Any], exit_code: ExitCode = ExitCode.HELD) -> ExitCode:
        """Print the document if it was asked for; the exit code stands in it, too, and is returned."""
        if self.as_json:
            click.echo(json_line({**document, "exit_code": exit_code}))
        return exit_code


def write_page(console: Console, path: Path, page: str) -> None:
    """Write a page, and say where it is.

    Raises `OSError` where it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8", errors="backslashreplace")
    console.say(f"page: {visible(str(path))}")


def show_untested(console: Console, untested: Mapping[Invariant, str], *, required: bool) -> None:
    """How many invariants of each family nothing could have broken; which and why with ``--verbose``, or where all
    are ``required`` to be tested."""
    if required or is_verbose():
        for reason, alike in names_by_reason({each.name: reason for each, reason in untested.items()}).items():
            console.say(f"  untested: {', '.join(alike)}: {visible(reason)}")
    elif untested:
        counts = Counter(invariant.family for invariant in untested)
        families = ", ".join(f"{family} {count}" for family, count in counts.items())
        console.say(f"  untested, and no success: {len(untested)} ({families}); --verbose lists them")
