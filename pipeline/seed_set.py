"""Some seeds, as ranges: those of a shard, those that a campaign still lacks, and those of a round of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Self

from rebalance_check.pipeline.campaign import missing, overlap


@dataclass(frozen=True, slots=True)
class SeedSet:
    """Seeds in order: ``pieces`` are ranges of which no two overlap, the lowest first."""

    pieces: tuple[range, ...] = ()

    @classmethod
    def of(cls, seeds: Iterable[int]) -> Self:
        """The set of these seeds, in any order."""
        if isinstance(seeds, range) and seeds.step == 1:
            return cls((seeds,) if seeds else ())
        pieces: list[range] = []
        for seed in sorted(set(seeds)):
            if pieces and pieces[-1].stop == seed:
                pieces[-1] = range(pieces[-1].start, seed + 1)
            else:
                pieces.append(range(seed, seed + 1))
        return cls(tuple(pieces))

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.pieces)

    def __contains__(self, seed: object) -> bool:
        if not isinstance(seed, int):
            return False
        place = bisect_right(self.pieces, seed, key=lambda piece: piece.start)
        return place > 0 and seed in self.pieces[place - 1]

    @property
    def first(self) -> int:
        """The lowest seed; only of a set that is not empty."""
        return self.pieces[0].start

    @property
    def last(self) -> int:
        """The highest seed; only of a set that is not empty."""
        return self.pieces[-1].stop - 1

    def without(self, done: Iterable[range]) -> SeedSet:
        """The seeds that no range of ``done`` covers."""
        ranges = sorted(done, key=lambda piece: piece.start)
        return SeedSet(tuple(gap for piece in self.pieces for gap in missing(piece, ranges)))

    def meets(self, other: SeedSet) -> bool:
        """Whether a seed is in both."""
        return any(overlap(piece, theirs) for piece in self.pieces for theirs in other.pieces)

    def cut(self, size: int) -> Iterator[SeedSet]:
        """The seeds in order, in sets of ``size``."""
        taken: list[range] = []
        free = size
        for piece in self.pieces:
            rest = piece
            while rest:
                taken.append(rest[:free])
                rest, free = rest[free:], free - len(taken[-1])
                if not free:
                    yield SeedSet(tuple(taken))
                    taken, free = [], size
        if taken:
            yield SeedSet(tuple(taken))
