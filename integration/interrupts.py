"""Signals that ask a command to end: as an exception (`orderly_end`), or as a request (`stop_requests`)."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Final

from rebalance_check.model.vocabulary.errors import INTERRUPTIONS

_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def orderly_end() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise SystemExit (128 + signal), so that context managers give back their resources.

    SIGINT does so by itself (KeyboardInterrupt). Ignored ones stay ignored (``nohup``). Outside the main thread signals
    cannot be handled: nothing changes.
    """
    with _handled(_ENDINGS, _exit):
        yield


class StopRequest:
    """Whether a signal came; call it to ask."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._wake: SimpleQueue[None] = SimpleQueue()

    def wake(self) -> None:
        """Let `wait` return; any thread may call it, and the handler of a signal."""
        self._wake.put(None)

    def wait(self, timeout_s: float | None = None) -> None:
        """Return when a signal comes, or `wake` is called, or the time is over (None: never)."""
        with suppress(Empty):
            self._wake.get(timeout=timeout_s)

    def __call__(self) -> bool:
        """True from the first signal on."""
        return self.signal is not None


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Inside, the first SIGINT, SIGTERM or SIGHUP is a request; a second one acts as before.

    Work that looks at the request ends in good order, reports, and can go on later. Ignored signals stay ignored.
    Outside the main thread signals cannot be handled: there is never a request.
    """
    request = StopRequest()

    def ask(number: int, _frame: FrameType | None) -> None:
        request.signal = number
        request.wake()
        restore()

    with _handled((signal.SIGINT, *_ENDINGS), ask) as restore:
        yield request


def is_interrupted() -> bool:
    """Whether this is clean-up after an interruption: nothing is waited for then."""
    return isinstance(sys.exception(), INTERRUPTIONS)


@contextmanager
def _handled(
    numbers: Iterable[signal.Signals], handler: Callable[[int, FrameType | None], None]
) -> Iterator[Callable[[], None]]:
    """Inside, ``handler`` takes those of the signals that are not ignored; yields a function that undoes it early."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    heeded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heeded}

    def restore() -> None:
        for number, earlier in before.items():
            signal.signal(number, earlier)

    try:
        yield restore
    finally:
        restore()


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
