"""A command in a process of its own, with the seconds, CPU seconds and peak memory that the system counts for it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

KILOBYTE = 1024
"""``ru_maxrss`` counts in these on Linux, where the benches run."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A process's output, and its cost from its start to its end."""

    output: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int


class Running:
    """A process that was started and is measured until it ends."""

    def __init__(self, command: Sequence[str], folder: Path | None = None, extra: Mapping[str, str] | None = None):
        self._command = command
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
            env={**os.environ, **(extra or {})},
        )  # fmt: skip

    def ended(self) -> Measured:
        """Wait for its end.

        Raises: RuntimeError with its output, where it failed.
        """
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            output = stream.read()
        _, status, usage = os.wait4(self._process.pid, 0)
        seconds = time.perf_counter() - self._started
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if self._process.returncode:
            raise RuntimeError(f"{' '.join(self._command)} ended with {self._process.returncode}: {output}")
        return Measured(output, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KILOBYTE)


def measured(command: Sequence[str], folder: Path | None = None, extra: Mapping[str, str] | None = None) -> Measured:
    """Run a command to its end."""
    return Running(command, folder, extra).ended()


def spread(values: Iterable[float], digits: int = 2) -> str:
    """The least, the median and the greatest of repeated figures."""
    found = sorted(values)
    return " / ".join(f"{value:,.{digits}f}" for value in (found[0], median(found), found[-1]))


def load() -> str:
    """How busy the machine is: its load over 1, 5 and 15 minutes, and its processors."""
    return f"load {' '.join(f'{one:.2f}' for one in os.getloadavg())} on {os.cpu_count()} processors"
