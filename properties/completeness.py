"""The part of a history that is known to be complete: an accusation never rests on a line that was merely lost.

An accusation *by presence* says that two observed events contradict each other: a lost line cannot excuse it. One *by
absence* says that something did not happen, and stands only where the records of all sources that could have seen it
are complete up to the event at which the invariant broke. A record is complete there in one of three ways:

- by *numbers*: each source numbers its events from 0, and a later event of it follows without a gap;
- by an *attested end*: `RunEnded.last` names the last number of each source, or the process ended with its own
  `MemberLeft` or `MemberCrashed`;
- by *declaration*: nothing attests an end, and one recorder wrote one log in one order. Files that were merged have no
  such default.

Two neighbouring lines of one source that were swapped are put back into order; a line that stands twice counts once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberLeft, RunEnded
from rebalance_check.properties.kinds import NOT_FOUND, Place

ENDED_SOURCES: Final = 256
"""So many processes are remembered after they ended; one that starts again later may go on with any number."""

_ENDS: Final = frozenset({MemberLeft, MemberCrashed})

UNTIMED: Final = 0
"""The time of an event that was recorded without one."""

NOWHERE: Final = NOT_FOUND
"""The place before the first line of a history."""


class Hole(NamedTuple):
    """Where something may be missing, or in another order than it happened.

    ``group`` and ``source`` say whose event it is (None: anyone's), ``since`` is the place of the last line known to
    come before it, ``is_disorder`` says that events were observed, but their order is in doubt.
    """

    group: str | None
    source: str | None
    since: int
    reason: str
    is_disorder: bool = False


class Source:
    """An observer that numbers its events of one group.

    ``next`` is the number of its next event, ``last`` the place of its last line. ``is_ended`` says that no event of it
    follows, ``is_member`` that it is a member, or worker, which records its own events alone.
    """

    __slots__ = ("group", "is_ended", "is_member", "last", "name", "next")

    def __init__(self, group: str, name: str) -> None:
        self.group = group
        self.name = name
        self.next = 0
        self.last = NOWHERE
        self.is_ended = False
        self.is_member = True


class Completeness:
    """Takes note of the number of each event; ``place`` is where the judge is, ``is_merged`` says that the events come
    from several files."""

    def __init__(self, place: Place, *, is_merged: bool = False) -> None:
        self.place = place
        self.holes: list[Hole] = []
        self._is_declared = not is_merged
        self._is_attested = False
        self._sources: dict[str, dict[str, Source]] = {}
        self._ended: deque[Source] = deque()
        self._forgot_some = False
        self._latest: Event | None = None
        self._time = 0

    # ------------------------------------------------------------------------------------------------ observation

    def admit(self, event: Event, *, may_wait: bool = False) -> bool | None:
        """Take the next line; False where it stands twice, or comes too late to be put into order.

        None where it ``may_wait`` for the next line: exactly the event before it of its source is missing.
        """
        number, known = event.seq, self._known(event)
        if may_wait and number == (1 if known is None else known.next + 1) and number > 0 and not self._forgot_some:
            return None
        if known is None:
            known = self._begin(event)
        if number != known.next:
            if number < known.next and (number >= 0 or known.next):
                return self._out_of_order(event, known)
            if number > known.next:
                self._note_gap(event, known)
        known.next, known.last = number + 1, self.place.index
        if type(event) in _ENDS:
            self._note_end(event, known)
        elif known.is_ended:
            known.is_ended = False
        self._latest = event
        return True

    def note_time(self, event: Event) -> None:
        """Take note of a time that all sources share: it does not run back."""
        if event.time_ms == UNTIMED:
            return
        if event.time_ms < self._time:
            reason = (
                f"event {event.seq} of {event.source} has an earlier time ({event.time_ms} ms) than the line before it "
                f"({self._time} ms): lines were swapped; record again, or judge the part before it"
            )
            self.holes.append(Hole(event.group, None, self.place.index - 2, reason, is_disorder=True))
        self._time = event.time_ms

    def note_unread(self, group: str | None, reason: str) -> None:
        """Take note of a line that cannot be read, where an event of ``group`` (None: of any) may have stood."""
        self.holes.append(Hole(group, None, self.place.index - 1, reason))

    def note_run_end(self, event: RunEnded) -> None:
        """Take note of the last number of each source, where the run says it."""
        own = self._known(event)
        if own is not None:
            own.is_ended = True
        for group, name, last in event.last:
            self._is_attested = True
            known = self._sources.get(group, {}).get(name)
            seen = NOWHERE if known is None else known.next - 1
            if known is not None and last <= seen:
                known.is_ended = True
            elif not self._forgot_some:
                since = NOWHERE if known is None else known.last
                self.holes.append(Hole(group, name, since, _missing(name, seen + 1, f"up to {last}")))

    def _known(self, event: Event) -> Source | None:
        of_group = self._sources.get(event.group)
        return None if of_group is None else of_group.get(event.source)

    def _begin(self, event: Event) -> Source:
        known = Source(event.group, event.source)
        known.is_member = event.source == getattr(event, "member", getattr(event, "worker", None))
        if self._forgot_some:
            known.next = max(event.seq, 0)
        self._sources.setdefault(event.group, {})[event.source] = known
        return known

    def _note_gap(self, event: Event, known: Source) -> None:
        reason = _missing(event.source, known.next, f"got {event.seq}")
        self.holes.append(Hole(event.group, event.source, known.last, reason))

    def _out_of_order(self, event: Event, known: Source) -> bool:
        """An event whose number was passed already: the same line once more, or one that comes late."""
        if event == self._latest:
            return False
        reason = _missing(event.source, known.next, f"got {event.seq}")
        since = min((h.since for h in self.holes if h.source == event.source), default=self.place.index - 1)
        self.holes.append(Hole(event.group, event.source, since, reason, is_disorder=True))
        return False

    def _note_end(self, event: Event, source: Source) -> None:
        source.is_ended = event.source == getattr(event, "member", "")
        if not source.is_ended:
            return
        self._ended.append(source)
        if len(self._ended) > ENDED_SOURCES:
            oldest = self._ended.popleft()
            of_group = self._sources.get(oldest.group, {})
            if oldest.is_ended and of_group.get(oldest.name) is oldest:
                del of_group[oldest.name]
                self._forgot_some = True

    # ------------------------------------------------------------------------------------------------ conclusions

    @property
    def has_one_log(self) -> bool:
        """Whether one recorder wrote one log, so that an event that it does not hold did not happen before its last
        line."""
        return self._is_declared

    def doubt_about(self, group: str) -> str:
        """Why the history of a group is incomplete somewhere; empty where nothing is known to be missing."""
        return next((hole.reason for hole in self.holes if _concerns(hole, group)), "")

    def disorder(self, group: str, place: int, concerned: frozenset[str]) -> str:
        """Why events of these sources, up to a place, may have happened in another order; empty where they did not."""
        return next(self._doubts(group, place, concerned, lacks_observer=False, only_disorder=True), "")

    def gap(self, group: str, place: int, concerned: frozenset[str] | None, *, lacks_observer: bool = False) -> str:
        """Why an event may be missing that could excuse an accusation at ``place``; empty where none is missing.

        ``concerned`` are the members whose records could hold it, besides those of all that is no member (None: any).
        ``lacks_observer``: a source of which no event was seen may be no member.
        """
        found = next(self._doubts(group, place, concerned, lacks_observer=lacks_observer, only_disorder=False), "")
        return found or next(self._ends_in_doubt(group, place, concerned), "")

    def _doubts(
        self, group: str, place: int, concerned: frozenset[str] | None, *, lacks_observer: bool, only_disorder: bool
    ) -> Iterator[str]:
        for hole in self.holes:
            if hole.since < place and _concerns(hole, group) and (hole.is_disorder or not only_disorder):
                if hole.source is None:
                    if hole.is_disorder or not self._is_continued(group, hole.since, concerned):
                        yield hole.reason
                elif self._may_excuse(hole.group or "", hole.source, concerned, lacks_observer=lacks_observer):
                    yield hole.reason

    def _is_continued(self, group: str, place: int, concerned: frozenset[str] | None) -> bool:
        """Whether a line that cannot be read holds no event of any source that could excuse: all are complete there."""
        if not self._is_attested:  # a source that was not seen yet may have written the line
            return False
        return not any(source.last <= place and not source.is_ended for source in self._excusing(group, concerned))

    def _may_excuse(self, group: str, name: str, concerned: frozenset[str] | None, *, lacks_observer: bool) -> bool:
        if concerned is None or name in concerned:
            return True
        known = self._sources.get(group, {}).get(name)
        return lacks_observer if known is None else not known.is_member

    def _excusing(self, group: str, concerned: frozenset[str] | None) -> Iterator[Source]:
        for of_group in {group, ""}:
            for source in self._sources.get(of_group, {}).values():
                if concerned is None or source.name in concerned or not source.is_member:
                    yield source

    def _ends_in_doubt(self, group: str, place: int, concerned: frozenset[str] | None) -> Iterator[str]:
        if self._is_declared:
            return
        for source in self._excusing(group, concerned):
            if source.last < place and not source.is_ended and source.next:
                yield (
                    f"nothing says that the record of {source.name or 'an unnamed source'} is complete behind its "
                    f"event {source.next - 1}: close its recorder, so that RunEnded has its last number"
                )


def _concerns(hole: Hole, group: str) -> bool:
    return hole.group in {None, "", group} or group == ""


def _missing(source: str, expected: int, seen: str) -> str:
    return (
        f"events of {source or 'an unnamed source'} are missing or out of order: expected number {expected}, {seen}; "
        "record again, or judge the part before it"
    )


def concerned_by(events: Iterable[Event]) -> frozenset[str]:
    """The sources of these events, and the members or workers that they are about.

    A worker's status store is named after the worker and the number of its start (``w0/2``).
    """
    names: set[str] = set()
    for event in events:
        worker = getattr(event, "worker", "")
        names.update((event.source, getattr(event, "member", ""), worker, worker.partition("/")[0]))
    return frozenset(names)
