"""The numbers of events: each source numbers its own from 0 without a gap, so that a hole in a history is noticed."""

from __future__ import annotations

from collections import deque
from typing import Final

from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberLeft

ENDED_SOURCES: Final = 256
"""So many processes are remembered after they ended; one that starts again later may go on with any number."""


class _Source:
    """Who numbers events of one group; ``next`` is the number of the next one."""

    __slots__ = ("group", "name", "next")

    def __init__(self, group: str, name: str, following: int) -> None:
        self.group = group
        self.name = name
        self.next = following


class Numbering:
    """Which number each source is expected to give to its next event."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, _Source]] = {}
        self._ended: deque[tuple[_Source, int]] = deque()
        self._forgot_some = False

    def expected(self, event: Event) -> int:
        """Take note of the event, and give the number that it should have; a source may number none of its events."""
        number, of_group = event.seq, self._groups.get(event.group)
        known = None if of_group is None else of_group.get(event.source)
        if number < 0:
            return number if known is None else known.next or number
        if known is None:
            known = self._begin(event)
            expected = number if self._forgot_some else 0
        else:
            expected, known.next = known.next, number + 1
        if isinstance(event, (MemberLeft, MemberCrashed)) and event.source == event.member:  # the last of a process
            self._note_end(known)
        return expected

    def _begin(self, event: Event) -> _Source:
        known = _Source(event.group, event.source, event.seq + 1)
        self._groups.setdefault(event.group, {})[event.source] = known
        return known

    def _note_end(self, source: _Source) -> None:
        self._ended.append((source, source.next))
        if len(self._ended) > ENDED_SOURCES:
            oldest, last = self._ended.popleft()
            of_group = self._groups[oldest.group]
            if oldest.next == last and of_group.get(oldest.name) is oldest:
                del of_group[oldest.name]
                self._forgot_some = True
