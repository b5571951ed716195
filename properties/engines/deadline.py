"""Deadline: an obligation that began ends in time (`deadline`), or is not given up before its time (`not_before`).

Time is that of the events. A deadline is judged by absence: an event later than the time allowed, of the same clock,
shows that the obligation is still open, and the record of those that could have met it must be complete up to there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.engines.rules import (
    CHECKED,
    Broken,
    Excused,
    Findings,
    RuleFold,
    Views,
    broken,
    keys_of,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
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
Counts: TypeAlias = Callable[..., int | None]
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
        counts_from: Counts,
        views: Views,
    ) -> None:
        kinds = dict.fromkeys([*looks, *cancels, *ends, *begins])
        handlers = {kind: self._handler(begins.get(kind), ends.get(kind), cancels.get(kind)) for kind in kinds}
        super().__init__(invariant, handlers, views)
        self._counts_from = counts_from
        self._open: Recent[Hashable, Due] = Recent(WAITING)

    def _handler(self, begins: Begins | None, ends: Ends | None, cancels: Ends | None) -> Handler:
        def take(event: Event) -> None:
            if self._open and event.time_ms:
                self._look(event)
            for key in keys_of(cancels(event, *self.views)) if cancels is not None else ():
                self._open.pop(key, None)
            for key in keys_of(ends(event, *self.views)) if ends is not None else ():
                if isinstance(key, Broken | Excused):
                    self.conclude(key)
                elif self._open.pop(key, None) is not None:
                    self.conclude(CHECKED)
            for due in keys_of(begins(event, *self.views)) if begins is not None else ():
                self._open.setdefault(due.key, due)

        return take

    def _look(self, event: Event) -> None:
        late = [due for due in self._open.values() if event.time_ms - due.since.time_ms > due.within_ms]
        for due in late:
            since_ms = self._counts_from(due, event, *self.views)
            if since_ms is None or event.time_ms - since_ms <= due.within_ms:
                continue
            del self._open[due.key]
            self.conclude(_late(due, event))


def _late(due: Due, event: Event) -> Findings:
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
    counts_from: Counts = _from_its_begin,
    views: Views = (),
    needs: Sequence[tuple[type[Event], ...]] = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that every obligation is met in time.

    ``begins`` extracts obligations, ``ends`` the keys of those that an event meets, ``cancels`` of those that it makes
    void. Each of these events shows the time, and so do those of the types ``looks``. An obligation that is open
    already does not begin anew. ``counts_from`` says since when its time counts, where disturbances do not.
    """

    def fold(invariant: Invariant) -> Fold:
        made = DeadlineFold(invariant, begins, ends, cancels or {}, looks, counts_from, views)
        made.needs = tuple(needs)
        return made

    return fold


class NotBeforeFold(RuleFold):
    """Per key: the wait that began last."""

    def __init__(
        self,
        invariant: Invariant,
        begins: Mapping[type[Event], Begins],
        ends: Mapping[type[Event], Ends],
        cancels: Mapping[type[Event], Ends],
        views: Views,
    ) -> None:
        kinds = dict.fromkeys([*cancels, *ends, *begins])
        handlers = {kind: self._handler(begins.get(kind), ends.get(kind), cancels.get(kind)) for kind in kinds}
        super().__init__(invariant, handlers, views)
        self.bookkeeping = frozenset(kinds) - frozenset(ends)
        self._open: Recent[Hashable, Due] = Recent(WAITING)

    def _handler(self, begins: Begins | None, ends: Ends | None, cancels: Ends | None) -> Handler:
        def take(event: Event) -> None:
            for key in keys_of(cancels(event, *self.views)) if cancels is not None else ():
                self._open.pop(key, None)
            for key in keys_of(ends(event, *self.views)) if ends is not None else ():
                self.conclude(self._timed(key, event))
            for due in keys_of(begins(event, *self.views)) if begins is not None else ():
                self._open[due.key] = due

        return take

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
    needs: Sequence[tuple[type[Event], ...]] = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that no member gives up too early: an event of ``ends`` comes no sooner than the time of the wait.

    ``begins`` extracts the waits (one that begins anew counts from then on), ``ends`` the keys that an event gives up,
    or an exemption, ``cancels`` the keys whose wait is void.
    """

    def fold(invariant: Invariant) -> Fold:
        made = NotBeforeFold(invariant, begins, ends, cancels or {}, views)
        made.needs = tuple(needs)
        return made

    return fold
