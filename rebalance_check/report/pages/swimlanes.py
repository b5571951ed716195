"""The lanes of a run: coordinator, members and partitions, each as the steps at which its content changes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.report.board import COORDINATOR, NOTHING, Board, column_of
from rebalance_check.report.pages.columns import Column
from rebalance_check.report.pages.tones import tone_of

MEMBER: Final = "member"
THING: Final = "partition"
"""A partition, connector or task, and in its lane who holds it."""


@dataclass(slots=True)
class Lane:
    """One lane: at which rows it changes, and the number of the text that stands there from then on."""

    group: str
    kind: str
    name: str
    rows: Column = field(default_factory=Column)
    texts: list[int] = field(default_factory=list)

    def set(self, row: int, text: int) -> None:
        """From this row on the text stands here; of several changes in one row the last counts."""
        if self.texts and self.rows.last == row:
            self.texts[-1] = text
        elif not self.texts or self.texts[-1] != text:
            self.rows.add(row)
            self.texts.append(text)

    @property
    def order(self) -> tuple[int, list[tuple[int, int, str]]]:
        """Coordinator, members, then partitions; of equal kind by name, where ``t-2`` stands before ``t-10``."""
        words = filter(None, re.split(r"(\d{1,9})", self.name))
        keys = [(1, int(word), "") if word.isdecimal() else (0, 0, word) for word in words]
        return (COORDINATOR, MEMBER, THING).index(self.kind), keys

    def document(self) -> dict[str, Any]:
        """The lane as a page embeds it."""
        return {
            "group": self.group,
            "kind": self.kind,
            "name": self.name,
            "rows": self.rows.differences,
            "texts": self.texts,
        }


class GroupLanes:
    """The lanes of one group."""

    def __init__(self, group: str, texts: dict[str, int]) -> None:
        self._group = group
        self._texts = texts
        self._board = Board()
        self._holds: dict[str, frozenset[str]] = {}
        self._holders: dict[str, set[str]] = {}
        self._lanes: dict[tuple[str, str], Lane] = {}

    def observe(self, row: int, event: Event) -> None:
        """Take an event of this group, or of none, which belongs to a row."""
        self._board.observe(event)
        for column in self._board.touched(event):
            kind = COORDINATOR if column == COORDINATOR else MEMBER
            cell = self._board.cell(column)
            if cell != NOTHING or (kind, column) in self._lanes or kind == MEMBER:
                self._set(row, kind, column, " ".join(cell.split()) if kind == COORDINATOR else cell)
        if column := column_of(event):
            self._observe_holder(row, column)

    def _observe_holder(self, row: int, member: str) -> None:
        now, before = self._board.holds(member), self._holds.get(member, frozenset())
        if len(now) == len(before) and all(thing in before for thing in now):
            return
        self._holds[member] = frozenset(now)
        for thing in sorted(before.symmetric_difference(now)):
            holders = self._holders.setdefault(thing, set())
            (holders.add if thing in now else holders.discard)(member)
            self._set(row, THING, thing, " + ".join(sorted(holders)) or NOTHING)

    def _set(self, row: int, kind: str, name: str, text: str) -> None:
        lane = self._lanes.get((kind, name))
        if lane is None:
            lane = self._lanes[kind, name] = Lane(self._group, kind, name)
        lane.set(row, self._texts.setdefault(text, len(self._texts)))

    @property
    def lanes(self) -> list[Lane]:
        """All lanes in the order in which a page shows them."""
        return sorted(self._lanes.values(), key=lambda lane: lane.order)


class Swimlanes:
    """The lanes of a run with any number of groups; an event of no group counts for each."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._groups: dict[str, GroupLanes] = {}
        self._of_no_group: list[tuple[int, Event]] = []

    def observe(self, row: int, event: Event) -> None:
        """Take the next event, which belongs to the row of this number, from 0."""
        if not event.group:
            self._of_no_group.append((row, event))
            for lanes in self._groups.values():
                lanes.observe(row, event)
            return
        (self._groups.get(event.group) or self._begin(event.group)).observe(row, event)

    def _begin(self, group: str) -> GroupLanes:
        """The lanes of a group, from the events of no group on that came before."""
        begun = self._groups[group] = GroupLanes(group, self._texts)
        for earlier in self._of_no_group:
            begun.observe(*earlier)
        return begun

    def document(self) -> dict[str, Any]:
        """``lanes``: each with its rows, as differences, and the number of the text from each of them on; ``cells``:
        all texts, ``tones``: how each is drawn."""
        if not self._groups:
            self._begin("")
        found = [lane for _, group in sorted(self._groups.items()) for lane in group.lanes]
        return {
            "cells": list(self._texts),
            "tones": [tone_of(text) for text in self._texts],
            "lanes": [lane.document() for lane in found],
        }
