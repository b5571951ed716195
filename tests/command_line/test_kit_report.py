"""The report of a conformance kit in each of its forms: console, JSON, page, JUnit XML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from junitparser.xunit2 import JUnitXml, TestCase

from rebalance_check.commands._ci_options import CiOptions, junit_of
from rebalance_check.commands._console import Console
from rebalance_check.commands._kit_report import KitFiles, finish_kit, show_kit
from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.junit import JUnitCase, JUnitSuite, junit_xml
from rebalance_check.report.kits import kit_document, kit_page, kit_results

HELD = KitRow(section="base protocol", claim="heartbeats_in_time", outcome=Outcome.HELD, checked=31)
VIOLATED = KitRow(
    section="KIP-62",
    claim="leaves_on_close",
    outcome=Outcome.VIOLATED,
    checked=2,
    detail="p1 ended without a LeaveGroup\n  claim    a process that is asked to end <leaves> first\x1b[31m",
    history="kits/leave.jsonl",
    command="rebalance-check judge kits/leave.jsonl --invariant leaves_on_close",
)
UNTESTED = KitRow(section="KIP-345", claim="keeps_its_place", outcome=Outcome.UNTESTED, detail="no static member")
REPORT = KitReport(
    title="client conformance",
    subject="python consumer.py {bootstrap}",
    seed=7,
    seconds=1.5,
    rows=(HELD, VIOLATED, replace(HELD, claim="joins_once"), UNTESTED),
)


def rows(*rows: KitRow, unfinished: str = "") -> KitReport:
    return replace(REPORT, rows=rows, unfinished=unfinished)


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (REPORT, ExitCode.SAFETY),
        (rows(HELD, UNTESTED), ExitCode.HELD),
        (rows(HELD, replace(VIOLATED, kind=Kind.LIVENESS)), ExitCode.LIVENESS),
        (rows(HELD, unfinished="p0 hangs"), ExitCode.UNDECIDED),
        (rows(HELD, VIOLATED, unfinished="p0 hangs"), ExitCode.SAFETY),
        (rows(UNTESTED), ExitCode.UNDECIDED),
        (rows(HELD, replace(HELD, outcome=Outcome.UNDECIDED)), ExitCode.UNDECIDED),
    ],
)
def test_the_exit_code_follows_from_the_rows(report: KitReport, code: ExitCode) -> None:
    assert report.exit_code is code
    assert kit_document(report)["verdict"] == code.outcome


def test_rows_of_a_section_stay_together() -> None:
    assert [(name, len(rows)) for name, rows in REPORT.sections.items()] == [
        ("base protocol", 2),
        ("KIP-62", 1),
        ("KIP-345", 1),
    ]


def test_the_console_shows_a_table_per_section(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    show_kit(Console(as_json=False), replace(REPORT, unfinished="p0 hangs: it did not end"))
    golden("kit.txt", capsys.readouterr().out)


def test_the_page_is_self_contained_and_escapes_what_it_shows(golden: Callable[[str, str], None]) -> None:
    written = kit_page(REPORT)
    golden("kit.html", written.partition("<body>\n")[2])
    assert "<leaves>" not in written
    assert "\x1b" not in written
    assert "http:" not in written
    assert "https:" not in written


def test_the_document_has_all_that_the_report_has() -> None:
    assert msgspec.json.decode(msgspec.json.encode(kit_document(REPORT)), type=KitReport) == REPORT


def test_junit_has_a_suite_per_section_and_a_case_per_claim() -> None:
    document = JUnitXml.fromstring(junit_of(kit_results(REPORT)))
    assert [(suite.name, suite.tests, suite.failures, suite.skipped) for suite in document] == [
        ("base protocol", 2, 0, 0),
        ("KIP-62", 1, 1, 0),
        ("KIP-345", 1, 0, 1),
    ]
    (case,) = list(document)[1]
    assert isinstance(case, TestCase)
    (failure,) = case.result
    assert failure.message == "p1 ended without a LeaveGroup"
    assert "asked to end <leaves> first\\x1b[31m" in failure.text
    shown = case.properties()  # type: ignore[no-untyped-call] # the library has no type here
    assert {each.name: each.value for each in shown} == {
        "outcome": "violated",
        "checked": "2",
        "history": VIOLATED.history,
        "command": VIOLATED.command,
    }


def test_junit_shows_that_a_run_is_unfinished() -> None:
    document = JUnitXml.fromstring(junit_of(kit_results(rows(HELD, unfinished="p0 hangs"))))
    assert (document.tests, document.errors) == (2, 1)


def test_junit_takes_any_text_and_many_cases() -> None:
    cases = [JUnitCase(name=f"c\x00{n}", outcome=Outcome.VIOLATED, text="\ud800 ]]>\n\x08") for n in range(2000)]
    (suite,) = JUnitXml.fromstring(junit_xml([JUnitSuite(name="s\ufffe", cases=cases)]))
    assert suite.failures == 2000


def test_the_files_that_were_asked_for_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = KitFiles(tmp_path / "r.html", CiOptions(tmp_path / "r.xml", github=True))
    assert finish_kit(Console(as_json=True), "conform client", REPORT, files) is ExitCode.SAFETY
    said = capsys.readouterr()
    assert "::error title=leaves_on_close" in said.err
    assert msgspec.json.decode(said.out)["exit_code"] == 10
    assert (tmp_path / "r.html").read_text() == kit_page(REPORT)
    assert (tmp_path / "r.xml").read_bytes() == junit_of(kit_results(REPORT))
