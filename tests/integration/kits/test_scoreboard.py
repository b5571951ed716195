"""The scoreboard of several reports, and its place on a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.integration.kits.scoreboard import BEGIN, END, main, scoreboard, with_scoreboard
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.verdict import Outcome

HELD = KitRow(section="KIP-62", claim="beats", outcome=Outcome.HELD, checked=3)
BROKEN = KitRow(
    section="KIP-345",
    claim="stays",
    outcome=Outcome.VIOLATED,
    checked=1,
    detail="p0 left | twice\nand why",
    command="again",
)
GOOD = KitReport(title="t", subject="good 1.0", seed=0, seconds=90.0, rows=(HELD,))
BAD = KitReport(title="t", subject="bad 2.0", seed=0, seconds=1.0, rows=(HELD, BROKEN), unfinished="kill: p0 hangs")

EXPECTED = """\
| subject | KIP-62 | KIP-345 | minutes |
|---|---|---|---|
| good 1.0 | 1 held | - | 1.5 |
| bad 2.0 | 1 held | **1 violated** | 0.0 |

Violated, with the command that shows it:

| subject | claim | seen | command |
|---|---|---|---|
| bad 2.0 | `stays` (KIP-345) | p0 left \\| twice | `again` |

Scenarios that were cut short, and why:

- bad 2.0: kill: p0 hangs
"""


def test_a_row_per_report_and_what_is_violated() -> None:
    assert scoreboard([GOOD, BAD]) == EXPECTED
    assert scoreboard([GOOD]).endswith("No claim is violated.\n")


def test_claims_that_one_reply_breaks_share_a_row__and_long_texts_are_cut() -> None:
    rows = tuple(replace(BROKEN, claim=name, detail="x" * 500) for name in "abcde")
    board = scoreboard([replace(BAD, rows=rows, unfinished="")])
    assert f"| bad 2.0 | `a`, `b`, `c` and 2 more (KIP-345) | {'x' * 160}... | `again` |\n" in board
    assert board.count("`again`") == 1


def test_the_page_keeps_what_stands_outside_of_the_marks(tmp_path: Path) -> None:
    page, files = tmp_path / "page.md", [tmp_path / "1.json", tmp_path / "2.json"]
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    for file, report in zip(files, (GOOD, BAD), strict=True):
        file.write_bytes(msgspec.json.encode({"verdict": "held", **msgspec.to_builtins(report), "exit_code": 0}))
    assert main([str(page), *map(str, files)]) == 0
    assert page.read_text() == f"before\n{BEGIN}\n\n{scoreboard([BAD, GOOD])}\n{END}\nafter\n"


def test_without_a_page_the_rows_of_the_track_record_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "1.json").write_bytes(msgspec.json.encode(BAD))
    assert main([str(tmp_path / "1.json")]) == 0
    assert capsys.readouterr().out == "| bad 2.0 | p0 left \\| twice | `stays` | `again` |\n"


def test_a_page_without_marks_and_a_file_that_is_no_report_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RebalanceCheckError, match="the page has no place for a scoreboard"):
        with_scoreboard("text", [GOOD])
    (tmp_path / "1.json").write_text("{}")
    (tmp_path / "page.md").write_text("")
    with pytest.raises(RebalanceCheckError, match="holds no report of a kit"):
        main([str(tmp_path / "page.md"), str(tmp_path / "1.json")])
