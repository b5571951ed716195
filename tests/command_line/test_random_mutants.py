"""``rebalance-check mutants --random``: what becomes of an edit, what is printed, and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.commands._random_trial import (
    CAUGHT,
    DoesNotEnd,
    End,
    Trial,
    limited,
    means_by_name,
    reference,
    try_edit,
)
from rebalance_check.impl.mutants.edit import Edit, source_of
from rebalance_check.impl.mutants.random_edits import RandomEdit

Command = Callable[..., Any]
ASSIGNORS = ("--random", "4", "--seed", "4", "--package", "assignors", "--means", "assignors", "--workers", "1")


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
    run = reference("fuzz --subject coordinator", 0, [])
    assert run.comes_to == frozenset()
    assert run.digest == means_by_name()["fuzz --subject coordinator"].run(0).digest


def test_the_whole_command(command: Command, tmp_path: Path) -> None:
    first = command("mutants", *ASSIGNORS, "--out", str(tmp_path / "results"), "--json")
    trials = first.document["trials"]
    assert [trial["number"] for trial in trials] == list(range(4))
    assert first.document["tried"] == 4
    assert first.document["caught_edits"] == sum(trial["caught"] for trial in trials) > 0
    assert first.document["changed"] == sum(bool(trial["changed"]) for trial in trials)
    assert {trial["end"] for trial in trials} <= {str(end) for end in End}
    again = command("mutants", *ASSIGNORS, "--out", str(tmp_path / "results"), "--json")
    assert again.document["trials"] == trials, "the second command takes every result from the file"


def test_one_edit_alone_ends_as_in_the_whole_and_is_explained(command: Command) -> None:
    whole = command("mutants", *ASSIGNORS, "--json").document["trials"]
    number = next(trial["number"] for trial in whole if trial["end"] == "claim")
    alone = command("mutants", *ASSIGNORS, "--only", str(number))
    assert f"edit {number}, {whole[number]['kind']}, {whole[number]['file']}" in alone.out
    assert whole[number]["detail"] in alone.out


def test_a_file_of_another_seed_is_refused(command: Command, tmp_path: Path) -> None:
    path = str(tmp_path / "results")
    few = ("--random", "1", "--package", "assignors", "--means", "assignors", "--workers", "1", "--out", path)
    command("mutants", *few, "--seed", "1")
    answer = command("mutants", *few, "--seed", "2")
    assert answer.code == 2
    assert "another seed" in answer.err


def test_an_edit_is_shown_without_being_tried(command: Command) -> None:
    answer = command("mutants", "--random", "3", "--seed", "1", "--show", "2")
    assert answer.code == 0
    assert answer.out.startswith("edit 2, ")
    assert "\n@@ " in answer.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--random", "3", "--show", "3"), "--show 3: the edits that are drawn go from 0 to 2"),
        (("--random", "3", "--run"), "--run is about planted ones"),
        (("no-sync-deadline", "--random", "3"), "no-sync-deadline is about planted ones"),
        (("--seed", "3"), "--seed goes with --random N"),
        (("--package", "client"), "--package goes with --random N"),
    ],
)
def test_options_that_do_not_go_together(command: Command, arguments: tuple[str, ...], message: str) -> None:
    answer = command("mutants", *arguments)
    assert answer.code == 2
    assert message in answer.err


def test_what_counts_as_caught() -> None:
    assert {end for end in End if end not in CAUGHT} == {End.SURVIVED, End.UNCHANGED, End.NEVER_RUN}


def test_a_search_for_planted_defects__ends_with_its_minutes(command: Command) -> None:
    two = ("roundrobin-deals-from-the-last", "sticky-fails-on-deleted-topic")
    answer = command("mutants", *two, "--run", "--minutes", "0.000000001")
    assert answer.code == 0
    assert "1 of 2 were searched for when --minutes ended" in answer.out
    assert "1 of 1 caught" in answer.out


@pytest.mark.parametrize("assignor", ["range", "connect-eager"])
def test_a_search_among_assignment_problems__ends_with_its_minutes(command: Command, assignor: str) -> None:
    answer = command(
        "assignors", "--version", "ours", "--assignor", assignor, "--shape", "tame", "--minutes", "0.000000001"
    )
    assert answer.code == 0
    assert "1 inputs" in answer.out or "1 histories" in answer.out


def test_a_comparison_of_assignors_has_no_minutes(command: Command) -> None:
    answer = command("assignors", "--compare", "--minutes", "1")
    assert answer.code == 2
    assert "--minutes ends a search, and --compare is none" in answer.err
