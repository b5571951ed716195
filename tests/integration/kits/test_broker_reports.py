"""The reports of brokers for a page: what belongs to one run is left out, and each stands in a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rebalance_check.integration.kits import broker_reports
from rebalance_check.integration.kits.broker_reports import file_of, main, published, report_of
from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.integration.kits.scoreboard import BEGIN, END
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.verdict import Outcome

HELD = KitRow(section="versions", claim="answered", outcome=Outcome.HELD, history="held.jsonl")
BROKEN = KitRow(
    section="versions", claim="kept", outcome=Outcome.VIOLATED, detail="127.0.0.1:9092 is gone", history="broken.jsonl",
    command="again 127.0.0.1:41234",
)  # fmt: skip


def document(subject: str) -> dict[str, Any]:
    report = KitReport(title="broker conformance", subject=subject, seed=0, seconds=1.0, rows=(HELD, BROKEN))
    printed: dict[str, Any] = {"verdict": "violated", **msgspec.to_builtins(report), "exit_code": 10}
    return printed


def test_addresses_and_the_histories_of_what_is_held_are_left_out() -> None:
    held, broken = published(document("kfake 1"))["rows"]
    assert (held["history"], broken["history"]) == ("", "broken.jsonl")
    assert (broken["detail"], broken["command"]) == ("HOST:PORT is gone", "again HOST:PORT")


@pytest.mark.parametrize(
    ("name", "printed", "subject", "file"),
    [
        ("local", "kafka 4.3.1", "Kafka 4.3.1", "kafka-4.3.1.json"),
        ("embedded", "embedded", "rebalance-check's embedded broker", "embedded.json"),
        ("kfake", "kfake 0.0.0-2026", "kfake 0.0.0-2026", "kfake.json"),
    ],
)
def test_each_broker_has_its_name_and_its_file(name: str, printed: str, subject: str, file: str) -> None:
    assert published(document(printed))["subject"] == subject
    assert file_of(name, subject) == file


def test_report_and_scoreboard_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, folder = tmp_path / "brokers.md", tmp_path / "brokers"
    folder.mkdir()
    page.write_text(f"{BEGIN}\n{END}\n")
    monkeypatch.setattr(broker_reports, "report_of", lambda name: document(f"{name} 1"))
    assert main([str(page), "kfake"]) == 0
    assert msgspec.json.decode((folder / "kfake.json").read_bytes(), type=KitReport).subject == "kfake 1"
    assert "| kfake 1 | 1 held, **1 violated** |" in page.read_text()


def test_a_broker_that_nobody_knows__and_a_kit_without_a_report__are_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="'redpanda' is no broker of others: choose kfake"):
        report_of("redpanda")
    with pytest.raises(RebalanceCheckError, match=r"the kit printed no report of 127\.0\.0\.1:1: see above"):
        broker_reports._printed("127.0.0.1:1")
