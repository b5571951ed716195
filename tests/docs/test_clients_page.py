"""The page about clients lists the scenarios, the placeholders and the ready clients there are, and its scoreboard is
that of the reports next to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from rebalance_check.integration.kits.adapters.ready import ADAPTERS
from rebalance_check.integration.kits.client.placeholders import PLACEHOLDERS
from rebalance_check.integration.kits.client.scenarios import SCENARIOS
from rebalance_check.integration.kits.scoreboard import read_reports, with_scoreboard

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
REPORTS: Final = read_reports(sorted((ROOT / "docs" / "clients").glob("*.json")))


def test_the_scoreboard_is_that_of_the_reports() -> None:
    again = "run `python -m rebalance_check.integration.kits.scoreboard docs/clients.md docs/clients/*.json`"
    assert with_scoreboard(PAGE, REPORTS) == PAGE, again


def test_each_violation_of_a_released_client_is_on_record() -> None:
    record = (ROOT / "TRACK_RECORD.md").read_text(encoding="utf-8").splitlines()
    violated = {(report.subject.partition(",")[0], row.claim) for report in REPORTS for row in report.violated}
    unknown = {each for each in violated if not any(all(word in line for word in each) for line in record)}
    assert unknown == set(), "write a row of TRACK_RECORD.md for each client and claim"


def test_each_scenario_is_listed() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", PAGE, re.MULTILINE) == [
        (each.name, each.what) for each in SCENARIOS.values()
    ]


def test_each_placeholder_is_listed() -> None:
    assert dict(re.findall(r"^\| `(\{\w+\})` \| (.*) \|$", PAGE, re.MULTILINE)) == PLACEHOLDERS


def test_each_ready_client_is_listed() -> None:
    (listed,) = re.findall(r"35 to 90 lines: (.*?)\. It is built", PAGE, re.DOTALL)
    assert re.findall(r"`([a-z-]+)`", listed) == [adapter.name for adapter in ADAPTERS]
