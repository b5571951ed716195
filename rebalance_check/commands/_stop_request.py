"""A signal as a request: work that looks at it ends in good order, says what it did, and can go on later."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Whether a signal came; call it to ask."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        """True from the first signal on."""
        return self.signal is not None


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Inside, the first SIGINT, SIGTERM or SIGHUP is a request; a second one does what it did before.

    What is ignored stays so (``nohup``). Outside the main thread signals cannot be handled: there is never a request.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def restore() -> None:
        for number in heeded:
            signal.signal(number, before[number])

    def ask(number: int, _frame: FrameType | None) -> None:
        request.signal = number
        restore()

    for number in heeded:
        signal.signal(number, ask)
    try:
        yield request
    finally:
        restore()
