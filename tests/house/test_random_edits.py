"""The bench of random edits: what becomes of an edit, what is printed, and what is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.mutants.edit import Edit, source_of
from rebalance_check.impl.mutants.random_edits import RandomEdit

BENCH = Path(__file__).parents[2] / "bench"
sys.path.append(str(BENCH))

from random_trial import CAUGHT, DoesNotEnd, End, Trial, limited, means_by_name, reference, try_edit  # noqa: E402 - the bench is no package

ASSIGNORS = ("4", "--seed", "4", "--package", "assignors", "--means", "assignors", "--workers", "1")


HEARTBEAT = "rebalance_check.impl.coordinator.heartbeat:heartbeat"
GROUP = "group = shard.groups.get(request.group_id)"


def edit_of(function: str, old: str, new: str) -> RandomEdit:
    """An edit with the line that its text has."""
    edit = Edit(function, old, new)
    lines = source_of(edit.module).splitlines()
    start = next(number for number, text in enumerate(lines) if f"def {edit.name.rpartition('.')[2]}(" in text)
    line = next(number for number, text in enumerate(lines, start=1) if number > start and old in text)
    return RandomEdit(0, "negated guard", edit, line, line, line)


def tried(edit: RandomEdit, name: str = "fuzz --protocol eager", seeds: Sequence[int] = range(6)) -> Trial:
    return try_edit(edit, [reference(name, seed, [edit]) for seed in seeds])


def test_an_edit_that_breaks_a_claim_is_caught_by_it() -> None:
    trial = tried(
        edit_of("rebalance_check.impl.coordinator.rebalance:start_generation", "group.generation += 1", "pass")
    )
    assert trial.end is End.CLAIM
    assert trial.claim
    assert trial.command == f"rebalance-check fuzz --seeds {trial.seed}:{trial.seed + 1} --protocol eager"


def test_an_edit_that_raises_is_caught_by_the_exception() -> None:
    trial = tried(edit_of(HEARTBEAT, GROUP, "group = shard.groups[request.group_id, 0]"))
    assert (trial.end, trial.claim) == (End.EXCEPTION, "KeyError")


def test_an_edit_that_changes_no_history_is_no_survivor() -> None:
    trial = tried(edit_of(HEARTBEAT, GROUP, f"{GROUP} or None"))
    assert (trial.end, trial.changed) == (End.UNCHANGED, 0)
    assert trial.runs


def test_an_edit_that_no_run_comes_to() -> None:
    trial = tried(edit_of(HEARTBEAT, GROUP, f"{GROUP} or None"), "assignors")
    assert (trial.end, trial.runs) == (End.NEVER_RUN, 0)


def test_an_edit_that_changes_histories_and_breaks_nothing_survives() -> None:
    waits = edit_of("rebalance_check.impl.client.backoff:ExponentialBackoff.next_ms", "1 - JITTER, 1", "1, 1")
    trial = tried(waits, seeds=range(20))
    assert trial.end is End.SURVIVED
    assert trial.changed


def test_a_body_that_never_ends_is_ended() -> None:
    def spin() -> None:
        while True:
            pass

    with limited(0.1), pytest.raises(DoesNotEnd):
        spin()


def test_a_body_that_ends_in_time_is_left_alone() -> None:
    with limited(60.0):
        pass


def test_the_unedited_run_says_which_edits_it_comes_to() -> None:
    run = reference("scenarios", 0, [])
    assert run.comes_to == frozenset()
    assert run.digest == means_by_name()["scenarios"].run(0).digest


def measured(*arguments: object) -> dict[str, Any]:
    done = subprocess.run([sys.executable, BENCH / "random_edits.py", *map(str, arguments), "--json"],
                          capture_output=True, check=True)  # fmt: skip
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_whole_command(tmp_path: Path) -> None:
    first = measured(*ASSIGNORS, "--out", tmp_path / "results")
    trials = first["trials"]
    assert [trial["number"] for trial in trials] == list(range(4))
    assert first["tried"] == 4
    assert first["caught_edits"] == sum(trial["caught"] for trial in trials) > 0
    assert first["changed"] == sum(bool(trial["changed"]) for trial in trials)
    assert {trial["end"] for trial in trials} <= {str(end) for end in End}
    again = measured(*ASSIGNORS, "--out", tmp_path / "results")
    assert again["trials"] == trials, "the second command takes every result from the file"
    program, results = str(BENCH / "random_edits.py"), str(tmp_path / "results")
    other = [sys.executable, program, *ASSIGNORS, "--seed", "1", "--out", results]
    refused = subprocess.run(other, capture_output=True, check=False)
    assert (refused.returncode, b"another seed" in refused.stderr) == (1, True)
    number = next(trial["number"] for trial in trials if trial["end"] == "claim")
    alone = measured(*ASSIGNORS, "--only", number)
    for field in ("kind", "file", "end", "detail"):
        assert alone[field] == trials[number][field]


def test_what_counts_as_caught() -> None:
    assert {end for end in End if end not in CAUGHT} == {End.SURVIVED, End.UNCHANGED, End.NEVER_RUN}
