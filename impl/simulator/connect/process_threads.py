"""The threads of one worker process: they stand still while the process is paused, and end with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rebalance_check.impl.runtime.clock import VirtualClock


class ProcessThreads:
    """All but the herder's thread and the heartbeat thread of one process; ``wake`` lets the herder's go on."""

    def __init__(self, clock: VirtualClock, wake: Callable[[], None]) -> None:
        self._clock = clock
        self._wake = wake
        self._alive = True
        self._paused = False
        self._waking = False
        self._later: list[Callable[[], None]] = []

    @property
    def now_ms(self) -> int:
        """The present time in ms."""
        return self._clock.now_ms

    @property
    def alive(self) -> bool:
        """Whether the process neither ended nor crashed."""
        return self._alive

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Let something happen in the process, later if it is paused then, never if it is gone."""
        self._clock.after(delay_ms, partial(self._run, action))

    def wake_herder(self) -> None:
        """Let the herder's thread go on as soon as the thread that calls has done its step."""
        if not self._waking:
            self._waking = True
            self.after(0, self._wake_now)

    def _wake_now(self) -> None:
        self._waking = False
        self._wake()

    def _run(self, action: Callable[[], None]) -> None:
        if self._paused:
            self._later.append(action)
        elif self._alive:
            action()

    def pause(self) -> None:
        """Stand still."""
        self._paused = True

    def resume(self) -> None:
        """Go on: actions that came due meanwhile happen now, in their order."""
        self._paused = False
        later, self._later = self._later, []
        for action in later:
            self._run(action)

    def end(self) -> None:
        """The process is gone."""
        self._alive = False
        self._later.clear()
