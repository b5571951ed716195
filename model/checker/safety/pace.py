"""How fast a search is: what it reports to its listener, and how often."""

from __future__ import annotations

import time
from typing import Final

from rebalance_check.model.checker.safety.limits import Coverage, SearchListener

REPORT_EVERY: Final = 0.1
"""Seconds between two reports within a level."""


class Pace:
    """The clock of one search, which begins now."""

    def __init__(self, listener: SearchListener | None) -> None:
        self.listener = listener
        self._started = self._reported = time.perf_counter()

    def begin(self) -> None:
        """The search begins now."""
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since `begin`."""
        return time.perf_counter() - self._started

    def is_due(self) -> bool:
        """Whether it is time for a report within a level."""
        return self.listener is not None and time.perf_counter() - self._reported >= REPORT_EVERY

    def report(self, depth: int, states: int, transitions: int, frontier: int) -> None:
        """Report to the listener."""
        if self.listener is not None:
            self._reported = time.perf_counter()
            speed = states / max(self.seconds, 1e-9)
            self.listener.searching(Coverage(depth, states, transitions, frontier, self.seconds, speed))
