"""Deadline: an obligation ends in time (`deadline`, `eventually`), or is not given up before its time (`not_before`).

Time is that of the events. A deadline is judged by absence: an event later than the time allowed, of the same clock,
shows that the obligation is still open, and the record of those that could have met it must be complete up to there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rebalance_check.model.vocabulary.events import Event
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
from rebalance_check.properties.kinds import Counts, Fold, Invariant, Memories, Memory
from rebalance_check.properties.verdict import Undecided, Verdict, Violated
from rebalance_check.properties.views.deadlines import Deadlines, Wait
from rebalance_check.properties.views.recent import WAITING, Recent


@dataclass(frozen=True, slots=True)
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
        looks: Sequence[type[Event]],
        counts_from: CountsFrom,
        views: Views,
        needs: Needs,
    ) -> None:
        shown = dict.fromkeys([*looks, *cancels, *ends, *begins], self._late)
        parts = ((shown, self._miss), (cancels, self._cancel), (ends, self._end), (begins, self._begin))
        super().__init__(invariant, parts, views, needs)
        self._counts_from = counts_from
        self._open: Recent[Hashable, Due] = Recent(WAITING)

    def _late(self, event: Event, *_views: Any) -> list[Due] | None:
        """The obligations whose time may have passed."""
        if not self._open or not event.time_ms:
            return None
        return [due for due in self._open.values() if event.time_ms - due.since.time_ms > due.within_ms] or None

    def _miss(self, late: list[Due], event: Event) -> None:
        for due in late:
            since_ms = self._counts_from(due, event, *self.views)
            if since_ms is not None and event.time_ms - since_ms > due.within_ms:
                del self._open[due.key]
                self.conclude(_missed(due, event))

    def _cancel(self, keys: Any, _event: Event) -> None:
        for key in listed(keys):
            if key is ALL:
                self._open.clear()
            self._open.pop(key, None)

    def _end(self, keys: Any, _event: Event) -> None:
        for key in listed(keys):
            if isinstance(key, Broken | Excused):
                self.conclude(key)
            elif self._open.pop(key, None) is not None:
                self.conclude(CHECKED)

    def _begin(self, dues: Due | list[Due], _event: Event) -> None:
        for due in listed(dues):
            self._open.setdefault(due.key, due)


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

    def fold(invariant: Invariant) -> Fold:
        return DeadlineFold(invariant, begins, ends, cancels or {}, looks, counts_from, views, needs)

    return fold


class NotBeforeFold(RuleFold):
    """Per key: the wait that began last."""

    def __init__(  # noqa: PLR0917 - as the function below passes them
        self,
        invariant: Invariant,
        begins: Mapping[type[Event], Begins],
        ends: Mapping[type[Event], Ends],
        cancels: Mapping[type[Event], Ends],
        views: Views,
        needs: Needs,
    ) -> None:
        parts = ((cancels, self._cancel), (ends, self._end), (begins, self._begin))
        super().__init__(invariant, parts, views, needs)
        self.bookkeeping = frozenset({**cancels, **begins}) - frozenset(ends)
        self._open: Recent[Hashable, Due] = Recent(WAITING)

    def _cancel(self, keys: Any, _event: Event) -> None:
        for key in listed(keys):
            self._open.pop(key, None)

    def _end(self, keys: Any, event: Event) -> None:
        for key in listed(keys):
            self.conclude(self._timed(key, event))

    def _begin(self, dues: Due | list[Due], _event: Event) -> None:
        for due in listed(dues):
            self._open[due.key] = due

    def _timed(self, key: Hashable | Excused, event: Event) -> Findings:
        if isinstance(key, Excused):
            return key
        due = self._open.pop(key, None)
        if due is None:
            return None
        took = event.time_ms - due.since.time_ms
        if took >= due.within_ms:
            return CHECKED
        return broken(
            f"{due.must} after {took} ms of {due.within_ms} ms",
            (f"{due.says};", due.since),
            (f"{due.must} at {{step}}, {took} ms later, and not before {due.within_ms} ms: contradiction.", event),
        )


def not_before(
    begins: Mapping[type[Event], Begins],
    ends: Mapping[type[Event], Ends],
    *,
    cancels: Mapping[type[Event], Ends] | None = None,
    views: Views = (),
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that no member gives up too early: an event of ``ends`` comes no sooner than the time of the wait.

    ``begins`` extracts the waits (one that begins anew counts from then on), ``ends`` the keys that an event gives up,
    or an exemption, ``cancels`` the keys whose wait is void.
    """

    def fold(invariant: Invariant) -> Fold:
        return NotBeforeFold(invariant, begins, ends, cancels or {}, views, needs)

    return fold


@dataclass(frozen=True, slots=True)
class Awaited:
    """Something of ``key`` that is awaited since an event, ``says`` in words (``the group is Empty``).

    ``allowed`` gives the ms that it may take, by the timeouts that are known when it is asked (0: unknown).
    """

    key: Hashable
    since: Event
    says: str
    allowed: Callable[[], int]


