"""Lanes over the time of a group, as a page embeds them: each is a list of stretches with the lines that say them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import Fact, Place
from rebalance_check.report.pages.columns import Column

GENERATIONS: Final = "generations"
MEMBER: Final = "member"
PARTITION: Final = "partition"
FEW_LINES: Final = 12
"""So many lines at most are shown for one stretch."""


@dataclass(frozen=True, slots=True)
class Tone:
    """How a stretch is drawn: colours of page.css one above the other, and ``shade`` as a part of 100.

    A ``narrow`` one is drawn where it is too short to be seen, too; ``end`` is the colour of a bar at its end.
    """

    colours: tuple[str, ...] = ()
    shade: int = 100
    narrow: bool = False
    end: str = ""

    def document(self) -> dict[str, Any]:
        """The tone as a page embeds it."""
        return {"colours": list(self.colours), "shade": self.shade, "narrow": self.narrow, "end": self.end}


NOTHING: Final = Tone()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a lane, up to the next one. ``detail`` says more than there is space for."""

    begin_ms: int
    text: str
    tone: Tone = NOTHING
    places: tuple[Place, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point in time of a lane, and the line that says it."""

    time_ms: int
    text: str
    place: Place


@dataclass(slots=True)
class Lane:
    """One lane: stretches and marks in the order of their times."""

    kind: str
    name: str
    stretches: list[Stretch] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """How much of a page it takes."""
        return len(self.stretches) + len(self.marks)


def few_places(facts: Iterable[Fact | None]) -> tuple[Place, ...]:
    """The places of facts without repeats: the first and the last, where they are many."""
    found = list(dict.fromkeys(fact.place for fact in facts if fact is not None))
    if len(found) <= FEW_LINES:
        return tuple(found)
    return (*found[: FEW_LINES // 2], *found[-FEW_LINES // 2 :])


class LogLines:
    """The lines that a page shows: each once, and the text of so many at most."""

    def __init__(self, most_texts: int) -> None:
        self._most = most_texts
        self._numbers: dict[Place, int] = {}
        self._sources: dict[str, int] = {}
        self._rows: list[list[int | str]] = []
        self.left_out = 0
        """Lines without their text."""

    def number(self, place: Place) -> int:
        """The number of a line in `document`."""
        known = self._numbers.get(place)
        if known is not None:
            return known
        row: list[int | str] = [self._sources.setdefault(place.source, len(self._sources)), place.number]
        if len(self._rows) < self._most:
            row.append(place.text)
        else:
            self.left_out += 1
        self._rows.append(row)
        return self._numbers.setdefault(place, len(self._numbers))

    def document(self) -> dict[str, Any]:
        """``rows``: the number of a source, the line's number, and its text where it is kept."""
        return {"sources": list(self._sources), "rows": self._rows}


class LanesDocument:
    """Takes the lanes of a group one by one; texts and tones stand once for all of them."""

    def __init__(self, begin_ms: int, lines: LogLines) -> None:
        self._begin_ms = begin_ms
        self._lines = lines
        self._texts: dict[str, int] = {}
        self._tones: dict[Tone, int] = {}
        self._lanes: list[dict[str, Any]] = []

    def add(self, lane: Lane) -> None:
        """Take the next lane."""
        self._lanes.append(
            {
                "kind": lane.kind,
                "name": lane.name,
                "rows": self._column(each.begin_ms for each in lane.stretches),
                "texts": [self._text(each.text) for each in lane.stretches],
                "details": [self._text(each.detail) for each in lane.stretches],
                "tones": [self._tones.setdefault(each.tone, len(self._tones)) for each in lane.stretches],
                "lines": [[self._lines.number(place) for place in each.places] for each in lane.stretches],
                "marks": self._marks(lane.marks),
            }
        )

    def _marks(self, marks: Sequence[Mark]) -> dict[str, Any]:
        return {
            "rows": self._column(each.time_ms for each in marks),
            "texts": [self._text(each.text) for each in marks],
            "lines": [self._lines.number(each.place) for each in marks],
        }

    def _column(self, times: Iterable[int]) -> list[int]:
        """Milliseconds since the begin as differences; a time never falls back."""
        column = Column()
        for time_ms in times:
            column.add(max(column.last, time_ms - self._begin_ms))
        return column.differences

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def document(self) -> dict[str, Any]:
        """``lanes`` have times as differences, and numbers of texts, tones and lines."""
        return {
            "begin": self._begin_ms,
            "cells": list(self._texts),
            "tones": [tone.document() for tone in self._tones],
            "lanes": self._lanes,
        }
