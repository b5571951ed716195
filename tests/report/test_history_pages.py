"""The page of many recorded histories: all are listed, and those that fit are held in full, findings first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra 'report' is not installed")

from rebalance_check import NoDoubleOwnership, write_history
from rebalance_check.commands._console import Console
from rebalance_check.commands._history_pages import write_histories
from rebalance_check.commands._judged import Judged
from rebalance_check.properties.files import judge_file
from tests.parsed_page import ParsedPage
from tests.two_owners import history_with_two_owners


@pytest.fixture
def judged(tmp_path: Path) -> list[Judged]:
    """Two histories that hold, and behind them one that breaks the claim."""
    history = history_with_two_owners()
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "broken.jsonl")]
    for path, events in zip(paths, (history[:9], history[:9], history), strict=True):
        write_history(path, events)
    return [Judged(path, judge_file(path, [NoDoubleOwnership])) for path in paths]


def written(judged: list[Judged], folder: Path, most_events: int) -> Any:
    write_histories(Console(as_json=False), folder / "page.html", judged, most_events)
    return ParsedPage((folder / "page.html").read_text(encoding="utf-8")).data("page")


def test_all_that_fit__are_held(judged: list[Judged], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = written(judged, tmp_path, sum(one.judgement.events for one in judged))
    assert set(page["shown"]) == {"0", "1", "2"}
    assert "it holds" not in capsys.readouterr().out


def test_of_more_events__the_histories_with_findings_are_held_first__and_the_others_listed(
    judged: list[Judged], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = written(judged, tmp_path, judged[2].judgement.events + 9)
    assert set(page["shown"]) == {"0", "2"}
    assert page["runs"]["names"] == [one.name for one in judged]
    assert page["runs"]["events"] == [9, 9, judged[2].judgement.events]
    assert page["again"] == "rebalance-check judge HISTORY --html FILE"
    assert (
        "it holds 2 of 3 histories (28 events at most), of the others verdicts and findings" in capsys.readouterr().out
    )


def test_a_history_that_is_not_held__names_its_findings(judged: list[Judged], tmp_path: Path) -> None:
    both = [judged[2], Judged(judged[2].path, judged[2].judgement)]
    page = written(both, tmp_path, most_events=1)
    assert set(page["shown"]) == {"0"}
    assert [(each["claim"], each["runs"]) for each in page["signatures"]] == [("no_double_ownership", [0, 1])]
