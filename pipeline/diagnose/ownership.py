"""The times for which a process owned a partition, from the clients' own lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from rebalance_check.pipeline.diagnose.facts import Assigned, ClientFact, Fact, Lost, ProcessStarted, Revoked


class Stop(StrEnum):
    """How a span of ownership ends."""

    REVOKED = "revoked"
    LOST = "lost"
    """The client noticed that it had lost the partition earlier."""
    RESTARTED = "restarted"
    UNSEEN = "not seen"
    """The log says no more: the process was killed, or its log is cut."""


@dataclass(frozen=True, slots=True)
class Span:
    """One process owns one partition. ``end_ms`` is None where no line says when it ends."""

    partition: str
    client: str
    source: str
    begin_ms: int
    end_ms: int | None
    stop: Stop
    begun_by: Fact
    ended_by: Fact | None = None
    member: str = ""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two processes own one partition at one time."""

    earlier: Span
    later: Span

    @property
    def begin_ms(self) -> int:
        """When the second began."""
        return self.later.begin_ms

    @property
    def length_ms(self) -> int:
        """How long both owned it."""
        ends = [end for end in (self.earlier.end_ms, self.later.end_ms) if end is not None]
        return min(ends) - self.later.begin_ms


@dataclass(frozen=True, slots=True)
class Gap:
    """No process owns a partition, from the end of one span to the begin of the next."""

    partition: str
    begin_ms: int
    end_ms: int

    @property
    def length_ms(self) -> int:
        """How long."""
        return self.end_ms - self.begin_ms


@dataclass(slots=True)
class _Open:
    spans: dict[str, Span] = field(default_factory=dict)


def spans(facts: Iterable[Fact]) -> list[Span]:
    """The spans of ownership in the facts of one group, in the order of their begins."""
    open_: dict[tuple[str, str], _Open] = {}
    found: list[Span] = []
    for fact in facts:
        if not isinstance(fact, Assigned | Revoked | Lost | ProcessStarted) or fact.time_ms is None:
            continue
        process = open_.setdefault((fact.place.source, fact.client), _Open())
        if isinstance(fact, Assigned):
            for partition in fact.partitions:
                span = Span(
                    partition, fact.client, fact.place.source, fact.time_ms, None, Stop.UNSEEN, fact, None, fact.member
                )
                process.spans.setdefault(partition, span)
        else:
            found += _closed(process, fact, fact.time_ms)
    found += [span for process in open_.values() for span in process.spans.values()]
    return sorted(found, key=lambda span: (span.begin_ms, span.partition))


def _closed(process: _Open, fact: ClientFact, time_ms: int) -> list[Span]:
    """The spans that a line ends. A restart ends all at an unknown time, if its release says that it is one."""
    if isinstance(fact, ProcessStarted):
        if not fact.release:
            return []
        ended = [replace(span, stop=Stop.RESTARTED) for span in process.spans.values()]
        process.spans.clear()
        return ended
    assert isinstance(fact, Revoked | Lost)
    stop = Stop.LOST if isinstance(fact, Lost) else Stop.REVOKED
    names = fact.partitions or tuple(process.spans)
    return [
        replace(process.spans.pop(name), end_ms=time_ms, stop=stop, ended_by=fact)
        for name in names
        if name in process.spans
    ]


def by_partition(found: Iterable[Span]) -> dict[str, list[Span]]:
    """The spans of each partition, in order."""
    ordered: dict[str, list[Span]] = {}
    for span in found:
        ordered.setdefault(span.partition, []).append(span)
    return dict(sorted(ordered.items()))


def overlaps(found: Sequence[Span], tolerance_ms: int) -> list[Overlap]:
    """Pairs of processes that own one partition together for longer than the clocks may differ."""
    pairs: list[Overlap] = []
    for ordered in by_partition(found).values():
        owning: list[Span] = []
        for later in ordered:
            owning = [span for span in owning if span.end_ms is not None and span.end_ms > later.begin_ms]
            pairs += [Overlap(earlier, later) for earlier in owning if _process_of(earlier) != _process_of(later)]
            owning.append(later)
    return [pair for pair in pairs if pair.length_ms > tolerance_ms]


def _process_of(span: Span) -> tuple[str, str]:
    return span.source, span.client


def gaps(found: Sequence[Span]) -> list[Gap]:
    """Times without owner. A span without a known end has none: the next owner's begin says no more."""
    missing: list[Gap] = []
    for partition, ordered in by_partition(found).items():
        owned_until: int | None = None
        for before, after in pairwise(ordered):
            if before.end_ms is None:
                owned_until = None
                continue
            owned_until = max(owned_until or before.end_ms, before.end_ms)
            if after.begin_ms > owned_until:
                missing.append(Gap(partition, owned_until, after.begin_ms))
    return missing
