"""What ``conform client`` and ``conform broker`` share: the options for files, and how a report is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from rebalance_check.commands._console import Console, html_option, verdict_line, write_page
from rebalance_check.integration.kits.report import KitReport
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.kits import (
    KIT_COLUMNS,
    kit_cells,
    kit_document,
    kit_junit,
    kit_page,
    kit_verdict,
    section_title,
)
from rebalance_check.report.terminal import visible


@dataclass(frozen=True, slots=True)
class KitFiles:
    """Where a report is written besides the console: a page, JUnit XML; None for not."""

    html: Path | None = None
    junit: Path | None = None

    def write(self, console: Console, report: KitReport) -> None:
        """Write the files that were asked for, and say so.

        Raises: OSError when one cannot be written.
        """
        if self.html is not None:
            write_page(console, self.html, kit_page(report))
        if self.junit is not None:
            self.junit.write_bytes(kit_junit(report))
            console.say(f"JUnit: {visible(str(self.junit))}")


def kit_file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--html`` and ``--junit``, and hand them to ``command`` as ``files``, a `KitFiles`."""

    @wraps(command)
    def with_files(*, html: Path | None, junit: Path | None, **others: Any) -> Any:
        return command(files=KitFiles(html, junit), **others)

    path = click.Path(dir_okay=False, path_type=Path)
    with_html = html_option("Write the report as one self-contained page.")(with_files)
    return click.option("--junit", type=path, help="Write the report as JUnit XML.")(with_html)


def show_kit(console: Console, report: KitReport) -> None:
    """A table per section, what is violated in full, and the verdict in the last line."""
    for name, rows in report.sections.items():
        console.table(section_title(name, rows), KIT_COLUMNS, [kit_cells(row) for row in rows])
        console.say()
    for row in report.violated:
        console.say(f"{row.claim} ({row.section}): {row.detail}")
        for label, text in (("history", row.history), ("again", row.command)):
            if text:
                console.say(f"  {label:<8} {visible(text)}")
        console.say()
    if report.unfinished:
        console.say(f"unfinished: {visible(report.unfinished)}")
    held = f"{report.counts.get(Outcome.HELD, 0)} of {len(report.rows)} claims held in {report.seconds:.1f} s"
    console.say(verdict_line(kit_verdict(report), (row.claim for row in report.violated), held))


def finish_kit(console: Console, report: KitReport, files: KitFiles) -> ExitCode:
    """Show a report, write its files, print its document if that was asked for, and return the exit code."""
    show_kit(console, report)
    files.write(console, report)
    return console.finish(kit_document(report), report.exit_code)