class EventuallyFold(RuleFold):
    """Per key: the wait that is open. `Deadlines` reads the clock of one source at a time, and reports a late one."""

    deadlines: Deadlines

    def __init__(  # noqa: PLR0917 - as the function below passes them
        self,
        invariant: Invariant,
        begins: Mapping[type[Event], Callable[..., Awaited | list[Awaited] | None]],
        ends: Mapping[type[Event], Ends],
        cancels: Mapping[type[Event], Ends],
        restarts: Mapping[type[Event], Ends],
        renews: Callable[..., str],
        views: Views,
        needs: Needs,
    ) -> None:
        parts = ((cancels, self._cancel), (restarts, self._restart), (ends, self._end), (begins, self._await))
        super().__init__(invariant, parts, views, needs)
        self.bookkeeping = frozenset({**restarts, **cancels, **ends}) - frozenset(begins)
        self._renews = renews
        self._is_unbounded = False
        self._open: dict[Hashable, Wait] = {}

    def share(self, memories: Memories) -> None:
        """Look at the same deadlines as the other invariants of the group."""
        super().share(memories)
        self.deadlines = Deadlines.among(memories)

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The views, and the deadlines."""
        return (*super().memories, self.deadlines)

    def _cancel(self, keys: Any, _event: Event) -> None:
        for key in self._meant(keys):
            self._close(key)

    def _restart(self, keys: Any, event: Event) -> None:
        for key in self._meant(keys):
            wait = self._close(key)
            if wait is not None:
                self._begin(key, wait.what, event, wait.allowed)

    def _meant(self, keys: Any) -> list[Hashable]:
        return list(self._open) if ALL in listed(keys) else list(listed(keys))

    def _end(self, keys: Any, _event: Event) -> None:
        for key in listed(keys):
            wait = self._close(key)
            if wait is not None and wait.allowed() and self.deadlines.have_times:
                self.conclude(CHECKED)
            elif wait is not None:
                self._is_unbounded = True

    def _await(self, awaited: Awaited | list[Awaited], _event: Event) -> None:
        for one in listed(awaited):
            if one.key not in self._open:
                self._begin(one.key, one.says, one.since, one.allowed)

    def _begin(self, key: Hashable, says: str, since: Event, allowed: Callable[[], int]) -> None:
        wait = self._open[key] = Wait((self.invariant.name, key), says, since, allowed, self._miss)
        self.deadlines.begin_wait(wait)

    def _close(self, key: Hashable) -> Wait | None:
        wait = self._open.pop(key, None)
        if wait is not None:
            self.deadlines.end_wait(wait.key)
        return wait

    def _miss(self, wait: Wait, event: Event) -> None:
        _, key = wait.key
        del self._open[key]
        exemption = self._renews(key, *self.views)
        if exemption:
            self.conclude(Excused(exemption))
            self._begin(key, wait.what, event, wait.allowed)
            return
        allowed_ms = wait.allowed()
        self.conclude(broken(
            f"{wait.what}, and its {allowed_ms} ms have passed",
            (f"{wait.what} since {{step}}.", wait.since),
            (f"{allowed_ms} ms later, at {{step}}, that had not changed: contradiction.", event),
        ))  # fmt: skip

    def lacks(self, counts: Counts) -> str:
        """Nothing can be late in a history that says no times, or of no timeout."""
        lacking = super().lacks(counts)
        if not lacking or not self._is_unbounded:
            return lacking
        if not self.deadlines.have_times:
            return "the events carry no times (time_ms)"
        return "no event says the timeouts of members (MemberStarted, RequestParked, RequestIssued)"

    def verdict(self) -> Verdict:
        """A violation stands; a wait that is open at the end leaves the invariant undecided."""
        verdict = super().verdict()
        if isinstance(verdict, Violated) or not self._open:
            return verdict
        return Undecided(self.deadlines.doubt_about(next(iter(self._open.values()))))


def _never(_key: Hashable, *_views: Any) -> str:
    return ""


def eventually(
    begins: Mapping[type[Event], Callable[..., Awaited | list[Awaited] | None]],
    ends: Mapping[type[Event], Ends],
    *,
    cancels: Mapping[type[Event], Ends] | None = None,
    restarts: Mapping[type[Event], Ends] | None = None,
    renews: Callable[..., str] = _never,
    views: Views = (),
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that everything awaited happens, within a time that the members' timeouts bound.

    As `deadline`, but time is read from the clock of one source at a time, the bound may become known later, and a
    history that ends before it is undecided. ``restarts`` gives the keys whose time begins anew at an event (`ALL`:
    each, as in ``cancels``). ``renews`` takes a key and the views, and names the exemption
    by which the time of a late wait begins anew.
    """

    def fold(invariant: Invariant) -> Fold:
        return EventuallyFold(invariant, begins, ends, cancels or {}, restarts or {}, renews, views, needs)

    return fold
