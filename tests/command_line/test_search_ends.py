"""`explore` that ends early: limits, signals, and what a terminal shows of it; a search on disk."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.model.checker.safety.limits import resident_bytes
from tests.command_line.conftest import Answer

Command = Callable[..., Answer]

SIZES = ("--bounds", "members=2,partitions=2,generations=3", "--interpreted")
LONG = ("--bounds", "members=3,partitions=3,generations=4", "--interpreted")
"""Minutes of work, interpreted: it is always interrupted."""

SLACK = 10.0
"""Seconds that a busy machine may add to a deadline before a test fails."""


def test_a_search_that_ends_early_says_why_and_what_it_covered(command: Command) -> None:
    answer = command("explore", *SIZES, "--max-states", 100)
    assert answer.code == 12
    assert "ended early, because the limit of states is reached: " in answer.out
    assert " levels complete, 10" in answer.out
    assert answer.out.splitlines()[-1].startswith("verdict: undecided (10")
    document = command("explore", *SIZES, "--max-states", 100, "--json").document
    assert (document["exit_code"], document["ended"], document["frontier"] > 0) == (12, "states", True)


def test_a_search_that_memory_does_not_hold_goes_to_disk(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    bounds = ("explore", "--protocol", "cooperative")
    command(*bounds, "--max-states", 10)  # the compiler's own memory is there already

    def with_little_memory(*more: object) -> Answer:
        return command(*bounds, "--max-memory", resident_bytes() + (16 << 20), *more)

    assert with_little_memory("--json").document["ended"] == "bytes"
    found = with_little_memory("--spill", tmp_path / "states", "--json").document
    assert (found["exit_code"], found["distinct"], found["generated"]) == (0, 322_096, 918_963)
    assert found["disk_bytes"] > 0
    assert " MiB on disk\n" in with_little_memory("--spill", tmp_path / "states").out
    (tmp_path / "file").touch()
    assert with_little_memory("--spill", tmp_path / "file").code == 2


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
    from rebalance_check.commands._search_memory import parsed_size  # noqa: PLC0415 - only this test needs it

    unused: Any = None
    assert parsed_size(unused, unused, text) == size


@pytest.mark.parametrize("text", ["much", "0", "-1GiB", "2 PiB", ""])
def test_what_is_no_size_is_refused(command: Command, text: str) -> None:
    answer = command("explore", *SIZES, "--max-memory", text)
    assert answer.code == 2
    assert "is no size: write a number and a unit, such as 2GiB or 500MB" in answer.err


def test_random_walks_say_what_they_covered_and_repeat(command: Command) -> None:
    arguments = ("explore", "--bounds", "members=2,partitions=1", "--walks", 20, "--seed", 7, "--steps", 40)
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
        (("--walks", 5, "--liveness"), "--liveness does not go together with --walks"),
        (("--steps", 5), "--steps does not go together with a search of all states"),
        (("--seed", 0), "--seed does not go together with a search of all states"),
        (("--walks", 5, "--spill", "x"), "--spill does not go together with --walks"),
        (("--spill", "x"), "--interpreted does not go together with --spill"),
        (("v1/eager?members=1/0",), "--bounds, --interpreted does not go together with ADDRESS"),
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
def test_a_signal_ends_a_search_in_good_order(number: signal.Signals) -> None:
    started = Started("explore", *LONG, on_terminal=True)
    started.read_until(r"depth 1\d, ", 60)
    code, out = started.interrupt(number)
    assert code == 130
    assert "ended early, because it was interrupted: " in out


def test_ctrl_c_is_answered_while_the_model_compiles(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    started = Started(
        "explore", "--bounds", "members=6,partitions=6,timeouts,leaves=1,failovers=1,static_members=1", "--json",
        XDG_CACHE_HOME=str(tmp_path),
    )  # fmt: skip
    started.read_until("compiling the model, once for these bounds", 60)
    code, out = started.interrupt()
    document = json.loads(out)
    assert (code, document["exit_code"], document["ended"], document["distinct"]) == (130, 130, "stopped", 0)
    assert "ended early, because it was interrupted: no state was explored" in started.shown
