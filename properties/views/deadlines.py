"""What must happen before a deadline, in the history's own time.

A wait begins with an event and ends with another. How long it lasts is measured by one source at a time: from the first
event of that source after the wait began to its last one, for clocks of two sources are not comparable. Where the run
says that its time is virtual (`RunStarted.punctual`) there is one clock for all sources. All times are in ms.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from math import inf
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    EVENT_TYPES,
    Event,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RunStarted,
)
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.verdict import place_of
from rebalance_check.properties.views.recent import DEPARTED

SHARED: Final = ""
"""The source that stands for all where time is virtual."""

SHORTEN_AT: Final = 64
"""At how many first events a clock forgets those that no wait needs."""

Missed: TypeAlias = Callable[["Wait", Event], None]
"""Takes a wait whose deadline has passed, and the event that shows it."""


@dataclass(slots=True, eq=False)
class Wait:
    """Something that must happen.

    ``what`` says in words what is waited for, ``since`` is the event that began the wait, ``allowed`` gives the ms that
    it may last (0: unknown), ``missed`` is called once when they have passed. ``number`` counts the waits of a group.
    """

    key: tuple[str, Hashable]
    what: str
    since: Event
    allowed: Callable[[], int]
    missed: Missed
    number: int = 0


_PROCESSES: Final = frozenset({MemberStarted, MemberCrashed, MemberLeft})


@dataclass(slots=True)
class _Clock:
    """The clock of one source.

    ``seen`` is the number of the newest wait at its last event. ``firsts`` has, for each event before which waits had
    begun, the number of the newest of them and the time of the event; at the length ``limit`` it is shortened. ``due``
    is not later than the next deadline.
    """

    last: int = 0
    seen: int = 0
    firsts: list[tuple[int, int]] = field(default_factory=list)
    due: float = inf
    limit: int = SHORTEN_AT

    def first_after(self, wait: Wait) -> int | None:
        """The time of the first event since the wait began, None where there is none."""
        at = bisect_left(self.firsts, (wait.number, -1))
        return self.firsts[at][1] if at < len(self.firsts) else None

    def forget_before(self, number: int) -> None:
        """Waits that began before that one are over."""
        self.firsts = self.firsts[bisect_left(self.firsts, (number, -1)) :]
        self.limit = 2 * len(self.firsts) + SHORTEN_AT


class Deadlines(Memory):
    """The waits of a group, by key; a wait that begins again under its key replaces the former."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(EVENT_TYPES.values(), self.on_event))
        self.waits: dict[Hashable, Wait] = {}
        self.have_times = False
        self._clocks: dict[str, _Clock] = {}
        self._ended: dict[str, None] = {}
        self._count = 0
        self._least: float = inf
        self._is_shared = False

    def begin_wait(self, wait: Wait) -> None:
        """Begin a wait with the event at hand, which is ``wait.since``."""
        self._count += 1
        wait.number = self._count
        self.waits.pop(wait.key, None)
        self.waits[wait.key] = wait
        clock = self._clock_of(wait.since)
        self._note_first(clock, wait.since.time_ms)
        allowed_ms = wait.allowed()
        if allowed_ms:
            self._least = min(self._least, allowed_ms)
            clock.due = min(clock.due, wait.since.time_ms + allowed_ms)

    def end_wait(self, key: Hashable) -> None:
        """What was waited for happened, or it is not waited for any more."""
        self.waits.pop(key, None)

    def recompute(self) -> None:
        """The timeouts changed: look at all waits when a source speaks next."""
        for clock in self._clocks.values():
            clock.due = -inf
        self._least = min((ms for wait in self.waits.values() if (ms := wait.allowed())), default=inf)

    def doubt_about(self, wait: Wait) -> str:
        """Why it is open whether a wait met its deadline."""
        allowed_ms = wait.allowed()
        said = f"{wait.what} since {place_of(wait.since)}"
        if not self.have_times:
            return f"{said}, and the events carry no times: record time_ms"
        if not allowed_ms:
            return f"{said}, and no event says the timeouts of all members: record them (MemberStarted, RequestParked)"
        missing_ms = allowed_ms - self._elapsed(wait)
        return f"{said}, and the history ends {missing_ms} ms before the deadline: record for longer"

    def _elapsed(self, wait: Wait) -> int:
        firsts = [(clock.first_after(wait), clock.last) for clock in self._clocks.values()]
        return max((last - first for first, last in firsts if first is not None), default=0)

    def on_event(self, event: Event) -> None:
        """Time passes for one source."""
        if isinstance(event, RunStarted):
            self._is_shared = event.punctual
        time_ms = event.time_ms
        self.have_times = self.have_times or time_ms != 0
        clock = self._clock_of(event)
        clock.last = max(clock.last, time_ms)
        if clock.seen != self._count:
            self._note_first(clock, time_ms)
            clock.due = min(clock.due, time_ms + self._least)
        if time_ms > clock.due:
            self._look(clock, event)
        if type(event) in _PROCESSES:
            self._note_process(event)

    def _note_process(self, event: Event) -> None:
        """The clock of a process that ended long ago, and did not start again, shows nothing any more."""
        self._ended.pop(event.source, None)
        if not isinstance(event, MemberStarted) and event.source == getattr(event, "member", None):
            self._ended[event.source] = None
        if len(self._ended) > DEPARTED:
            oldest = next(iter(self._ended))
            del self._ended[oldest]
            self._clocks.pop(oldest, None)

    def _clock_of(self, event: Event) -> _Clock:
        source = SHARED if self._is_shared else event.source
        clock = self._clocks.get(source)
        if clock is None:
            clock = self._clocks[source] = _Clock()
        return clock

    def _note_first(self, clock: _Clock, time_ms: int) -> None:
        if len(clock.firsts) >= clock.limit:
            clock.forget_before(self._oldest())
        clock.firsts.append((self._count, time_ms))
        clock.seen = self._count

    def _oldest(self) -> int:
        """The number of the oldest wait that is open, that of the newest of all where none is."""
        return next((wait.number for wait in self.waits.values()), self._count)

    def _look(self, clock: _Clock, event: Event) -> None:
        """Report each wait whose deadline has passed; forget the first events that no wait needs any more."""
        due, late = inf, []
        for wait in self.waits.values():
            first, allowed_ms = clock.first_after(wait), wait.allowed()
            if first is None or not allowed_ms:
                continue
            if event.time_ms - first > allowed_ms:
                late.append(wait)
            else:
                due = min(due, first + allowed_ms)
        clock.due = due
        clock.forget_before(self._oldest())
        for wait in late:
            if self.waits.get(wait.key) is wait:
                del self.waits[wait.key]
                wait.missed(wait, event)
