"""Where the herder thread waits: for which event, until when, and whether its member is polled meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where Java's thread blocks.

    ``over`` is asked again whenever the process does something; ``deadline_ms`` ends the wait in any case. While
    ``polls`` is False the member is not polled: heartbeats go on, and the poll time-out runs.
    """

    over: Callable[[], bool]
    deadline_ms: int | None = None
    polls: bool = False

    def is_over(self, now_ms: int) -> bool:
        """Whether the thread goes on now."""
        return self.over() or (self.deadline_ms is not None and now_ms >= self.deadline_ms)


def never() -> bool:
    """The event that ends a sleep."""
    return False


R = TypeVar("R")

Steps: TypeAlias = Generator[Wait, None, R]
"""The steps of the herder thread, with a `Wait` wherever it blocks, and its result."""
