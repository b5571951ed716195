"""The difference of the clocks: a process that waits between two readings does not change it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from rebalance_check.integration.machine_clock import wall_to_monotonic_ns

WAIT_NS = 40_000_000


def interrupted(read: Callable[[], int], every: int) -> Callable[[], int]:
    """A clock in which all but each ``every``-th reading ends only after a wait."""
    calls = 0

    def reading() -> int:
        nonlocal calls
        calls += 1
        value = read()
        if calls % every:
            while read() < value + WAIT_NS:
                pass
        return value

    return reading


def test_the_difference_is_that_of_a_reading_without_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = wall_to_monotonic_ns()
    monkeypatch.setattr(time, "time_ns", interrupted(time.time_ns, every=3))
    assert abs(wall_to_monotonic_ns(readings=6) - quiet) < WAIT_NS / 2


def test_what_the_wall_clock_dates_does_not_move_back() -> None:
    before = time.monotonic_ns()
    seen = time.time_ns()
    assert seen + wall_to_monotonic_ns() >= before
