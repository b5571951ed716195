"""The bench of trust runs, and one seed is one run: its figures do not depend on the number of processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "trust.py"
DAMAGES = {
    "dropped", "garbled", "copied over", "source cut", "source missing", "file cut", "swapped", "doubled",
}  # fmt: skip


def measured(command: str, *, first: int, runs: int, workers: int = 1) -> dict[str, Any]:
    numbers = ["--first", str(first), "--runs", str(runs), "--workers", str(workers)]
    done = subprocess.run([sys.executable, BENCH, command, *numbers, "--json"], capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr.decode()
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("command", ["healthy", "scenarios"])
def test_runs_that_work_are_judged(command: str) -> None:
    found = measured(command, first=3, runs=4)
    assert (found["runs"], sum(found["outcomes"].values())) == (4, 4)
    assert found["accused"] == len({alarm["seed"] for alarm in found["alarms"]})


@pytest.mark.parametrize(("command", "seed"), [
    ("healthy", 31027745),  # a client throws the reply to a JoinGroup away, because it has lost its membership since
    ("scenarios", 32002799),  # the write of a SyncGroup failed, and the group waits with its member
])  # fmt: skip
def test_what_was_accused_once_is_not_accused(command: str, seed: int) -> None:
    assert measured(command, first=seed, runs=1)["outcomes"] == {"held": 1}


def test_one_seed_is_one_run__with_every_number_of_processes() -> None:
    assert measured("mutilate", first=5, runs=20) == measured("mutilate", first=5, runs=20, workers=2)


def test_each_kind_of_damage_is_drawn() -> None:
    found = measured("mutilate", first=0, runs=48)
    assert {name.split(":")[0] for name in found["counted"]} == DAMAGES
    for alarm in found["alarms"]:
        assert alarm["damage"] in DAMAGES
        assert alarm["line"] > 0
        assert f"--first {alarm['seed']} --runs 1" in alarm["replay"]


def test_a_damaged_history_of_a_mutant__is_never_held() -> None:
    found = measured("mutilate-violating", first=0, runs=6)
    assert found["alarms"] == []
    assert found["outcomes"].keys() <= {"violated", "undecided", "held without RunEnded"}
