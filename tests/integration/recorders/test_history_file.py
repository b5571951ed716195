"""A history file survives its process: nothing that was recorded is lost, and the next process goes on with it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_check import (
    HistoryFile,
    MemberLeft,
    MemberStarted,
    Outcome,
    PartitionsAssigned,
    RebalanceCheckError,
    encode,
    judge,
    read_history,
)

KILLED = """
import os, signal, sys
from rebalance_check import HistoryFile, MemberStarted
file = HistoryFile(sys.argv[1])
recorder = file.recorder("g", "m0")
for _ in range(1000):
    recorder.emit(MemberStarted(member="m0"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "m0.jsonl"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [event.seq for event in read_history(path)] == list(range(1000))


@pytest.mark.parametrize("cut", [2, 30, 100_000])
def test_the_next_process_takes_a_cut_line_away__and_goes_on_with_the_numbers(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "m0.jsonl"
    with HistoryFile(path) as file:
        recorder = file.recorder("g", "m0")
        recorder.emit(MemberStarted(member="m0"))
        recorder.emit(PartitionsAssigned(member="m0", generation=1, partitions=tuple(f"t-{n}" for n in range(20_000))))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert judge(path).outcome is Outcome.UNDECIDED  # as long as the line is there, the judge names it
    with HistoryFile(path) as file:
        file.recorder("g", "m0").emit(MemberStarted(member="m0"))
        file.recorder("g", "m1").emit(MemberStarted(member="m1"))
    assert [(event.source, event.seq) for event in read_history(path)] == [("m0", 0), ("m0", 1), ("m1", 0)]


def test_an_event_that_lacks_its_line_end_alone_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "m0.jsonl"
    path.write_bytes(encode(MemberStarted(group="g", source="m0", seq=0, member="m0")))
    with HistoryFile(path) as file:
        file.recorder("g", "m0").emit(MemberLeft(member="m0"))
    assert [(type(event), event.seq) for event in read_history(path)] == [(MemberStarted, 0), (MemberLeft, 1)]


def test_a_file_that_was_cut_within_its_first_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "m0.jsonl"
    path.write_bytes(encode(MemberStarted(member="m0"))[:20])
    with HistoryFile(path) as file:
        file.recorder("g", "m0").emit(MemberLeft(member="m0"))
    assert [event.seq for event in read_history(path)] == [0]


def test_a_second_recorder_of_one_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m0.jsonl"
    with HistoryFile(path), pytest.raises(RebalanceCheckError, match="give each consumer a file of its own"):
        HistoryFile(path)
    HistoryFile(path).close()


def test_a_file_of_something_else_is_refused__and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary\n", encoding="utf-8")
    with pytest.raises(RebalanceCheckError, match="write one JSON object per line"):
        HistoryFile(path)
    assert path.read_text(encoding="utf-8") == "dear diary\n"


def test_a_disk_that_refuses_does_not_stop_the_application__and_the_judge_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_file: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with HistoryFile(tmp_path / "m0.jsonl") as file, caplog.at_level(logging.WARNING):
        recorder = file.recorder("g", "m0")
        recorder.emit(MemberStarted(member="m0"))
        with monkeypatch.context() as disk:
            disk.setattr(os, "write", full)
            recorder.emit(PartitionsAssigned(member="m0", generation=1, partitions=("t-0",)))
        recorder.emit(PartitionsAssigned(member="m0", generation=1, partitions=("t-1",)))
    assert "event 1 of m0 is not recorded" in caplog.text
    judgement = judge(tmp_path / "m0.jsonl")
    assert judgement.outcome is Outcome.UNDECIDED
    assert "expected number 1, got 2" in judgement.undecided["no_double_ownership"]


def test_a_line_that_the_disk_took_in_part_is_named__and_the_next_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with HistoryFile(tmp_path / "m0.jsonl") as file:
        recorder = file.recorder("g", "m0")
        with monkeypatch.context() as disk:
            disk.setattr(os, "write", lambda to, data: write(to, data[:20]))
            recorder.emit(MemberStarted(member="m0"))
        recorder.emit(MemberLeft(member="m0"))
    cut, rest = (tmp_path / "m0.jsonl").read_bytes().splitlines()
    assert len(cut) == 20
    assert b'"MemberLeft"' in rest
