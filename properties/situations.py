"""The situations of a run, so that a campaign counts those of its runs, and looks for those that none of them reached.

A *situation* is one of four things:

- something happened while the group had some status: ``HeartbeatReplied ILLEGAL_GENERATION in PreparingRebalance``;
- something happened to one source right after something else: ``MemberPaused, then ConnectionBroken``;
- a kind of fault struck while the group had some status: ``drop struck in Stable``;
- a claim was put to the test, and an event that it may break at came while the group had some status: ``one_leader
judged something in Stable``. The judge knows the invariants that were put to the test, and the events do not.

An event stands here for its type, and the words that distinguish events of one type: the error of a reply, the
reason of a removal. Names of members, partitions and connectors are no part of it, so that runs of different sizes
reach the same situations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, Final

from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event, RunEnded
from rebalance_check.model.vocabulary.status_course import NO_GROUP, status_after
from rebalance_check.properties.signatures import shape_of

DISTINGUISHING: Final = frozenset(
    {"algorithm", "api", "callback", "change", "error", "from_status", "kind", "mode", "outcome", "published", "reason",
     "role", "safe", "state", "to_status"}
)  # fmt: skip
"""Fields that tell events of one type apart where they are one word: they have few values, and no name of a run."""

WORDS: Final = frozenset({"str", "str | None", "bool"})
"""The types of fields that are one word, or none."""


def fault_in(kind: str, status: str) -> str:
    """The situation in which a kind of fault struck while the group had that status."""
    return f"{kind} struck in {status}"


def _nothing(_event: Event) -> tuple[()]:
    """Reads events of a type that are all alike."""
    return ()


def _names(kind: type[Event]) -> tuple[str, ...]:
    """The fields that distinguish events of this type."""
    return tuple(field.name for field in fields(kind) if field.name in DISTINGUISHING and field.type in WORDS)


_READERS: Final[dict[type[Event], Callable[[Event], Any]]] = {
    kind: attrgetter(*names) if (names := _names(kind)) else _nothing for kind in EVENT_TYPES.values()
}
"""Readers of those fields of an event: one value as it is, several as a tuple."""

_SAID: Final[dict[tuple[type[Event], Any], str]] = {}


def what_happened(event: Event) -> str:
    """``HeartbeatReplied ILLEGAL_GENERATION``."""
    kind = type(event)
    values = _READERS.get(kind, _nothing)(event)
    said = _SAID.get((kind, values))
    if said is None:
        each = values if isinstance(values, tuple) else (values,)
        words = ("unanswered" if value is None else str(value) for value in each)
        said = _SAID[kind, values] = shape_of(" ".join((kind.__name__, *filter(None, words))))
    return said


@cache
def _in(happened: str, status: str) -> str:
    return f"{happened} in {status}"


@cache
def _judged(claim: str, status: str) -> str:
    return f"{claim} judged something in {status}"


@cache
def _then(before: str, after: str) -> str:
    return f"{before}, then {after}"


class Situations:
    """The situations of one run: give it every event in order, then ask for those that were `reached`."""

    def __init__(self) -> None:
        self._status = NO_GROUP
        self._last: dict[str, str] = {}
        self._inside: set[tuple[str, str]] = set()
        self._pairs: set[tuple[str, str]] = set()
        self._struck: set[tuple[str, str]] = set()

    def observe(self, event: Event) -> None:
        """Take the next event of the run."""
        happened = what_happened(event)
        self._inside.add((happened, self._status))
        last = self._last.get(event.source)
        if last is not None:
            self._pairs.add((last, happened))
        self._last[event.source] = happened
        self._status = status_after(event, self._status)
        if isinstance(event, RunEnded):
            self._struck.update(event.struck)

    def following(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events as they come, each observed before it is given on."""
        for event in events:
            self.observe(event)
            yield event

    def judged(self, claims: Iterable[tuple[str, frozenset[str]]]) -> frozenset[str]:
        """The situations of ``claims`` that were put to the test: each with the event types that it may break at."""
        statuses: dict[str, set[str]] = {}
        for happened, status in self._inside:
            statuses.setdefault(happened.partition(" ")[0], set()).add(status)
        none = frozenset[str]()
        return frozenset(
            _judged(claim, status) for claim, kinds in claims for kind in kinds for status in statuses.get(kind, none)
        )

    def reached(self) -> frozenset[str]:
        """The situations of all events so far."""
        return frozenset(
            [
                *(_in(*each) for each in self._inside),
                *(_then(*each) for each in self._pairs),
                *(fault_in(*each) for each in self._struck),
            ]
        )


def situations_of(history: Iterable[Event]) -> frozenset[str]:
    """The situations of a whole run."""
    situations = Situations()
    for event in history:
        situations.observe(event)
    return situations.reached()
