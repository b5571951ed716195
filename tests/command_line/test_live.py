"""``rebalance-check live`` on the embedded broker: recorded first, judged, and printed as one JSON object."""

import json
from pathlib import Path

import pytest

from rebalance_check.cli import run
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")


def test_status_stores_are_recorded_and_judged__each_seed_in_a_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["live", "--protocol", "status", "--members", "2", "--steps", "10", "--seeds", "0:2", "--json"]
    assert run([*asked, "--out", str(tmp_path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["runs"], said["verdict"], said["broker"]) == (2, "held", "embedded")
    assert said["verdicts"]["safe_status_writes.cache_follows_reads"]["checked_events"] > 0
    assert all(Path(history["file"]).stat().st_size > 0 for history in said["histories"])


def test_a_seed_that_is_run_again__replaces_its_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["live", "--protocol", "status", "--members", "1", "--steps", "2", "--json", "--out", str(tmp_path)]
    assert [run(asked), run(asked)] == [0, 0]
    assert {path.name for path in (tmp_path / "status-0.raw").iterdir()} == {"harness.raw", "w0.raw"}


def test_a_writer_that_fails__fails_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise RebalanceCheckError("the write was refused")

    monkeypatch.setattr("rebalance_check.integration.live.status_stores.KafkaStatusWorker.write", refuse)
    assert run(["live", "--protocol", "status", "--members", "1", "--json", "--out", str(tmp_path)]) == 2
    assert json.loads(capsys.readouterr().out)["error"] == "the write was refused"


def test_consumers_are_recorded_and_judged__through_joins_and_leaves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        "live",
        "--protocol",
        "cooperative",
        "--members",
        "2",
        "--steps",
        "3",
        "--invariant",
        "ownership",
        "--json",
    ]
    assert run([*asked, "--out", str(tmp_path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdicts"]["no_double_ownership"]["verdict"] == "held"
    assert said["verdicts"]["no_double_ownership"]["checked_events"] > 0
