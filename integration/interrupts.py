"""Ends asked for from outside run the same clean-up as any other end."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

INTERRUPTIONS: Final = (KeyboardInterrupt, SystemExit)
"""What SIGINT raises, and inside `orderly_end` SIGTERM and SIGHUP."""

_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def orderly_end() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise SystemExit (128 + signal), so that context managers give back what they hold.

    SIGINT does so by itself (KeyboardInterrupt). What is ignored stays so (``nohup``). Outside the main thread signals
    cannot be handled: nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [number for number in _ENDINGS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _exit) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_interrupted() -> bool:
    """Whether this is clean-up after an interruption: nothing is waited for then."""
    return isinstance(sys.exception(), INTERRUPTIONS)


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
