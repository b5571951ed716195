"""How a long operation says how far it is: one type of listener for searches, campaigns, replays and comparisons."""

from __future__ import annotations

from typing import Protocol


class ProgressListener(Protocol):
    """Receives the phase of the work (``simulate``, ``depth 12``), how much of it is done, and how much there is to do.

    A total of 0 means that it is not known. Called from the thread that works, often: it must be quick.
    """

    def __call__(self, phase: str, done: int, total: int, /) -> None:
        """Take note."""
        ...


def ignore_progress(_phase: str, _done: int, _total: int) -> None:
    """The `ProgressListener` of a caller that does not want to know."""
