"""How fast a search is, and how long it may still take: what it reports to its listener, and how often."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from rebalance_check.model.checker.safety.limits import Coverage, SearchListener, estimated_states_left

REPORT_EVERY: Final = 0.1
"""Seconds between two reports within a level."""


class Pace:
    """The clock of one search, over several runs where it went on from a checkpoint."""

    def __init__(self, listener: SearchListener | None) -> None:
        self.listener = listener
        self.levels: list[int] = []
        """The sizes of the levels that are complete."""
        self._started = self._reported = time.perf_counter()
        self._earlier = 0.0
        self._states_before = 0

    def begin(self, states: int) -> None:
        """A run begins now, with so many states found before."""
        self._started = time.perf_counter()
        self._states_before = states

    def go_on(self, seconds: float, levels: Iterable[int]) -> None:
        """Count on from an earlier run."""
        self._earlier, self.levels = seconds, list(levels)

    @property
    def seconds_of_this_run(self) -> float:
        """Seconds since `begin`."""
        return time.perf_counter() - self._started

    @property
    def seconds(self) -> float:
        """Seconds of all runs."""
        return self._earlier + self.seconds_of_this_run

    def is_due(self) -> bool:
        """Whether it is time for a report within a level."""
        return self.listener is not None and time.perf_counter() - self._reported >= REPORT_EVERY

    def report(self, depth: int, states: int, transitions: int, left: int, found: int) -> None:
        """Report to the listener; ``left`` states of the level are to be expanded, ``found`` are in the next one."""
        if self.listener is None:
            return
        self._reported = time.perf_counter()
        speed = (states - self._states_before) / max(self.seconds_of_this_run, 1e-9)
        more = estimated_states_left(self.levels, left + found)
        self.listener.searching(
            Coverage(
                depth=depth, states=states, transitions=transitions, frontier=left + found, seconds=self.seconds,
                states_per_second=speed, seconds_left=more / speed if more is not None and speed else None,
            )
        )  # fmt: skip
