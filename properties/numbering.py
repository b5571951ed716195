"""The numbers of events: each source numbers its own from 0 without a gap, so that a hole in a history is noticed."""

from __future__ import annotations

from collections import deque
from typing import Final

from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberLeft

ENDED_SOURCES: Final = 256
"""So many processes are remembered after they ended; one that starts again later may go on with any number."""


class Numbering:
    """Which number each source is expected to give to its next event."""

    def __init__(self) -> None:
        self._next: dict[tuple[str, str], int] = {}
        self._ended: deque[tuple[tuple[str, str], int]] = deque()
        self._forgot_some = False

    def expected(self, event: Event) -> int:
        """Take note of the event, and give the number that it should have; a source may number none of its events."""
        key, number = (event.group, event.source), event.seq
        known = self._next.get(key)
        if number < 0:
            return known or number
        self._next[key] = number + 1
        if isinstance(event, (MemberLeft, MemberCrashed)) and event.source == event.member:  # the last of a process
            self._note_end(key, number + 1)
        if known is None:
            return number if self._forgot_some else 0
        return known

    def _note_end(self, key: tuple[str, str], number: int) -> None:
        self._ended.append((key, number))
        if len(self._ended) > ENDED_SOURCES:
            oldest, last = self._ended.popleft()
            if self._next.get(oldest) == last:
                del self._next[oldest]
                self._forgot_some = True
