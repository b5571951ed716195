"""Several runs of one subject become one report, which keeps the worst of each claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.integration.kits.several_runs import as_one, main
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.verdict import Outcome

HELD = KitRow(section="KIP-62", claim="beats", outcome=Outcome.HELD, checked=3, history="here")
UNTESTED = replace(HELD, outcome=Outcome.UNTESTED, checked=0)
BROKEN = replace(HELD, outcome=Outcome.VIOLATED, checked=1, detail="silent", command="again")


def report(row: KitRow, seconds: float, unfinished: str = "", subject: str = "s 1.0") -> KitReport:
    return KitReport(title="t", subject=subject, seed=0, seconds=seconds, rows=(row,), unfinished=unfinished)


@pytest.mark.parametrize(
    ("rows", "outcome", "checked"),
    [
        ((HELD, BROKEN, UNTESTED), Outcome.VIOLATED, 4),
        ((UNTESTED, HELD, HELD), Outcome.HELD, 6),
        ((UNTESTED, UNTESTED), Outcome.UNTESTED, 0),
    ],
)
def test_the_worst_outcome_of_a_claim_is_kept(rows: tuple[KitRow, ...], outcome: Outcome, checked: int) -> None:
    (row,) = as_one([report(row, 1.0) for row in rows]).rows
    assert (row.outcome, row.checked, row.history) == (outcome, checked, "")


def test_a_violation_keeps_its_command() -> None:
    (row,) = as_one([report(HELD, 1.0), report(BROKEN, 1.0)]).rows
    assert (row.detail, row.command) == ("silent", "again")


def test_times_and_what_was_cut_short() -> None:
    runs = [report(HELD, 10.0), report(HELD, 90.0, "kill: hangs"), report(HELD, 20.0, "kill: hangs")]
    assert (as_one(runs).seconds, as_one(runs).unfinished) == (20.0, "kill: hangs")


def test_runs_of_different_subjects_are_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"reports of one subject are wanted, not of a 1, b 2"):
        as_one([report(HELD, 1.0, subject="b 2"), report(HELD, 1.0, subject="a 1")])
    with pytest.raises(RebalanceCheckError, match="not of none"):
        as_one([])


def test_the_command_prints_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "0.json", tmp_path / "1.json"]
    for file, row in zip(files, (HELD, BROKEN), strict=True):
        file.write_bytes(msgspec.json.encode(report(row, 1.0)))
    assert main([str(file) for file in files]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=KitReport) == as_one(
        [report(HELD, 1.0), report(BROKEN, 1.0)]
    )
