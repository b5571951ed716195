"""One clock for all sources: records without zone, date or time are bound by the generations that sources share.

The coordinator answers a client's JoinGroup when it ends the join phase, so that the generations that two sources name
give the distance of their clocks. Whole quarters of an hour are zones; the rest is skew, which is measured and shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from rebalance_check.pipeline.diagnose.commits import CommitsFolded
from rebalance_check.pipeline.diagnose.facts import (
    AssignmentStored,
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


def aligned(sources: Mapping[str, Sequence[Fact]]) -> tuple[dict[str, list[Fact]], list[Clock]]:
    """The facts of all sources on one clock, and what was done to each source."""
    anchors = {name: anchors_of(facts) for name, facts in sources.items()}
    clocks: dict[str, Clock] = {}
    known: Anchors = {}
    waiting = sorted(sources, key=lambda name: _trust(sources[name], anchors[name]))
    while waiting:
        name = next((one for one in waiting if _shared(known, anchors[one])), waiting[0])
        waiting.remove(name)
        clocks[name] = clock = _clock(name, sources[name], anchors[name], known)
        for key, time_ms in anchors[name].items():
            # A reply may arrive late, and never early: the earliest source is the nearest to the end of the join phase.
            known[key] = min(known.get(key, time_ms + clock.shift_ms), time_ms + clock.shift_ms)
    clocks = {name: _skewed(clock, anchors, clocks) for name, clock in clocks.items()}
    moved = {name: _moved(facts, clocks[name], known) for name, facts in sources.items()}
    return moved, [clocks[name] for name in sources]


def anchors_of(facts: Iterable[Fact]) -> Anchors:
    """The ends of join phases by group and generation; those that occur twice bind nothing."""
    seen: Anchors = {}
    twice: set[tuple[str, int]] = set()
    for fact in facts:
        found = _anchor(fact)
        if found is None:
            continue
        key, time_ms = found
        if key in seen and abs(seen[key] - time_ms) > QUARTER_MS:
            twice.add(key)
        seen.setdefault(key, time_ms)
    return {key: time_ms for key, time_ms in seen.items() if key not in twice}


def _anchor(fact: Fact) -> tuple[tuple[str, int], int] | None:
    if fact.time_ms is None or not isinstance(fact, JoinPhaseEnded | Joined | WorkerJoined | GroupRecorded):
        return None
    if fact.generation is None or fact.generation < 1:
        return None
    time_ms = fact.time_ms
    if isinstance(fact, GroupRecorded):
        time_ms = fact.state_time_ms if fact.state_time_ms is not None else fact.time_ms
    return (fact.group, fact.generation), time_ms


def _trust(facts: Sequence[Fact], anchors: Anchors) -> tuple[bool, bool, int]:
    """Sources with a zone first, then brokers and topics, then those with more generations."""
    zoned = bool(facts) and all(fact.place.zoned for fact in facts if fact.time_ms is not None)
    central = any(isinstance(fact, JoinPhaseEnded | GroupRecorded) for fact in facts)
    return (not zoned, not central, -len(anchors))


def _shared(known: Anchors, own: Anchors) -> list[int]:
    return [known[key] - own[key] for key in own if key in known]


def _clock(name: str, facts: Sequence[Fact], own: Anchors, known: Anchors) -> Clock:
    timed = [fact for fact in facts if fact.time_ms is not None]
    if facts and not timed:
        return Clock(name, untimed=True)
    distances = _shared(known, own)
    zoned = all(fact.place.zoned for fact in timed)
    if not distances:
        return Clock(name, assumed=bool(timed) and not zoned)
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


def _moved(facts: Sequence[Fact], clock: Clock, known: Anchors) -> list[Fact]:
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
    moved = list[Fact]()
    for fact in facts:
        generation = getattr(fact, "generation", None)
        has_anchor = isinstance(fact, Joined | Synced | AssignmentStored) and generation is not None
        moved.append(replace(fact, time_ms=known.get((fact.group, generation))) if has_anchor else fact)  # type: ignore[arg-type]  # an int here
    return moved
