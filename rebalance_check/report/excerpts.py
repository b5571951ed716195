"""The table of a counterexample: the steps that its argument needs, and their objects. The rest is left out.

A step is shown where the claim would not break like this without it (`properties.argument`), and where something is
done to a member that the argument names, or to its holdings: partitions, connectors, tasks and keys that are named.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorElected,
    Event,
    LogTailLost,
    NodeChanged,
)
from rebalance_check.properties.argument import argument
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.verdict import Counterexample
from rebalance_check.report.board import COORDINATOR, NOTHING, column_of, members_of
from rebalance_check.report.lanes import LaneTable, Row, key_of, lanes
from rebalance_check.report.phrases import NAME, phrase

MOST_ROWS: Final = 24
"""So many steps are shown at most, unless the argument alone needs more."""

DONE: Final = frozenset({NodeChanged, CoordinatorElected, LogTailLost})
"""Events that happen to no member, and are always worth a row."""


@dataclass(frozen=True, slots=True)
class _Named:
    """The subjects of a counterexample: the events that it needs, the members and things that they name, its words."""

    events: frozenset[Hashable]
    members: frozenset[str]
    things: frozenset[str]
    words: frozenset[str]


def history_lanes(
    history: Sequence[Event], counterexample: Counterexample | None = None, *, context: int = MOST_ROWS
) -> LaneTable:
    """The table of a history: each event is a step.

    With a counterexample: the group and the steps that its argument needs and, up to ``context`` in all, those that
    change the things it names; columns for the members that take part, cells of those things. ``context`` 0 shows
    everything.
    """
    if counterexample is None or not context:
        group = counterexample.group if counterexample else None
        return lanes([(phrase(one), (one,)) for one in history], counterexample, context=context, group=group)
    named = _named(history, counterexample)
    steps = [(phrase(one, named.words, only=key_of(one) not in named.events), (one,)) for one in history]
    table = lanes(steps, counterexample, context=0, group=counterexample.group, things=named.things)
    rows = _shown(table, history, named, context)
    return _narrowed(replace(table, rows=rows, left_out=len(table.rows) - len(rows)), history, named)


def _named(history: Sequence[Event], found: Counterexample) -> _Named:
    """The events that the argument of ``found`` needs, and the names in it."""
    invariant = next((one for one in CATALOGUE if one.name == found.invariant), None)
    given = [*found.events, *found.repeats, *(reason.event for reason in found.because if reason.event is not None)]
    needed = [*given, *(argument(history, found, invariant) if invariant is not None else ())]
    texts = [found.headline, *(reason.text for reason in found.because)]
    words = frozenset(word for text in texts for word in NAME.findall(text))
    members = frozenset(
        name for name in members_of(history) if any(_is_of(word, name) for word in words)
    ) | {column_of(event) for event in needed}  # fmt: skip
    keys = {getattr(event, "key", "") for event in needed} - {""}
    things = frozenset(_things(history)) & (words | keys)
    return _Named(frozenset(map(key_of, needed)), members - {""}, things, words | keys)


def _is_of(word: str, member: str) -> bool:
    """Whether a word names the member or one of its member ids (``m0-3``)."""
    return word == member or word.startswith((f"{member}-", f"{member}/"))


def _things(history: Sequence[Event]) -> Iterator[str]:
    """The names of all that members hold or write about."""
    for event in history:
        for field in ("key", "partitions", "connector", "task"):
            value = getattr(event, field, ())
            yield from (value,) if isinstance(value, str) else value


def _shown(table: LaneTable, history: Sequence[Event], named: _Named, most: int) -> tuple[Row, ...]:
    """The rows that are needed, the first turns of a repeat, and the last of those that change a named thing."""
    asked = [row for row in table.rows if row.marked or key_of(history[row.number - 1]) in named.events]
    needed = [row.number for row in asked if not row.repeats]
    needed += [row.number for row in asked if row.repeats][: max(0, most - len(needed))]
    columns = {place for place, name in enumerate(table.columns) if name in named.members}
    optional = [
        row.number
        for row in table.rows
        if row not in asked and (row.changed & columns or type(history[row.number - 1]) in DONE)
    ]
    kept = {*needed, *optional[max(0, len(optional) + len(needed) - most) :]}
    return tuple(row for row in table.rows if row.number in kept)


def _narrowed(table: LaneTable, history: Sequence[Event], named: _Named) -> LaneTable:
    """Without the columns of members that take no part, and without the coordinator's where it shows nothing."""
    seen = named.members | {column_of(history[row.number - 1]) for row in table.rows}
    places = [
        place
        for place, name in enumerate(table.columns)
        if (any(row.cells[place] != NOTHING for row in table.rows) if name == COORDINATOR else name in seen)
    ]
    rows = tuple(replace(row, cells=tuple(row.cells[place] for place in places)) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)
