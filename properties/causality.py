"""Pairs of events of two files of which one certainly came before the other: by the protocol, and never by a clock.

A request is sent before it is answered, a member learns of a generation after the coordinator began it, and a
generation begins after each of its members asked to join. Where the protocol leaves open which of several events it
was, the weakest statement is taken that is true of all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CoordinatorElected,
    Event,
    GenerationEvent,
    GenerationStarted,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberEvent,
    MemberJoined,
    MemberRemoved,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestSent,
    RunEnded,
    RunStarted,
    SyncGroupReplied,
)
from rebalance_check.properties.history import Scanned
from rebalance_check.properties.malformed import UnreadLine

ACCEPTED: Final = "NONE"


class Place(NamedTuple):
    """A line of one of the files: the number of the file, and that of the line in it."""

    file: int
    line: int


class Facts:
    """The relations between the lines of all files, collected file by file.

    A *cause* is a line that certainly comes before each *effect* of the same name. ``first`` keeps the first cause of a
    file, as the others come after it. A name with causes in two files orders nothing, as no record says which of them
    was first, unless an effect needs all of them (`barriers`). Of effects the first in each file is enough, or the last
    where the cause belongs to one of several.
    """

    def __init__(self) -> None:
        self.causes: dict[Hashable, dict[int, Place]] = {}
        self.effects: dict[Hashable, dict[int, Place]] = {}
        self.barriers: dict[Hashable, list[Place]] = {}
        self.waiters: dict[Hashable, dict[int, Place]] = {}

    def cause(self, name: Hashable, place: Place) -> None:
        """This line comes before the effects of that name."""
        self.causes.setdefault(name, {}).setdefault(place.file, place)

    def effect(self, name: Hashable, place: Place) -> None:
        """The first of these lines in each file comes after the cause, and so do the others."""
        self.effects.setdefault(name, {}).setdefault(place.file, place)

    def last_effect(self, name: Hashable, place: Place) -> None:
        """One of these lines comes after the cause, so the last of them does."""
        self.effects.setdefault(name, {})[place.file] = place

    def edges(self) -> Iterator[tuple[Place, Place]]:
        """Pairs of lines of different files, the earlier one first."""
        for name, effects in self.effects.items():
            causes = self.causes.get(name, {})
            if len(causes) == 1:
                cause = next(iter(causes.values()))
                yield from ((cause, effect) for effect in effects.values() if effect.file != cause.file)
        for name, waiters in self.waiters.items():
            for cause in self.barriers.get(name, ()):
                yield from ((cause, waiter) for waiter in waiters.values() if waiter.file != cause.file)


class _FileReader:
    """Collects the facts of one file; ``_asked`` is where each member began to ask for its next generation."""

    def __init__(self, facts: Facts, file: int) -> None:
        self._facts = facts
        self._file = file
        self._asked: dict[str, Place] = {}
        self._given_up: dict[str, Place] = {}
        self._member_ids: dict[str, str] = {}
        self._static: set[str] = set()

    def read(self, lines: Sequence[Scanned]) -> None:
        """Take all lines of the file."""
        for number, event in enumerate(lines):
            if not isinstance(event, UnreadLine):
                place = Place(self._file, number)
                self._numbered(event, place)
                self._coordinator(event, place)
                self._member(event, place)

    def _numbered(self, event: Event, place: Place) -> None:
        """A source numbers its events: the next comes after the one before it, whichever file holds it."""
        if event.seq >= 0:
            self._facts.effect(("number", event.group, event.source, event.seq - 1), place)
            self._facts.cause(("number", event.group, event.source, event.seq), place)

    def _coordinator(self, event: Event, place: Place) -> None:
        facts, group = self._facts, event.group
        if isinstance(event, GenerationStarted):
            for member_id in ("", *event.members):
                facts.cause(("generation", group, event.generation, member_id), place)
                facts.last_effect(("asked", group, event.generation, member_id), place)
        elif isinstance(event, CoordinatorElected):
            facts.cause(("elected", group, event.incarnation), place)
        elif isinstance(event, IncarnationStarted):
            facts.effect(("elected", group, event.incarnation), place)
        elif isinstance(event, MemberAdded):
            facts.cause(("added", group, event.member_id), place)
        elif isinstance(event, MemberRemoved) and event.reason == "left":
            facts.last_effect(("leaving", group, event.member_id), place)
        elif isinstance(event, JoinGroupReplied) and event.error == ACCEPTED:
            facts.cause(("join reply", group, event.reply_generation, event.assigned_member_id), place)
        elif isinstance(event, SyncGroupReplied) and event.error == ACCEPTED:
            facts.cause(("sync reply", group, event.generation, event.member_id), place)
            facts.last_effect(("computed", group, event.generation), place)
            facts.last_effect(("sync asked", group, event.generation, event.member_id), place)

    def _member(self, event: Event, place: Place) -> None:
        if isinstance(event, MemberStarted):
            self._facts.cause(("started", event.group, event.member), place)
            self._asked.pop(event.member, None)
            self._given_up.pop(event.member, None)
            if event.group_instance_id:
                self._static.add(event.member)
        elif isinstance(event, RequestSent):
            self._sent(event, place)
        elif isinstance(event, GenerationEvent):
            self._in_generation(event, place)
        if isinstance(event, MemberEvent) and not isinstance(event, MemberStarted):
            self._facts.effect(("started", event.group, event.member), place)

    def _sent(self, event: RequestSent, place: Place) -> None:
        if event.api == Api.JOIN_GROUP:
            self._asked.setdefault(event.member, place)
        member_id = self._member_ids.get(event.member)
        if member_id is not None and event.api == Api.LEAVE_GROUP:
            self._facts.cause(("leaving", event.group, member_id), place)
        elif member_id is not None and event.api == Api.SYNC_GROUP:
            self._facts.cause(("sync asked", event.group, event.generation, member_id), place)

    def _in_generation(self, event: GenerationEvent, place: Place) -> None:
        facts, group, member_id = self._facts, event.group, event.member_id
        if isinstance(event, PartitionsRevoked | PartitionsLost):
            self._given_up[event.member] = place
        if event.generation < 0:
            return
        facts.effect(("generation", group, event.generation, member_id), place)
        facts.waiters.setdefault(("joined", group, event.generation), {}).setdefault(self._file, place)
        if member_id:
            self._member_ids[event.member] = member_id
            facts.effect(("added", group, member_id), place)
        if isinstance(event, MemberJoined):
            self._joined(event, place)
        elif isinstance(event, AssignmentComputed):
            facts.cause(("computed", group, event.generation), place)
        elif isinstance(event, AssignmentCompleted) or (isinstance(event, PartitionsAssigned) and event.partitions):
            facts.effect(("sync reply", group, event.generation, member_id), place)
            facts.effect(("computed", group, event.generation), place)

    def _joined(self, event: MemberJoined, place: Place) -> None:
        """The member asked before the generation began, and gave up partitions before it asked. Static members may be
        in a generation for which they did not ask."""
        self._facts.effect(("join reply", event.group, event.generation, event.member_id), place)
        asked = self._asked.pop(event.member, None) or self._given_up.pop(event.member, None)
        self._given_up.pop(event.member, None)
        if asked is None or event.member in self._static:
            return
        self._facts.cause(("asked", event.group, event.generation, event.member_id), asked)
        self._facts.barriers.setdefault(("joined", event.group, event.generation), []).append(asked)


def certain_order(files: Sequence[Sequence[Scanned]]) -> list[tuple[Place, Place]]:
    """Pairs of lines of different files of which the first certainly came before the second."""
    facts = Facts()
    for number, lines in enumerate(files):
        _FileReader(facts, number).read(lines)
    if _has_failovers(files):
        facts.barriers.clear()  # one number may stand for two generations
    return [*facts.edges(), *_around_the_run(files)]


def _has_failovers(files: Sequence[Sequence[Scanned]]) -> bool:
    seen = {getattr(event, "incarnation", -1) for lines in files for event in lines}
    return len(seen - {-1}) > 1


def _around_the_run(files: Sequence[Sequence[Scanned]]) -> Iterator[tuple[Place, Place]]:
    """The start of the run comes before everything, and its end after everything."""
    for number, lines in enumerate(files):
        for line, event in enumerate(lines):
            if isinstance(event, RunStarted):
                yield from ((Place(number, line), Place(other, 0)) for other in range(len(files))
                            if other != number and files[other])  # fmt: skip
            elif isinstance(event, RunEnded):
                yield from ((Place(other, len(files[other]) - 1), Place(number, line)) for other in range(len(files))
                            if other != number and files[other])  # fmt: skip
