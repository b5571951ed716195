"""A call in a thread of its own, so that a signal reaches the thread that waits for it and not the call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

WAKE_EVERY_S: Final = 0.1
"""How often a thread that waits looks up, and the longest time until it sees an interrupt."""


class InThread:
    """A call that has begun in a daemon thread called ``name``, with ``stack_bytes`` of stack (0: the usual size).

    Such a call cannot be stopped: a caller that is interrupted while waiting leaves it running.

    Raises: MemoryError where the system has no thread for it.
    """

    def __init__(self, call: Callable[[], object], name: str, stack_bytes: int = 0) -> None:
        self._call = call
        self._failure: BaseException | None = None
        self._ended = threading.Event()  # in Python 3.11 an interrupted `Thread.join` takes the thread for ended
        before = threading.stack_size(stack_bytes)
        try:
            threading.Thread(target=self._run, daemon=True, name=name).start()
        except RuntimeError as error:  # how Python says that the system has no more threads
            raise MemoryError(str(error)) from error
        finally:
            threading.stack_size(before)

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as failure:  # it is raised again, in the thread that waits
            self._failure = failure
        finally:
            self._ended.set()

    def ends_within(self, seconds: float) -> bool:
        """Wait for at most so long; whether the call has ended, well or not."""
        return self._ended.wait(seconds)

    def ends_well_within(self, seconds: float) -> bool:
        """The same, and it raised nothing."""
        return self._ended.wait(seconds) and self._failure is None

    def wait(self) -> None:
        """Return when the call has ended, and raise its exception."""
        while not self.ends_within(WAKE_EVERY_S):
            pass
        if self._failure is not None:
            raise self._failure
