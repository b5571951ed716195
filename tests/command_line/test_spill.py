"""`explore --spill`: a search whose states are on disk ends, goes on and is refused in sentences."""

from __future__ import annotations

import resource
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.commands import explore as explore_command
from rebalance_check.model.checker.safety import spilling
from tests.command_line.conftest import Answer

Command = Callable[..., Answer]

SIZES = ("--members", 2, "--partitions", 2, "--generations", 3)
ALIKE = ("distinct", "generated", "cut", "depth", "complete", "claims", "reachable", "actions", "counterexample")


@pytest.fixture(autouse=True)
def on_disk_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "FIRST_IN_MEMORY", 1)


def alike(document: dict[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in ALIKE}


def test_a_search_on_disk_prints_what_one_in_memory_prints__and_goes_on(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "states"
    first = command("explore", *SIZES, "--max-memory", "1G", "--spill", folder, "--max-states", 300)
    assert first.code == 12
    assert "ended early, because the limit of states is reached: " in first.out
    again = "rebalance-check explore --members 2 --partitions 2 --generations 3 --max-memory 1073741824 --spill"
    assert f"\n  go on with  {again} {folder}\n" in first.out
    second = command(*shlex.split(again)[1:], folder, "--json")
    whole = command("explore", *SIZES, "--json")
    assert (second.code, second.document["distinct"]) == (0, 844)
    assert alike(second.document) == alike(whole.document)
    assert second.document["disk_bytes"] > 0 == whole.document["disk_bytes"]
    assert " MiB on disk\n" in command(*shlex.split(again)[1:], folder).out


def test_the_counterexample_of_a_mutant_is_printed(command: Command, tmp_path: Path) -> None:
    mutant = ("explore", "--members", 2, "--partitions", 1, "--mutant", "generation-is-reused", "--json")
    found, expected = command(*mutant, "--spill", tmp_path).document, command(*mutant).document
    assert (found["exit_code"], found["verdict"], found["claims"]) == (10, "violated", expected["claims"])
    assert len(found["counterexample"]["actions"]) == len(expected["counterexample"]["actions"])


def test_ctrl_c_ends_with_what_is_known_and_says_how_to_go_on(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = iter(range(1_000_000))

    @contextmanager
    def interrupted() -> Iterator[Callable[[], bool]]:
        yield lambda: next(asked) > 30

    with monkeypatch.context() as patch:
        patch.setattr(explore_command, "stop_requests", interrupted)
        answer = command("explore", *SIZES, "--spill", tmp_path)
    assert answer.code == 130
    assert "ended early, because it was interrupted: " in answer.out
    assert f"--generations 3 --spill {tmp_path}\n" in answer.out
    assert command("explore", *SIZES, "--spill", tmp_path, "--json").document["distinct"] == 844


def test_a_full_disk_ends_with_a_sentence__and_the_search_goes_on(command: Command, tmp_path: Path) -> None:
    command("explore", "--max-states", 10)  # so that the compiled model is in the cache
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, before[1]))
    try:
        answer = command("explore", "--spill", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert answer.code == 12
    assert "ended early, because the disk is full: " in answer.out
    assert f"  go on with  rebalance-check explore --spill {tmp_path}\n" in answer.out
    assert command("explore", "--spill", tmp_path, "--json").document["distinct"] == 37_487


@pytest.mark.parametrize(
    "options",
    [
        ("--checkpoint", "file"), ("--resume", "file"), ("--liveness",), ("--walks", 5), ("--witness", "x"),
        ("--serve",), ("--broker", "embedded"), ("--interpreted",),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(
    command: Command, options: tuple[object, ...], tmp_path: Path
) -> None:
    answer = command("explore", *SIZES, "--spill", tmp_path / "states", *options)
    assert (answer.code, answer.out) == (2, "")
    assert f"{options[0]} does not go together with --spill" in answer.err
    assert not (tmp_path / "states").exists()


def test_a_folder_that_is_not_its_own_is_refused(command: Command, tmp_path: Path) -> None:
    command("explore", *SIZES, "--spill", tmp_path / "other", "--max-states", 300)
    other = command("explore", "--members", 1, "--spill", tmp_path / "other")
    assert (other.code, "holds another search: its bounds is " in other.err) == (2, True)
    foreign = command("explore", *SIZES, "--spill", tmp_path)
    assert (foreign.code, "holds no search, but has 'other'" in foreign.err) == (2, True)
    (tmp_path / "file").touch()
    assert command("explore", *SIZES, "--spill", tmp_path / "file").code == 2
