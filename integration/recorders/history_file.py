"""The history of one process on disk: each event is in the system's hands before the next; a restart goes on with it.

A process that is killed loses nothing that it had recorded. The line of that instant may be cut off; the
next process under that name takes the rest of that line away, since it was never recorded in full.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rebalance_check.impl.runtime.recorder import Recorder, SharedRecorder
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import decode, encode, read_history
from rebalance_check.properties.malformed import MalformedHistory

_BLOCK: Final = 64 * 1024
log = logging.getLogger(__name__)


class HistoryFile:
    """A file of JSON lines that one process writes. A context manager, and callable with an event.

    The folder is made if it is not there. A file that is there is gone on with: the numbers of each source follow those
    in it. A disk that refuses an event does not stop the application: the event is missing, which the judge notices by
    its number, and the log of this module says so.

    Raises: RebalanceCheckError when another process or recorder writes the file, or it holds something else than
    events; OSError when it cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._is_cut = False
        try:
            self._lock()
            self._drop_the_cut_line()
            self._next = self._numbers()
        except BaseException:
            os.close(self._file)
            raise

    def recorder(self, group: str, source: str, clock: Callable[[], int] = now_ms) -> Recorder:
        """A recorder of the observer ``source`` that writes here; several threads may use it."""
        return SharedRecorder(group, source, clock, self, self.next_number(group, source))

    def next_number(self, group: str, source: str) -> int:
        """The number of the next event of a source."""
        return self._next.get((group, source), 0)

    def __call__(self, event: Event) -> None:
        """Append one event, in one write."""
        line = b"%b%b\n" % (b"\n" if self._is_cut else b"", encode(event))
        self._next[event.group, event.source] = event.seq + 1
        try:
            self._is_cut = os.write(self._file, line) < len(line)
        except OSError as fault:
            log.warning("event %d of %s is not recorded in %s: %s", event.seq, event.source, self.path, fault)

    def close(self) -> None:
        """Close the file; its lines stay."""
        with suppress(OSError):
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RebalanceCheckError(
                f"{str(self.path)!r} is being written by another recorder: give each consumer a file of its own"
            ) from None

    def _drop_the_cut_line(self) -> None:
        """Bytes behind the last line end go, unless they are an event but for that."""
        size, end = os.fstat(self._file).st_size, self._end_of_lines()
        if end == size:
            return
        try:
            decode(os.pread(self._file, size - end, end))
            self._is_cut = True
        except MalformedHistory:
            os.ftruncate(self._file, end)

    def _end_of_lines(self) -> int:
        end = os.fstat(self._file).st_size
        while end > 0:
            begin = max(0, end - _BLOCK)
            found = os.pread(self._file, end - begin, begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
        return 0

    def _numbers(self) -> dict[tuple[str, str], int]:
        return {(event.group, event.source): event.seq + 1 for event in read_history(self.path)}
