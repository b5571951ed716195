"""One clock for all sources: records without zone, date or time are bound by the generations that sources share.

The coordinator answers a client's JoinGroup when it ends the join phase, so that the generations that two sources name
give the distance of their clocks. Whole quarters of an hour are zones; the rest is skew, which is measured and shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final

from rebalance_check.pipeline.diagnose.commits import CommitsFolded
from rebalance_check.pipeline.diagnose.facts import (
    AssignmentStored,
    ClientFact,
    Fact,
    GroupRecorded,
    Joined,
    JoinPhaseEnded,
    Synced,
    WorkerJoined,
)

QUARTER_MS: Final = 900_000
NOTED_SKEW_MS: Final = 1_000
"""A difference of two clocks that a user is asked to know of: JoinGroup's reply takes much less time."""
FAR_MS: Final = 60_000
"""Clocks of one day do not differ by so much: such times have another origin."""
Anchors = dict[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class Clock:
    """How the times of a source were brought to UTC. ``bound_by`` generations; 0: none is shared."""

    source: str
    shift_ms: int = 0
    skew_ms: int = 0
    bound_by: int = 0
    assumed: bool = False
    """The source names no zone and shares no generation: its times are taken for UTC."""
    untimed: bool = False
    """The source has no times: its facts are placed at the generations that they name, if any."""


@dataclass(slots=True)
class SourceTimes:
    """All that the alignment asks of the facts of a source; parts of one source can be joined."""

    facts: int = 0
    timed: int = 0
    zoned: bool = True
    central: bool = False
    """Whether it is of a coordinator: its log, or its topic."""
    last_ms: int | None = None
    """The latest time of a fact that is no client's own."""
    ends: Anchors = field(default_factory=dict)
    twice: set[tuple[str, int]] = field(default_factory=set)

    @property
    def anchors(self) -> Anchors:
        """The ends of join phases by group and generation; those that occur twice bind nothing."""
        return {key: time_ms for key, time_ms in self.ends.items() if key not in self.twice}

    def take(self, facts: Iterable[Fact]) -> SourceTimes:
        """Learn from more facts of the source."""
        for fact in facts:
            self.facts += 1
            self.central = self.central or isinstance(fact, JoinPhaseEnded | GroupRecorded)
            if fact.time_ms is not None:
                self.timed += 1
                self.zoned = self.zoned and fact.place.zoned
                if not isinstance(fact, ClientFact):
                    self.last_ms = max(self.last_ms or 0, fact.time_ms)
            if (found := _anchor(fact)) is not None:
                self._end(*found)
        return self

    def join(self, more: SourceTimes) -> None:
        """Add a later part of the same source."""
        self.facts, self.timed = self.facts + more.facts, self.timed + more.timed
        self.zoned, self.central = self.zoned and more.zoned, self.central or more.central
        if more.last_ms is not None:
            self.last_ms = max(self.last_ms or 0, more.last_ms)
        for key, time_ms in more.ends.items():
            self._end(key, time_ms)
        self.twice |= more.twice

    def _end(self, key: tuple[str, int], time_ms: int) -> None:
        if abs(self.ends.setdefault(key, time_ms) - time_ms) > QUARTER_MS:
            self.twice.add(key)


def aligned(sources: Mapping[str, Sequence[Fact]]) -> tuple[dict[str, list[Fact]], list[Clock]]:
    """The facts of all sources on one clock, and what was done to each source."""
    clocks, known = clocks_of({name: SourceTimes().take(facts) for name, facts in sources.items()})
    return {name: moved(facts, clocks[name], known) for name, facts in sources.items()}, list(clocks.values())


def clocks_of(times: Mapping[str, SourceTimes]) -> tuple[dict[str, Clock], Anchors]:
    """The clock of each source, and the ends of join phases on the common clock."""
    anchors = {name: one.anchors for name, one in times.items()}
    clocks: dict[str, Clock] = {}
    known: Anchors = {}
    waiting = sorted(times, key=lambda name: _trust(times[name], anchors[name]))
    while waiting:
        name = next((one for one in waiting if _shared(known, anchors[one])), waiting[0])
        waiting.remove(name)
        clocks[name] = clock = _clock(name, times[name], anchors[name], known)
        for key, time_ms in anchors[name].items():
            # A reply may arrive late, and never early: the earliest source is the nearest to the end of the join phase.
            known[key] = min(known.get(key, time_ms + clock.shift_ms), time_ms + clock.shift_ms)
    return {name: _skewed(clocks[name], anchors, clocks) for name in times}, known


def _anchor(fact: Fact) -> tuple[tuple[str, int], int] | None:
    if fact.time_ms is None or not isinstance(fact, JoinPhaseEnded | Joined | WorkerJoined | GroupRecorded):
        return None
    if fact.generation is None or fact.generation < 1:
        return None
    time_ms = fact.time_ms
    if isinstance(fact, GroupRecorded):
        time_ms = fact.state_time_ms if fact.state_time_ms is not None else fact.time_ms
    return (fact.group, fact.generation), time_ms


def _trust(times: SourceTimes, anchors: Anchors) -> tuple[bool, bool, int]:
    """Sources with a zone first, then brokers and topics, then those with more generations."""
    return (not (times.facts and times.zoned), not times.central, -len(anchors))


def _shared(known: Anchors, own: Anchors) -> list[int]:
    return [known[key] - own[key] for key in own if key in known]


def _clock(name: str, times: SourceTimes, own: Anchors, known: Anchors) -> Clock:
    if times.facts and not times.timed:
        return Clock(name, untimed=True)
    distances, zoned = _shared(known, own), times.zoned
    if not distances:
        return Clock(name, assumed=bool(times.timed) and not zoned)
    shift = 0 if zoned else QUARTER_MS * round(median(distances) / QUARTER_MS)
    if not zoned and abs(median(distances) - shift) > FAR_MS:
        shift = round(median(distances))  # a monotonic clock has no zone: any distance is possible
    return Clock(name, shift, 0, len(distances))


def _skewed(clock: Clock, anchors: Mapping[str, Anchors], clocks: Mapping[str, Clock]) -> Clock:
    """The clock with its distance to the others.

    A static member that restarts joins its generation late, so that the smallest distance is the one of the clocks.
    """
    others: Anchors = {}
    for name, found in anchors.items():
        if name != clock.source:
            for key, time_ms in found.items():
                others[key] = min(others.get(key, time_ms + clocks[name].shift_ms), time_ms + clocks[name].shift_ms)
    distances = [distance - clock.shift_ms for distance in _shared(others, anchors[clock.source])]
    return replace(clock, skew_ms=min(distances, key=abs, default=0), bound_by=len(distances))


def moved(facts: Sequence[Fact], clock: Clock, known: Anchors) -> list[Fact]:
    """The facts of a source on the common clock."""
    if clock.untimed:
        return _bound(facts, known)
    if not clock.shift_ms:
        return list(facts)
    return [
        fact
        if fact.time_ms is None or isinstance(fact, CommitsFolded)  # the times of records are in UTC
        else replace(fact, time_ms=fact.time_ms + clock.shift_ms)
        for fact in facts
    ]


def _bound(facts: Sequence[Fact], known: Anchors) -> list[Fact]:
    """Facts without times: one that names a known generation is placed at it; the others keep no time."""
    placed = list[Fact]()
    for fact in facts:
        generation = getattr(fact, "generation", None)
        has_anchor = isinstance(fact, Joined | Synced | AssignmentStored) and generation is not None
        placed.append(replace(fact, time_ms=known.get((fact.group, generation))) if has_anchor else fact)  # type: ignore[arg-type]  # an int here
    return placed
