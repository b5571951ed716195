"""Virtual time: a clock that jumps to the next thing to do, and does it.

Nothing in the implementation reads a real clock; every later action is scheduled here. Things due at the same
millisecond happen in the order in which they were scheduled, so a run depends on nothing but its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MAX_ACTIONS: Final = 100_000
"""How much may happen at one millisecond: more means that something schedules itself again without delay."""


class EndlessError(RebalanceCheckError):
    """Something is due again whenever it happens, so that time stands still."""


class Timer:
    """Something that will happen at ``deadline_ms``, unless `cancel` comes first."""

    __slots__ = ("action", "deadline_ms")

    def __init__(self, deadline_ms: int, action: Callable[[], None]) -> None:
        self.deadline_ms = deadline_ms
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        """Make sure that it does not happen; harmless when it already did."""
        self.action = None


class VirtualClock:
    """Milliseconds from 0 and the queue of actions to come, ordered by deadline, then by the order of asking."""

    __slots__ = ("_queue", "_sequence", "now_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self._queue: list[tuple[int, int, Timer]] = []
        self._sequence = 0

    def now(self) -> int:
        """The present millisecond, as a function that others can be handed."""
        return self.now_ms

    def at(self, deadline_ms: int, action: Callable[[], None]) -> Timer:
        """Do ``action`` at ``deadline_ms``, or at once (after all that is due before) when that has passed."""
        timer = Timer(max(deadline_ms, self.now_ms), action)
        heappush(self._queue, (timer.deadline_ms, self._sequence, timer))
        self._sequence += 1
        return timer

    def after(self, delay_ms: int, action: Callable[[], None]) -> Timer:
        """Do ``action`` in ``delay_ms`` milliseconds."""
        return self.at(self.now_ms + delay_ms, action)

    def next_deadline(self) -> int | None:
        """When the next timer that was not cancelled is due; None when nothing is left to happen."""
        queue = self._queue
        while queue and queue[0][2].action is None:
            heappop(queue)
        return queue[0][0] if queue else None

    def run_until(self, end_ms: int) -> None:
        """Let everything due up to and including ``end_ms`` happen, then stand at ``end_ms``.

        Raises `RebalanceCheckError` when ``end_ms`` lies in the past: this clock does not run backwards; and
        `EndlessError` when more than `MAX_ACTIONS` things happen at one millisecond.
        """
        if end_ms < self.now_ms:
            raise RebalanceCheckError(
                f"cannot run until {end_ms} ms: it is already {self.now_ms} ms; choose a later time"
            )
        queue, done = self._queue, 0
        while queue and queue[0][0] <= end_ms:
            deadline_ms, _, timer = heappop(queue)
            action, timer.action = timer.action, None
            if action is not None:
                done = done + 1 if deadline_ms == self.now_ms else 0
                self.now_ms = deadline_ms
                if done > MAX_ACTIONS:
                    raise EndlessError(endless(action, deadline_ms))
                action()
        self.now_ms = end_ms


def endless(action: Callable[[], None], now_ms: int) -> str:
    """The error for an ``action`` that is always due: it, or its effect, schedules it again for the same time."""
    name = getattr(action, "__qualname__", repr(action))
    return (
        f"more than {MAX_ACTIONS:,} things happened at {now_ms} ms, the last of them {name}: it is scheduled again "
        "whenever it is due; find out what does that without delay"
    )
