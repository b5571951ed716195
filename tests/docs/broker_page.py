"""The programs on the page about the broker, and a broker as a process of its own for them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "broker.md"
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = "127.0.0.1:9092"
"""The address that the programs have."""


class Program(NamedTuple):
    """A block of the page and the text that is shown as its output."""

    kind: str
    code: str
    shown: str

    def at(self, bootstrap: str) -> str:
        """The program for a broker at another address."""
        assert self.code.count(WRITTEN) == 1
        return self.code.replace(WRITTEN, bootstrap)


def programs(kind: str) -> list[Program]:
    """The programs of a language, in the order of the page."""
    fenced = [(match["kind"], match["body"]) for match in FENCE.finditer(PAGE.read_text(encoding="utf-8"))]
    return [
        Program(each, body, output)
        for (each, body), (_, output) in zip(fenced, [*fenced[1:], ("", "")], strict=True)
        if each == kind
    ]


@contextmanager
def broker_process() -> Iterator[tuple[str, list[str]]]:
    """`rebalance-check broker` with the topic of the page: its address, and what it said, known when it ended."""
    said: list[str] = []
    words = [sys.executable, "-m", "rebalance_check", "broker", "--port", "0", "--topics", "orders:4", "--judge"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said.append(process.stdout.readline())
        yield said[0].split()[-1], said
    finally:
        process.terminate()
        said += process.communicate(timeout=30)[0].splitlines()
    assert process.returncode == 0, said


def run(*words: object, cwd: Path) -> str:
    """The output of a program; it must end by itself, without an error."""
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
