"""Scenarios as generators that yield their waits, and the one loop that runs several of them side by side.

No thread runs a scenario, so child processes are all started by the main thread: the kernel ends them with it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final, TypeAlias

WAKE_UP_S: Final = 0.5
"""How long the loop waits for an event at most before it looks at processes and deadlines again, in seconds."""


@dataclass(frozen=True, slots=True)
class Until:
    """A scenario's wait: until ``is_so``, for ``timeout_s`` seconds at most.

    ``what`` completes the sentence "it did not come to pass that ...".
    """

    is_so: Callable[[], bool]
    timeout_s: float
    what: str


Steps: TypeAlias = Generator[Until, bool, None]
"""A scenario: the value sent into it says whether its condition came to pass in time."""


class Waiting:
    """A scenario between two of its steps; a new one is ready for its first step."""

    def __init__(self, steps: Steps, clock: Callable[[], float]) -> None:
        self._steps = steps
        self._clock = clock
        self._until: Until | None = None
        self._deadline = 0.0
        self.is_over = False

    def outcome(self) -> bool | None:
        """Whether its condition came to pass, or did not in time; None while that is open."""
        if self._until is None or self._until.is_so():
            return True
        return False if self._clock() >= self._deadline else None

    def go_on(self, came_to_pass: bool) -> None:
        """Let it go on with that outcome, up to its next wait.

        Raises: the scenario's errors.
        """
        try:
            self._until = next(self._steps) if self._until is None else self._steps.send(came_to_pass)
        except StopIteration:
            self.is_over = True
        else:
            self._deadline = self._clock() + self._until.timeout_s

    @property
    def seconds_left(self) -> float:
        """How long it goes on waiting at most."""
        return max(self._deadline - self._clock(), 0.0)

    def close(self) -> None:
        """End it early; its clean-up runs."""
        self._steps.close()
        self.is_over = True


def run_side_by_side(
    scenarios: Callable[[], Steps | None],
    changed: threading.Condition,
    *,
    at_once: int,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Run the scenarios that ``scenarios`` gives out one by one, ``at_once`` at a time, until it gives None.

    ``changed`` is notified when a condition may have come true. Raises a scenario's error, after the clean-up of
    all that still run.
    """
    running: list[Waiting] = []
    is_out = False
    try:
        while True:
            while not is_out and len(running) < at_once:
                found = scenarios()
                is_out = found is None
                if found is not None:
                    running.append(Waiting(found, clock))
            if not running:
                return
            for each, came_to_pass in _ready(running, changed):
                each.go_on(came_to_pass)
            running = [each for each in running if not each.is_over]
    finally:
        for each in running:
            each.close()


def _ready(running: list[Waiting], changed: threading.Condition) -> list[tuple[Waiting, bool]]:
    """The scenarios that can go on; where none can, an event or a deadline is waited for, and there may be none yet.

    They go on outside of the lock, because their steps may need a thread that waits for it.
    """
    with changed:
        found = [(each, outcome) for each in running if (outcome := each.outcome()) is not None]
        if not found:
            changed.wait(min([WAKE_UP_S, *(each.seconds_left for each in running)]))
        return found
