"""The lock of a member (the monitor of ``AbstractCoordinator``), where two threads drive one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock


class Monitor:
    """A re-entrant lock that callbacks run without: they may be slow, and heartbeats go on meanwhile.

    The thread that polls holds it once, and nothing else of the member's is held while it does.
    """

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let the other thread in for as long as a callback takes."""
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()


class NoMonitor(Monitor):
    """For a member that one thread drives: there is nothing to lock."""

    def __init__(self) -> None:
        """Nothing to set up."""

    def __enter__(self) -> None:
        """Nothing to acquire."""

    def __exit__(self, *_: object) -> None:
        """Nothing to release."""

    @contextmanager
    def released(self) -> Iterator[None]:
        """Nothing to release."""
        yield
