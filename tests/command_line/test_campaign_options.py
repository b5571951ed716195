"""``fuzz`` with known findings and an early end: what it prints, writes and exits with."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rebalance_check.properties.known import read_known

PLANTED = ("fuzz", "--mutant", "revoked-partitions-kept", "--protocol", "cooperative", "--workers", "1",
           "--invariant", "callbacks_alternate")  # fmt: skip
FOUND = "callbacks_alternate: "
Command = Callable[..., Any]


@pytest.fixture
def known(tmp_path: Path) -> Path:
    path = tmp_path / "known.toml"
    path.write_text(
        '[[known]]\nclaim = "callbacks_alternate"\nfinding = "*"\nof = "a mutant"\nreason = "it is planted"\n'
        '[[known]]\nclaim = "one_leader"\nreason = "it was repaired"\n',
        encoding="utf-8",
    )
    return path


def test_the_first_finding_is_printed_at_once_on_standard_error(command: Command) -> None:
    answer = command(*PLANTED, "--seeds", "0:40")
    first, replay = [line for line in answer.err.splitlines() if line][:2]
    assert first.startswith("first finding, seed ")
    assert FOUND in first
    assert first.endswith("(the campaign goes on)")
    assert "rebalance-check fuzz --seeds" in replay
    assert "first finding" not in answer.out


def test_findings_are_grouped_by_signature_with_their_seeds(command: Command) -> None:
    answer = command(*PLANTED, "--seeds", "0:40", "--json")
    found = answer.document["findings"]
    assert sum(each["runs"] for each in found) >= len(answer.document["failing_seeds"])
    assert all("#" in each["finding"] and each["seeds"] for each in found)


def test_stop_at_first_ends_at_the_first_finding(command: Command) -> None:
    answer = command(*PLANTED, "--seeds", "0:4000", "--stop-at-first", "--json")
    assert answer.code == 10
    assert answer.document["runs"] < 100
    assert "(the campaign ends here)" in answer.err


def test_known_findings_alone_exit_with_0_and_their_count(command: Command, known: Path) -> None:
    answer = command(*PLANTED, "--invariant", "one_leader", "--seeds", "0:40", "--known", known)
    assert answer.code == 0
    assert "known of a mutant: callbacks_alternate in " in answer.out
    assert "not seen: known: one_leader; if it does not come back, delete the entry" in answer.out
    assert "with known findings)" in answer.out.splitlines()[-1]
    assert "first finding" not in answer.err


def test_what_is_known_has_its_seeds__and_what_is_not_seen_is_listed(command: Command, known: Path) -> None:
    answer = command(*PLANTED, "--invariant", "one_leader", "--seeds", "0:40", "--known", known, "--json")
    assert (answer.code, answer.document["findings"]) == (0, [])
    assert answer.document["known"][0]["runs"] == len(answer.document["known"][0]["seeds"])
    assert answer.document["known_not_seen"] == [
        {"invariant": "one_leader", "finding": "*", "of": "", "reason": "it was repaired"}
    ]


def test_junit_has_what_is_known_as_a_property(command: Command, known: Path, tmp_path: Path) -> None:
    command(*PLANTED, "--seeds", "0:40", "--known", known, "--junit", tmp_path / "junit.xml")
    suite = ET.parse(tmp_path / "junit.xml").getroot()
    assert not suite.findall(".//failure")
    (said,) = suite.findall(".//property[@name='known']")
    assert "it is planted" in said.attrib["value"]


def test_minutes_without_seeds_run_until_the_time_is_over(command: Command) -> None:
    answer = command("fuzz", "--protocol", "connect-config", "--workers", "1", "--invariant", "one_leader",
                     "--minutes", "0.02", "--json")  # fmt: skip
    assert answer.document["runs"] > 0


def test_a_list_that_cannot_be_read_is_refused(command: Command, tmp_path: Path) -> None:
    answer = command(*PLANTED, "--known", tmp_path / "none.toml")
    assert answer.code == 2
    assert "none.toml cannot be read" in answer.err


OF_KAFKA = {
    "--seeds 145:146 --protocol eager --partitions 1 --faults pause,failover,subscription,loading-sync": [0],
    "--seeds 6561:6562 --protocol eager --partitions 1 --faults pause,metadata,coordinator-pause,unnoticed-growth "
    "--omit 1,2,3,4,5,6,9,10,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28": [1, 2],
    "--seeds 328:329 --protocol election --faults all,sticky-election": [3],
    "--seeds 3:4 --protocol eager --partitions 1 --faults crash,metadata,old-static-members --choices none --actions "
    "'StartMember m0,AdvanceClock m0 [15000],CrashMember m0,AdvanceClock m0 [500],ChangeConfig m0 [6],"
    "AdvanceClock m0 [500],StartMember m0,AdvanceClock m0 [5000]'": [1, 2],
}
"""Commands of TRACK_RECORD.md, and the entries of the list that they show."""


@pytest.mark.parametrize("line", OF_KAFKA)
def test_the_list_of_kafka_accounts_for_what_its_own_groups_do_not_survive(command: Command, line: str) -> None:
    listed = Path(__file__).parents[2] / "docs" / "known-of-kafka.toml"
    assert command("fuzz", "--workers", "1", *shlex.split(line)).code in (10, 11)
    answer = command("fuzz", "--workers", "1", *shlex.split(line), "--known", listed, "--json")
    assert (answer.code, answer.document["findings"]) == (0, [])
    entries = [(entry.claim, entry.finding) for entry in read_known(listed).entries]
    seen = {(each["invariant"], each["finding"]) for each in answer.document["known"]}
    assert seen == {entries[number] for number in OF_KAFKA[line]}


def test_a_table_is_judged_with_a_list_and_files_are_not(command: Command, known: Path, tmp_path: Path) -> None:
    command(*PLANTED, "--seeds", "0:6", "--out", tmp_path / "table", "--record", tmp_path / "one.jsonl")
    asked = ("judge", tmp_path / "table", "--invariant", "callbacks_alternate", "--known", known)
    assert command("judge", tmp_path / "table", "--invariant", "callbacks_alternate").code == 10
    assert command(*asked).code == 0
    answer = command("judge", tmp_path / "one.jsonl", "--known", known)
    assert answer.code == 2
    assert "--known does not go together with history files" in answer.err
