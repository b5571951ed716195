"""The history of one scenario as it grows: an event from any thread is written first, and then seen."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rebalance_check.impl.runtime.recorder import LastNumbers, SharedRecorder
from rebalance_check.integration.kits.client.view import GroupView
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import HistoryWriter


class Recording:
    """Takes events from any thread, writes them to ``path``, lets ``view`` see them, and notifies ``changed``.

    All that passes the fronts of a scenario concerns its one group, also requests before the group is named:
    events get that ``group``, and are numbered anew by source.
    """

    def __init__(self, path: Path, group: str, view: GroupView, changed: threading.Condition) -> None:
        self.group = group
        self._writer = HistoryWriter(path)
        self._write = LastNumbers(self._writer)
        self.view = view
        self._changed = changed
        self._numbers: Counter[str] = Counter()
        self._is_closed = False

    def __call__(self, event: Event) -> None:
        """Take an event; any after the end of the recording is left out."""
        with self._changed:
            if self._is_closed:
                return
            event = replace(event, group=self.group, seq=self._numbers[event.source])
            self._numbers[event.source] += 1
            self._write(event)
            self.view.observe(event)
            self._changed.notify_all()

    @property
    def attested(self) -> tuple[tuple[str, str, int], ...]:
        """Group, source and last number of each source so far."""
        with self._changed:
            return self._write.attested

    def recorder(self, source: str) -> SharedRecorder:
        """A recorder of another observer, which threads may share."""
        return SharedRecorder(self.group, source, now_ms, self)

    def close(self) -> None:
        """Close the file."""
        with self._changed:
            self._is_closed = True
            self._writer.close()
