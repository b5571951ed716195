"""The page about brokers lists the parts of the kit, and its scoreboard is that of the reports next to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from rebalance_check.integration.kits.broker.kit import PARTS
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.integration.kits.scoreboard import read_reports, with_scoreboard

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "brokers.md").read_text(encoding="utf-8")
REPORTS: Final = read_reports(sorted((ROOT / "docs" / "brokers").glob("*.json")))


def test_the_scoreboard_is_that_of_the_reports() -> None:
    again = "run `python -m rebalance_check.integration.kits.broker_reports docs/brokers.md`"
    assert with_scoreboard(PAGE, REPORTS) == PAGE, again


def test_kafka_and_ours_hold_and_others_were_tried() -> None:
    held = {report.subject for report in REPORTS if not report.violated}
    assert held >= {"Kafka 3.9.2", "Kafka 4.3.1", "rebalance-check's embedded broker"}
    assert {report.subject.split()[0] for report in REPORTS} >= {"kfake", "librdkafka-mock", "tansu"}


def test_each_violation_of_a_broker_is_on_record() -> None:
    """A row of TRACK_RECORD.md names the broker, and the claim or the command of its part."""
    record = (ROOT / "TRACK_RECORD.md").read_text(encoding="utf-8").splitlines()
    unknown = {
        (report.subject, row.claim)
        for report in REPORTS
        for row in report.violated
        if not any(report.subject in line and names(line, row) for line in record)
    }
    assert unknown == set(), "write a row of TRACK_RECORD.md for each broker and claim, or part"


def names(line: str, row: KitRow) -> bool:
    """Whether a line has the claim, or the command of a part whose runs are all alike."""
    part = re.search(r"--part (?:scenarios|requests)\b", row.command)
    return f"`{row.claim}`" in line or (part is not None and part[0] in line)


def test_each_part_is_listed() -> None:
    assert re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE) == [*PARTS]
