"""One test's record: the events of all its observers as one history, in memory and in a file at once."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Final

from rebalance_check.impl.runtime.recorder import Recorder, SharedRecorder
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.history import HistoryWriter

HARNESS: Final = "harness"
"""The observer that says that a history is complete."""


class Recording:
    """The history of a test, in the order of observation; any thread may add to it.

    ``recorder("m0")`` is the recorder of one observer, always the same for the same name and group. Each event is
    in the file ``path`` when `add` returns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._events: list[Event] = []
        self._recorders: dict[tuple[str, str], Recorder] = {}
        self._lock = Lock()
        self._write = HistoryWriter(path)

    def __call__(self, source: str, *, group: str = "test") -> Recorder:
        """The recorder of the observer ``source`` of ``group``: it numbers and stamps the events that it emits."""
        with self._lock:
            if (group, source) not in self._recorders:
                self._recorders[group, source] = SharedRecorder(group, source, now_ms, self.add)
            return self._recorders[group, source]

    def add(self, event: Event) -> None:
        """Take an event that is stamped already, such as those of a broker; the listener of a recorder."""
        with self._lock:
            self._events.append(event)
            self._write(event)

    def end(self, *pending: str) -> None:
        """Say that the history is complete, and the parts that had not come to rest (none: all had)."""
        with self._lock:
            last = {(event.group, event.source): event.seq for event in self._events}
        attested = tuple(sorted((group, source, number) for (group, source), number in last.items()))
        self(HARNESS, group="").emit(RunEnded(pending=pending, last=attested))

    @property
    def events(self) -> list[Event]:
        """The events so far."""
        with self._lock:
            return list(self._events)

    def close(self) -> None:
        """Close the file; the record stays."""
        self._write.close()
