"""The clock that everything outside of the simulator goes by."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds of this machine's monotonic clock: one clock for all processes, which never jumps."""
    return time.monotonic_ns() // 1_000_000


def wall_to_monotonic_ns(readings: int = 100) -> int:
    """Nanoseconds that the monotonic clock says more than the wall clock.

    A process that loses the processor between two readings would take the wait for a difference of the clocks, so the
    quickest of several ``readings`` counts. The figure is never too small by more than those few nanoseconds: what the
    wall clock dates does not move before an event that the monotonic clock dated earlier.
    """
    return min(_reading() for _ in range(readings))[1]


def _reading() -> tuple[int, int]:
    """How long a reading of both clocks took, and their difference at its end."""
    began = time.monotonic_ns()
    wall = time.time_ns()
    ended = time.monotonic_ns()
    return ended - began, ended - wall
