"""A `KitReport` as tables for a console, as JSON, as a page, and as results for CI systems."""

from __future__ import annotations

from textwrap import shorten
from typing import Any, Final

import msgspec

from rebalance_check.integration.kits.report import KitReport, KitRow, counts_of
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import RUN_ENDS, ClaimResult

KIT_COLUMNS: Final = ("outcome", "checked", "claim", "detail")
"""The columns of a section's table."""

_WIDEST_DETAIL: Final = 80
"""So many characters of a detail stand in a table; a violation stands below it in full."""


def kit_cells(row: KitRow) -> tuple[str, ...]:
    """The cells of a row, by `KIT_COLUMNS`."""
    return (
        row.outcome.value,
        str(row.checked or ""),
        row.claim,
        shorten(row.headline, _WIDEST_DETAIL, placeholder=" ..."),
    )


def section_title(section: str, rows: tuple[KitRow, ...]) -> str:
    """``KIP-429: 3 held, 1 untested``."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in counts_of(rows).items())
    return f"{section}: {counts}"


def kit_document(report: KitReport) -> dict[str, Any]:
    """The JSON form: the report's own fields, from which `KitReport` can be read again, and the verdict."""
    document: dict[str, Any] = msgspec.to_builtins(report)
    return {"verdict": kit_verdict(report).value, **document}


def kit_verdict(report: KitReport) -> Outcome:
    """The outcome of the rows; a run that is not finished is undecided unless a claim is violated."""
    return report.exit_code.outcome if report.exit_code is not ExitCode.USAGE else Outcome.UNDECIDED


def kit_page(report: KitReport) -> str:
    """The report as one self-contained page."""
    from rebalance_check.report.pages.render import page  # noqa: PLC0415 - needs the extra `report`

    sections = [(section_title(name, rows), rows) for name, rows in report.sections.items()]
    title, verdict = f"{report.title}: {report.subject}", kit_verdict(report).value
    return page(title, template="kit.html.jinja", report=report, verdict=verdict, sections=sections)


def kit_results(report: KitReport) -> list[ClaimResult]:
    """The report as CI systems are given it: the sections as subjects, and a run that is not finished as undecided."""
    results = [_result(row) for row in report.rows]
    if report.unfinished:
        results.append(
            ClaimResult(subject=report.subject, claim=RUN_ENDS, outcome=Outcome.UNDECIDED, text=report.unfinished)
        )
    return results


def _result(row: KitRow) -> ClaimResult:
    more = {"checked": str(row.checked or ""), "history": row.history}
    return ClaimResult(
        subject=row.section, claim=row.claim, outcome=row.outcome, text=row.detail, command=row.command, more=more
    )
