"""Commits, folded: for each group and partition the count, the ends, and those that went back; not one fact for each.

A topic has thousands of commits for each record of a group, and all that the rules ask of them is whether one is lower
than the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rebalance_check.pipeline.diagnose.facts import Fact, OffsetRecorded, Place

KEPT: Final = 5
"""So many of the commits that went back are kept of each partition: the first of them, and the last."""
_WORD: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitsFolded(Fact):
    """The commits of a group for one partition in one source, in the order of the source.

    ``time_ms`` is the latest time, ``since_ms`` the earliest. Offsets are None for a tombstone. ``log`` names the
    partition of ``__consumer_offsets`` whose offsets ``begin`` and ``end`` are; empty: they are lines of a text.
    """

    partition: str
    count: int
    since_ms: int | None
    first: int | None
    last: int | None
    sums: tuple[int, int]
    """Of the times and of the offsets: copies have equal ones."""
    first_ms: int | None = field(compare=False)
    log: str = field(compare=False)
    begin: int = field(compare=False)
    end: int = field(compare=False)
    back: tuple[OffsetRecorded, ...] = field(compare=False)


class Run(NamedTuple):
    """Commits of one group and partition that follow one another: one, or many of them."""

    size: int
    begin: int
    end: int
    first_ms: int | None
    since_ms: int | None
    until_ms: int | None
    first: int | None
    last: int | None
    times: int
    offsets: int


@dataclass(slots=True)
class Fold:
    """All commits of one group and partition so far."""

    group: str
    partition: str
    run: Run
    back: list[OffsetRecorded] = field(default_factory=list)
    last_back: OffsetRecorded | None = None

    def join(self, more: Run, source: str) -> None:
        """Add commits that follow.

        Those with lower offsets in the log come late, at the end of their transaction: they change nothing that a
        later record has set already (``GroupMetadata.completePendingTxnOffsetCommit``).
        """
        run = self.run
        follows = more.begin >= run.end
        if follows and more.first is not None and run.last is not None and more.first < run.last:
            self.went_back(source, more.begin, more.first_ms, more.first)
        self.run = Run(
            run.size + more.size, run.begin, more.end if follows else run.end, run.first_ms,
            _least(run.since_ms, more.since_ms), _most(run.until_ms, more.until_ms), run.first,
            more.last if follows else run.last, run.times + more.times, run.offsets + more.offsets,
        )  # fmt: skip

    def went_back(self, source: str, number: int, time_ms: int | None, offset: int) -> None:
        """Note a commit that is lower than the one before it."""
        fact = OffsetRecorded(
            place=Place(source, number), time_ms=time_ms, group=self.group, partition=self.partition, offset=offset
        )
        if len(self.back) < KEPT:
            self.back.append(fact)
        else:
            self.last_back = fact


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _most(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


@dataclass(slots=True)
class Commits:
    """The commits of one source. ``log``: the partition whose offsets the places are; empty: places are lines."""

    log: str = ""
    count: int = 0
    folds: dict[tuple[str, str], tuple[str, Fold]] = field(default_factory=dict)

    def take(self, fact: OffsetRecorded) -> None:
        """Add one commit."""
        time, offset, number = fact.time_ms, fact.offset, fact.place.number
        run = Run(1, number, number, time, time, time, offset, offset, time or 0, -1 if offset is None else offset)
        self.join(fact.group, fact.partition, run, fact.place.source)

    def join(self, group: str, partition: str, run: Run, source: str) -> Fold:
        """Add commits of one group and partition."""
        self.count += run.size
        found = self.folds.get((group, partition))
        if found is None:
            found = self.folds[group, partition] = source, Fold(group, partition, run)
        else:
            found[1].join(run, source)
        return found[1]

    def facts(self) -> Iterator[CommitsFolded]:
        """A fact for each group and partition."""
        for source, fold in self.folds.values():
            run = fold.run
            yield CommitsFolded(
                place=Place(source, run.end), time_ms=run.until_ms, group=fold.group, partition=fold.partition,
                count=run.size, since_ms=run.since_ms, first=run.first, last=run.last, first_ms=run.first_ms,
                sums=(run.times & _WORD, run.offsets & _WORD), log=self.log, begin=run.begin,
                end=run.end, back=(*fold.back, *(() if fold.last_back is None else (fold.last_back,))),
            )  # fmt: skip


def went_back(facts: Iterable[Fact]) -> list[OffsetRecorded]:
    """The commits of one group that are lower than the one before them, in the order of their times."""
    by_partition: dict[str, list[CommitsFolded]] = {}
    for fact in facts:
        if isinstance(fact, CommitsFolded):
            by_partition.setdefault(fact.partition, []).append(fact)
    found = [one for folds in by_partition.values() for one in _between(folds)]
    return sorted(found, key=lambda one: (one.time_ms is None, one.time_ms or 0, one.place.number))


def _between(folds: Sequence[CommitsFolded]) -> Iterable[OffsetRecorded]:
    """Those within the sources, and those between two sources of which the second begins where the first has ended."""
    by_number = bool(folds[0].log) and len({one.log for one in folds}) == 1
    found = [one for fold in folds for one in fold.back]
    before: CommitsFolded | None = None
    for fold in sorted(folds, key=lambda one: one.begin if by_number else one.since_ms or 0):
        if before is not None:
            begin, end = (fold.begin, before.end) if by_number else (fold.since_ms or 0, before.time_ms or 0)
            if begin >= end and fold.first is not None and before.last is not None and fold.first < before.last:
                place = Place(fold.place.source, fold.begin)
                found.append(OffsetRecorded(place=place, time_ms=fold.first_ms, group=fold.group,
                                            partition=fold.partition, offset=fold.first))  # fmt: skip
            if begin < end and (fold.end <= before.end if by_number else (fold.time_ms or 0) <= end):
                continue  # the source before has all of it
        before = fold
    return {(one.place.number if by_number else 0, one.time_ms, one.offset): one for one in found}.values()
