"""How the parts of a worker process let time pass: each thread is a chain of actions, one scheduled by the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Threads(Protocol):
    """The threads of one worker process; while the process is paused none of them goes on, and none after its end."""

    @property
    def now_ms(self) -> int:
        """The present time in ms."""
        ...

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Let ``action`` happen in ``delay_ms`` milliseconds, on a thread of its own."""
        ...

    def wake_herder(self) -> None:
        """Let the herder thread look again at its wait."""
        ...
