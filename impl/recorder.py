"""Where the implementation tells what it does: one recorder per observer, silent when nobody listens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from rebalance_check.model.events import Event

E = TypeVar("E", bound=Event)


class Recorder:
    """Stamps the events of one observer and hands them on.

    ``clock`` gives milliseconds on the observer's clock, ``listener`` receives each stamped event at once, in order;
    None listens to nothing and costs nothing.
    """

    __slots__ = ("_clock", "_listener", "_seq", "group", "source")

    def __init__(
        self, group: str, source: str, clock: Callable[[], int], listener: Callable[[Event], None] | None
    ) -> None:
        self.group = group
        self.source = source
        self._clock = clock
        self._listener = listener
        self._seq = 0

    def emit(self, event: E) -> None:
        """Stamp ``event`` with group, source, sequence number and time, and pass it to the listener."""
        if self._listener is None:
            return
        stamped = replace(event, group=self.group, source=self.source, seq=self._seq, time_ms=self._clock())
        self._seq += 1
        self._listener(stamped)
