"""`explore` that ends early: limits, checkpoints as files, signals, and what a terminal shows of it."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.commands import explore as explore_command
from tests.command_line.conftest import Answer

Command = Callable[..., Answer]

SIZES = ("--members", 2, "--partitions", 2, "--generations", 3, "--interpreted")
LONG = ("--members", 3, "--partitions", 3, "--generations", 4, "--interpreted")
"""Minutes of work, interpreted: it is always interrupted."""

SLACK = 10.0
"""Seconds that a busy machine may add to a deadline before a test fails."""


def counts(document: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(document[name] for name in ("distinct", "generated", "depth", "claims", "reachable", "actions"))


def test_a_search_in_pieces_ends_like_one_that_was_not_interrupted(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "search.checkpoint"
    first = command("explore", *SIZES, "--max-states", 100, "--checkpoint", file)
    assert first.code == 12
    assert first.err == f"ending: writing {file}\n"
    assert "ended early, because the limit of states is reached: " in first.out
    assert " levels complete, 10" in first.out
    again = f"rebalance-check explore --members 2 --partitions 2 --generations 3 --interpreted --resume {file}"
    assert f"\n  go on with  {again}\n" in first.out
    assert first.out.splitlines()[-1].startswith("verdict: undecided (10")
    second = command(*shlex.split(again)[1:], "--max-states", 500, "--json").document
    assert (second["exit_code"], second["ended"], second["checkpoint"]) == (12, "states", str(file))
    assert second["frontier"] > 0
    last = command(*shlex.split(again)[1:], "--json")
    whole = command("explore", *SIZES, "--json").document
    assert counts(last.document) == counts(whole)
    assert (last.code, whole["distinct"], whole["complete"], whole["collision_probability"]) == (0, 844, True, 0.0)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_without_a_checkpoint_the_command_that_would_make_one_is_shown(command: Command) -> None:
    answer = command("explore", *SIZES, "--max-states", 100)
    assert "--interpreted --checkpoint FILE\n" in answer.out


def test_a_checkpoint_that_cannot_be_written_hides_nothing(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(explore_command, "write_checkpoint", full)
    answer = command("explore", *SIZES, "--max-states", 100, "--checkpoint", tmp_path / "file")
    assert answer.code == 12
    assert "the checkpoint cannot be written: [Errno 28] No space left on device" in answer.err
    assert "levels complete, 100 distinct states" in answer.out


def test_minutes_end_a_search(command: Command) -> None:
    answer = command("explore", *LONG, "--minutes", 0.005, "--json")
    assert (answer.code, answer.document["ended"], answer.document["verdict"]) == (12, "seconds", "undecided")


def test_a_limit_of_memory_that_is_used_up_already_is_refused(command: Command) -> None:
    answer = command("explore", *SIZES, "--max-memory", "1MiB")
    assert answer.code == 2
    assert "the limit of memory is 1 MiB, and this process has " in answer.err


@pytest.mark.parametrize(
    ("text", "size"), [("2GiB", 2 << 30), ("1.5G", 3 << 29), ("500MB", 500_000_000), ("4096", 4096), ("1 kib", 1024)]
)
def test_a_size_is_read_with_its_unit(text: str, size: int) -> None:
    from rebalance_check.commands._search_options import parsed_size  # noqa: PLC0415 - only this test needs it

    unused: Any = None
    assert parsed_size(unused, unused, text) == size


@pytest.mark.parametrize("text", ["much", "0", "-1GiB", "2 PiB", ""])
def test_what_is_no_size_is_refused(command: Command, text: str) -> None:
    answer = command("explore", *SIZES, "--max-memory", text)
    assert answer.code == 2
    assert "is no size: write a number and a unit, such as 2GiB or 500MB" in answer.err


def with_damage(whole: bytes) -> bytes:
    """A checkpoint with one bit of its first entry turned over."""
    begin = whole.index(b'{"identity"')
    return whole[:begin] + bytes([whole[begin] ^ 1]) + whole[begin + 1 :]


def test_a_checkpoint_is_refused_where_it_does_not_fit(command: Command, tmp_path: Path) -> None:
    file, broken = tmp_path / "search.checkpoint", tmp_path / "broken"
    command("explore", *SIZES, "--max-states", 100, "--checkpoint", file)
    whole = file.read_bytes()
    other = command("explore", "--members", 1, "--interpreted", "--resume", file)
    assert (other.code, "the checkpoint was written with bounds " in other.err) == (2, True)
    taken = command("explore", *SIZES, "--max-states", 100, "--checkpoint", file)
    assert (taken.code, "exists and may be a checkpoint with work in it" in taken.err) == (2, True)
    for content in (b"", b"no archive", whole[: len(whole) // 2], with_damage(whole)):
        broken.write_bytes(content)
        answer = command("explore", *SIZES, "--resume", broken)
        assert answer.code == 2, answer.err
        assert "is no checkpoint of a search, or damaged" in answer.err
    assert command("explore", *SIZES, "--checkpoint", tmp_path / "nowhere" / "file").code == 2
    assert file.read_bytes() == whole


def test_random_walks_say_what_they_covered_and_repeat(command: Command) -> None:
    arguments = ("explore", "--members", 2, "--partitions", 1, "--walks", 20, "--seed", 7, "--depth", 40)
    answer, document = command(*arguments), command(*arguments, "--json").document
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == "verdict: held (20 walks, which prove nothing about others)"
    assert f"{document['steps']:,} actions, {document['distinct']:,} distinct states" in answer.out
    assert (document["walks"], document["seed"], document["depth"], document["verdict"]) == (20, 7, 40, "held")
    ended = command(*arguments, "--max-states", 30, "--json").document
    assert (ended["exit_code"], ended["ended"], ended["verdict"]) == (12, "states", "undecided")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--walks", 5, "--liveness"), "--liveness applies to the search alone"),
        (("--walks", 5, "--checkpoint", "x"), "--checkpoint applies to the search alone"),
        (("--depth", 5), "--depth applies to random walks alone: give --walks N, too"),
        (("--seed", 0), "--seed applies to random walks alone: give --walks N, too"),
        (("--walks", 5, "--broker", "embedded"), "--walks applies to the model alone"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    command: Command, arguments: tuple[object, ...], message: str
) -> None:
    answer = command("explore", *SIZES, *arguments)
    assert (answer.code, message in answer.err) == (2, True)


# ------------------------------------------------------------------------------------------------ signals, terminals


class Started:
    """The command in a process of its own, on a terminal where ``on_terminal``; what it has printed so far."""

    def __init__(self, *arguments: object, on_terminal: bool = False, **environment: str) -> None:
        self.ours, theirs = pty.openpty() if on_terminal else os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rebalance_check.cli", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
            env=os.environ | {"COLUMNS": "80", "TERM": "xterm"} | environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def read_until(self, pattern: str, seconds: float) -> None:
        """Wait until standard error shows this."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, f"{pattern!r} was not shown: {self.shown!r}"
            self.read(0.2)

    def read(self, seconds: float) -> bool:
        """Take what is there; False at the end."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.ours, 1 << 16)
        except OSError:  # how a terminal ends
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; the exit code and standard output, within 2 seconds and the slack of the machine."""
        self.process.send_signal(number)
        return self.end(2 + SLACK)

    def end(self, seconds: float) -> tuple[int, str]:
        """Wait for the end; exit code and standard output."""
        try:
            out, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        while self.read(1.0):
            pass
        os.close(self.ours)
        return self.process.returncode, out.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_in_good_order__and_it_goes_on(
    number: signal.Signals, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "search.checkpoint"
    started = Started("explore", *LONG, "--checkpoint", file, on_terminal=True)
    started.read_until(r"depth 1\d, ", 60)
    code, out = started.interrupt(number)
    assert code == 130
    assert "ended early, because it was interrupted: " in out
    assert f"--resume {file}" in out
    assert command("explore", *LONG, "--resume", file, "--max-states", 3_000, "--json").document["ended"] == "states"


def test_ctrl_c_is_answered_while_the_model_compiles(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    started = Started(
        "explore", "--members", 6, "--partitions", 6, "--timeouts", "--leaves", 1, "--failovers", 1,
        "--static-members", 1, "--json", XDG_CACHE_HOME=str(tmp_path),
    )  # fmt: skip
    started.read_until("compiling the model, once for these bounds", 60)
    code, out = started.interrupt()
    document = json.loads(out)
    assert (code, document["exit_code"], document["ended"], document["distinct"]) == (130, 130, "stopped", 0)
    assert "ended early, because it was interrupted: no state was explored" in started.shown


def test_the_line_of_a_search_is_redrawn_and_erased() -> None:
    started = Started("explore", *SIZES, on_terminal=True)
    code, out = started.end(60)
    assert code == 0
    assert re.search(r"depth \d+, [\d,]+ states, frontier [\d,]+, [\d,]+ states/s", started.shown)
    assert "depth" not in "".join(screen(started.shown))
    assert out.splitlines()[-1].startswith("verdict: held (844 states)")


def test_nothing_of_it_is_shown_where_there_is_no_terminal() -> None:
    started = Started("explore", *SIZES)
    code, _ = started.end(60)
    assert (code, started.shown) == (0, "")


def screen(shown: str) -> list[str]:
    """The lines of a terminal after these characters: enough of one for a line that is redrawn."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|[^\x1b]", shown):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.startswith("\x1b"):
            if part.endswith("A"):
                row -= int(part[2:-1] or 1)
            elif part.endswith("K"):
                lines[row] = ""
        else:
            lines[row] = lines[row].ljust(column)[:column] + part + lines[row][column + 1 :]
            column += 1
    return lines
