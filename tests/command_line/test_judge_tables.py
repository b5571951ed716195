"""`judge DIR` judges a history table like `fuzz` did, and says clearly what is no table."""

import json
from pathlib import Path

import pytest

from rebalance_check.cli import run
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.pipeline.fuzz import fuzz


def test_a_table_is_judged_as_a_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = SimulationOptions(mutant="cache-written-at-send", protocol="status", steps=10)  # type: ignore[arg-type] # a name will do
    campaign = fuzz(range(20), options, out=tmp_path, workers=1)
    code = run(["judge", str(tmp_path), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert code == document["exit_code"] == campaign.exit_code == 10
    assert tuple(document["failing_seeds"]) == campaign.failing_seeds
    assert document["runs"] == 20
    assert document["counterexamples"][0]["seed"] in campaign.failing_seeds


def test_a_folder_that_is_no_table_is_wrong_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", str(tmp_path)]) == 2
    assert "holds no history table" in capsys.readouterr().err


def test_a_table_is_judged_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", str(tmp_path), str(tmp_path / "x.jsonl")]) == 2
    assert "judge a history table alone" in capsys.readouterr().err
