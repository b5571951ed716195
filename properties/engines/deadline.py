"""Deadline: an obligation ends in time: within that of its declaration (`deadline`), or of the group (`eventually`).

Time is that of the events. A deadline is judged by absence: an event later than the time allowed, of the same clock,
shows that the obligation is still open, and the record of those that could have met it must be complete up to there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event
from rebalance_check.properties.engines.order import ALL
from rebalance_check.properties.engines.rules import (
    CHECKED,
    Broken,
    Excused,
    Findings,
    Needs,
    RuleFold,
    Views,
    broken,
    listed,
)
from rebalance_check.properties.kinds import Counts, Fold, Invariant, Memories, Waiting
from rebalance_check.properties.verdict import Undecided, Verdict, Violated, place_of
from rebalance_check.properties.views.recent import WAITING, Recent


@dataclass(slots=True)
class Due:
    """An obligation of ``key``: what must, or must not, happen ``within_ms`` of ``since``.

    ``says`` tells how it began (``m0 was answered REBALANCE_IN_PROGRESS at {step}``), ``must`` what is due (``m0 does
    not send JoinGroup``), as a sentence that is true where it is not done.
    """

    key: Hashable
    since: Event
    within_ms: int
    says: str
    must: str


Begins: TypeAlias = Callable[..., Due | list[Due] | None]
Ends: TypeAlias = Callable[..., Any]
"""Takes an event and the views: the keys whose obligation ends with it, and findings about how; None for none."""
CountsFrom: TypeAlias = Callable[..., int | None]
"""Takes an obligation, an event and the views: since when, in ms, its time counts there; None while none does."""


_ALL_EVENTS: Final = frozenset(EVENT_TYPES.values())


def _from_its_begin(due: Due, _event: Event, *_views: Any) -> int | None:
    return due.since.time_ms


class DeadlineFold(RuleFold):
    """Per key: the obligation that is open. Where one is open, every event that it listens to shows the time."""

    def __init__(  # noqa: PLR0917 - as the function below passes them
        self,
        invariant: Invariant,
        begins: Mapping[type[Event], Begins],
        ends: Mapping[type[Event], Ends],
        cancels: Mapping[type[Event], Ends],
        shown: frozenset[type[Event]],
        counts_from: CountsFrom,
        views: Views,
        needs: Needs,
    ) -> None:
        super().__init__(invariant, ((ends, self._end), (begins, self._begin)), views, needs)
        self._shown, self._cancels = shown, cancels
        self._counts_from = counts_from
        self._open: Recent[Hashable, Due] = Recent(WAITING)
        self._waiting: dict[Fold, frozenset[type[Event]]] = {}

    @property
    def kinds(self) -> Collection[type[Event]]:
        """Those that show the time, too."""
        return self._shown

    def share(self, memories: Memories) -> None:
        """The time is shown to it while something is open."""
        super().share(memories)
        self._waiting = Waiting.among(memories).folds

    def show(self, event: Event) -> None:
        """It looks at the time, and asks what the event cancels."""
        self._look(event)
        cancels = self._cancels.get(type(event))
        if cancels is not None and (keys := cancels(event, *self.views)) is not None:
            for key in listed(keys):
                for each in list(self._open) if key is ALL else [key]:
                    self._close(each)

    def _look(self, event: Event) -> None:
        """Some obligations may be late."""
        time_ms = event.time_ms
        late = [due for due in self._open.values() if time_ms - due.since.time_ms > due.within_ms] if time_ms else ()
        for due in late:
            since_ms = self._counts_from(due, event, *self.views)
            if since_ms is not None and event.time_ms - since_ms > due.within_ms:
                self._close(due.key)
                self.conclude(_missed(due, event))

    def _close(self, key: Hashable) -> bool:
        """Whether that was open."""
        was_open = self._open.pop(key, None) is not None
        if was_open and not self._open:
            del self._waiting[self]
        return was_open

    def _end(self, keys: Any, _event: Event) -> None:
        for key in listed(keys):
            if isinstance(key, (Broken, Excused)):
                self.conclude(key)
            elif self._open and self._close(key):
                self._met()

    def _met(self) -> None:
        self.conclude(CHECKED)

    def _begin(self, dues: Due | list[Due], _event: Event) -> None:
        for due in listed(dues):
            self._open.setdefault(due.key, due)
        if self._open:
            self._waiting[self] = self._shown


def _missed(due: Due, event: Event) -> Findings:
    took = event.time_ms - due.since.time_ms
    return broken(
        f"{due.must} within {due.within_ms} ms",
        (f"{due.says};", due.since),
        (f"{due.must} by {{step}}, {took} ms later, where {due.within_ms} ms are allowed: contradiction.", event),
    )


def deadline(
    begins: Mapping[type[Event], Begins],
    ends: Mapping[type[Event], Ends],
    *,
    cancels: Mapping[type[Event], Ends] | None = None,
    looks: Sequence[type[Event]] = (),
    counts_from: CountsFrom = _from_its_begin,
    views: Views = (),
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that every obligation is met in time.

    ``begins`` extracts obligations, ``ends`` the keys of those that an event meets, ``cancels`` of those that it makes
    void (`ALL`: each). Each of these events shows the time, and so do those of the types ``looks``. An obligation that
    is open already does not begin anew. ``counts_from`` says since when its time counts, where disturbances do not.
    """

    voids = cancels or {}
    shown = frozenset([*looks, *voids, *ends, *begins])

    return lambda invariant: DeadlineFold(invariant, begins, ends, voids, shown, counts_from, views, needs)


