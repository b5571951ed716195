"""Base of ``conform client`` and ``conform broker``: options for files and CI systems, and how a report is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._console import Console, verdict_line, write_page
from rebalance_check.commands._options import html_option
from rebalance_check.integration.kits.report import KitReport
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.kits import (
    KIT_COLUMNS,
    kit_cells,
    kit_document,
    kit_page,
    kit_results,
    kit_verdict,
    section_title,
)
from rebalance_check.report.terminal import visible


@dataclass(frozen=True, slots=True)
class KitFiles:
    """Where a report goes besides the console: to a page (None: nowhere), and to CI systems."""

    html: Path | None = None
    ci: CiOptions = field(default_factory=CiOptions)

    def write(self, console: Console, title: str, report: KitReport) -> None:
        """Write the files asked for, and say so; ``title`` is the command.

        Raises: OSError when a file cannot be written.
        """
        if self.html is not None:
            write_page(console, self.html, kit_page(report))
        self.ci.write(console, title, lambda: kit_results(report), report.exit_code)


def kit_file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--html``, ``--junit`` and ``--github``, and hand them to ``command`` as ``files``, a `KitFiles`."""

    @wraps(command)
    def with_files(*, html: Path | None, ci: CiOptions, **others: Any) -> Any:
        return command(files=KitFiles(html, ci), **others)

    return ci_options()(html_option("the report, self-contained")(with_files))


def show_kit(console: Console, report: KitReport) -> None:
    """A table per section, violations in full, and the verdict in the last line."""
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


def finish_kit(console: Console, title: str, report: KitReport, files: KitFiles) -> ExitCode:
    """Show the report of the command ``title``, write its files and its document, and return the exit code."""
    show_kit(console, report)
    files.write(console, title, report)
    return console.finish(kit_document(report), report.exit_code)