SHORTEN_AT: Final = 64
"""With so many times on top of twice those that waits needed last, a clock forgets those that none needs."""


@dataclass(slots=True)
class _Clock:
    """The clock of one source. ``firsts`` has, for each event before which waits had begun since the one before it, the
    number of the newest of them and the time of the event; ``newest`` is the last of these numbers, and ``due_ms`` not
    later than the next deadline."""

    firsts: list[tuple[int, int]] = field(default_factory=list)
    newest: int = 0
    due_ms: float = inf
    limit: int = SHORTEN_AT

    def first_since(self, number: int) -> float:
        """The time of the first event since the wait of this number began."""
        at = bisect_left(self.firsts, (number, -1))
        return self.firsts[at][1] if at < len(self.firsts) else inf

    def shorten(self, numbers: Iterable[int]) -> None:
        """Forget the times that none of these waits needs."""
        if len(self.firsts) > self.limit:
            needed = {bisect_left(self.firsts, (number, -1)) for number in numbers}
            self.firsts = [first for at, first in enumerate(self.firsts) if at in needed] + self.firsts[-1:]
            self.limit = SHORTEN_AT + 2 * len(self.firsts)


class EventuallyFold(DeadlineFold):
    """How long a wait lasts is read from the clock of one source at a time, where the run has not one for all."""

    def __init__(  # noqa: PLR0917 - as the function below passes them
        self,
        invariant: Invariant,
        begins: Mapping[type[Event], Begins],
        ends: Mapping[type[Event], Ends],
        cancels: Mapping[type[Event], Ends],
        allowed_ms: Callable[..., int],
        stands_still: Callable[..., bool],
        views: Views,
        needs: Needs,
    ) -> None:
        super().__init__(invariant, begins, ends, cancels, _ALL_EVENTS, _from_its_begin, views, needs)
        self.breaks_at = begins
        self._allowed_ms, self._stands_still = allowed_ms, stands_still
        self._have_times = self._is_unbounded = False
        self._number: dict[Hashable, int] = {}
        self._count = self._known_ms = 0
        self._clocks: dict[str, _Clock] = {}

    def _look(self, event: Event) -> None:
        """Look at the waits only where one may be late."""
        if self._stands_still(*self.views):
            self._clocks.clear()
        self._have_times = self._have_times or event.time_ms != 0
        clock, time_ms = self._clock_of(event), event.time_ms
        if clock.newest == self._count and time_ms <= clock.due_ms:
            return
        allowed_ms = self._allowed_ms(*self.views)
        if clock.newest != self._count:
            self._note(clock, time_ms + allowed_ms, time_ms)
        if allowed_ms != self._known_ms:
            self._known_ms = allowed_ms
            for each in self._clocks.values():
                each.due_ms = 0.0
        if allowed_ms and time_ms > clock.due_ms:
            ends = {key: clock.first_since(self._number[key]) + allowed_ms for key in self._open}
            clock.due_ms = min((end_ms for end_ms in ends.values() if end_ms >= time_ms), default=inf)
            self._miss([self._open[key] for key, end_ms in ends.items() if end_ms < time_ms], event, allowed_ms)

    def _note(self, clock: _Clock, due_ms: int, time_ms: int) -> None:
        """The first event since the newest wait began."""
        clock.shorten(self._number.values())
        clock.firsts.append((self._count, time_ms))
        clock.newest = self._count
        clock.due_ms = min(clock.due_ms, float(due_ms))

    def _clock_of(self, event: Event) -> _Clock:
        source = "" if self.place.has_one_clock else event.source
        clock = self._clocks.get(source)
        if clock is None:
            clock = self._clocks[source] = _Clock()
        return clock

    def _miss(self, late: list[Due], event: Event, allowed_ms: int) -> None:
        for due in late:
            self._close(due.key)
            self.conclude(broken(
                f"{due.says}, and its {allowed_ms} ms have passed",
                (f"{due.says} since {{step}}.", due.since),
                (f"{allowed_ms} ms later, at {{step}}, that had not changed: contradiction.", event),
            ))  # fmt: skip

    def _begin(self, dues: Due | list[Due], event: Event) -> None:
        super()._begin(dues, event)
        self._have_times = self._have_times or event.time_ms != 0
        for due in listed(dues):
            if due.key not in self._number:
                self._count += 1
                self._number[due.key] = self._count
                self._note(self._clock_of(event), event.time_ms + self._known_ms, event.time_ms)

    def _close(self, key: Hashable) -> bool:
        was_open = super()._close(key)
        if was_open:
            del self._number[key]
        if not self._open:
            self._clocks.clear()
        return was_open

    def _met(self) -> None:
        if self._have_times and self._allowed_ms(*self.views):
            super()._met()
        else:
            self._is_unbounded = True

    def lacks(self, counts: Counts) -> str:
        """Nothing can be late in a history that says no times, or of no timeout."""
        lacking = super().lacks(counts)
        return self._lacking() if lacking and self._is_unbounded else lacking

    def _lacking(self) -> str:
        if not self._have_times:
            return "the events carry no times (time_ms)"
        return "no event says the timeouts of all members (MemberStarted, RequestParked, RequestIssued)"

    def verdict(self) -> Verdict:
        """A violation stands; a wait that is open at the end leaves the invariant undecided."""
        verdict = super().verdict()
        if isinstance(verdict, Violated) or not self._open:
            return verdict
        due = next(iter(self._open.values()))
        is_bounded = self._have_times and self._allowed_ms(*self.views)
        why = "the history ends before the deadline: record for longer" if is_bounded else self._lacking()
        return Undecided(f"{due.says} since {place_of(due.since)}, and {why}")


def _never(*_views: Any) -> bool:
    return False


def eventually(
    begins: Mapping[type[Event], Begins],
    ends: Mapping[type[Event], Ends],
    *,
    allowed_ms: Callable[..., int],
    cancels: Mapping[type[Event], Ends] | None = None,
    stands_still: Callable[..., bool] = _never,
    views: Views = (),
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that everything awaited happens, within a time that may become known later.

    As `deadline`, but each event shows the time, and a history that ends before it is undecided. ``allowed_ms`` takes
    the views and says how long a wait may last (0: unknown), which becomes no shorter while one lasts;
    ``stands_still`` says whether no time counts up to here.
    """

    return lambda invariant: EventuallyFold(
        invariant, begins, ends, cancels or {}, allowed_ms, stands_still, views, needs
    )
