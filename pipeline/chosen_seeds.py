"""Which seeds a campaign runs next: those whose runs may reach what no run before reached.

What a seed draws (protocol, faults, habits) is known without running it. So the seeds that come next are ranked by how
much runs with the same protocol, the same kinds of fault and the same pairs of kinds have added so far, each such
*trait* counting alike; one that no run had yet counts as a good one. The choice goes by rounds, and a round looks only
at the rounds before it, their runs taken in order. So it is the same on every machine, for any number of processes,
and where a killed campaign goes on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from typing import Final, TypeAlias

from rebalance_check.impl.runtime.faults import draw_plan
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import drawn_protocol
from rebalance_check.pipeline.campaign import Pool
from rebalance_check.pipeline.reached import Reached, Round
from rebalance_check.pipeline.seed_set import SeedSet

Trait: TypeAlias = tuple[str, ...]
"""A protocol, or a protocol with one or two kinds of fault."""

FIRST_ROUND: Final = 16
LARGEST_ROUND: Final = 256
"""How many seeds a round has, at least and at most; in between it is a quarter of the runs before it."""

CANDIDATES: Final = 320
"""So many seeds are looked at, of which the best are taken: the lowest that have not run yet."""

MEMORY: Final = 0.8
"""How much what a round added counts one round later: what was new is not new again."""

TRUST: Final = 2.0
"""How many runs a trait must have had for them to count as much as what is expected of a trait that had none."""

EXPECTED: Final = 1.0
"""What is expected of a trait that had no run: about what a run adds when its protocol has had some dozen."""


def traits(seed: int, options: SimulationOptions) -> tuple[Trait, ...]:
    """What is known of a run before it runs."""
    protocol, kinds = drawn_protocol(seed, options).value, [kind.value for kind in draw_plan(seed, options).kinds]
    return (
        (protocol,),
        *((protocol, kind) for kind in kinds),
        *((protocol, one, other) for one, other in combinations(kinds, 2)),
    )


class SeedChooser:
    """Chooses from ``pool``, ``but`` for some, the lowest seeds first where nothing else tells two apart."""

    def __init__(self, pool: range, options: SimulationOptions, but: Collection[int] = ()) -> None:
        self._options = options
        self._rest = (seed for seed in pool if seed not in but)
        self._candidates: dict[int, tuple[Trait, ...]] = {}
        self._traits: dict[int, tuple[Trait, ...]] = {}
        self._runs: dict[Trait, float] = {}
        self._added: dict[Trait, float] = {}
        self._of_protocol: Counter[Trait] = Counter()

    def choose(self, count: int) -> tuple[int, ...]:
        """The next seeds, the best first; fewer than ``count`` where the pool has no more.

        Each that is taken makes the others with its traits less wanted in this round.
        """
        self._traits = {}
        taken: Counter[Trait] = Counter()
        while len(self._traits) < count and self._fill():
            best = max(self._candidates, key=lambda seed: (self._prospect(self._candidates[seed], taken), -seed))
            self._traits[best] = self._candidates.pop(best)
            taken.update(self._traits[best])
        return tuple(self._traits)

    def _fill(self) -> bool:
        """Look at as many seeds as there should be, if there are; whether there is any."""
        for seed in self._rest if len(self._candidates) < CANDIDATES else ():
            self._candidates[seed] = traits(seed, self._options)
            if len(self._candidates) >= CANDIDATES:
                break
        return bool(self._candidates)

    def _prospect(self, found: tuple[Trait, ...], taken: Counter[Trait]) -> float:
        """What a run with these traits may add, from what others with each of them did."""
        runs, added = self._runs, self._added
        each = [
            (added.get(trait, 0.0) + EXPECTED * TRUST) / (runs.get(trait, 0.0) + taken[trait] + TRUST)
            for trait in found
        ]
        return math.fsum(each) / len(each)

    def learn(self, news: Iterable[tuple[int, int]]) -> None:
        """What the seeds of this round added: each seed with its number of new situations, in order of the seeds.

        A situation counts for less the more its protocol has shown, by the square root: one that has many does not take
        all runs, and none gets as many as the others that has nothing left to show.
        """
        for trait in self._runs:
            self._runs[trait] *= MEMORY
            self._added[trait] *= MEMORY
        for seed, new in news:
            found = self._traits[seed]
            self._of_protocol[found[0]] += new
            added = new / math.sqrt(self._of_protocol[found[0]]) if new else 0.0
            for trait in found:
                self._runs[trait] = self._runs.get(trait, 0.0) + 1
                self._added[trait] = self._added.get(trait, 0.0) + added


class ChosenRounds:
    """The rounds of one campaign that chooses its seeds from ``pool``; ``reached`` is what they reached together."""

    def __init__(self, pool: Pool, options: SimulationOptions, reached: Reached, but: Collection[int] = ()) -> None:
        self._chooser = SeedChooser(pool.seeds, options, but)
        self._left = pool.runs
        self._reached = reached
        self._judged: dict[int, frozenset[str]] = {}

    def __iter__(self) -> Iterator[SeedSet]:
        """Each round, which must be judged before the next one is asked for."""
        while seeds := self._chooser.choose(self._size()):
            if self._left is not None:
                self._left -= len(seeds)
            yield SeedSet.of(seeds)
            self.end_round()

    def _size(self) -> int:
        size = min(max(FIRST_ROUND, len(self._reached.chosen) // 4), LARGEST_ROUND)
        return size if self._left is None else min(size, self._left)

    def judged(self, seed: int, situations: Iterable[str]) -> None:
        """A run of this round is judged; runs may be so in any order."""
        self._judged[seed] = frozenset(situations)

    def end_round(self) -> None:
        """Learn from the runs that were judged, in order of their seeds; a round that was cut short may have few."""
        news = [(seed, self._reached.add(self._judged[seed])) for seed in sorted(self._judged)]
        self._judged.clear()
        if news:
            self._chooser.learn(news)
            self._reached.chosen += [seed for seed, _ in news]
            self._reached.rounds.append(Round(len(news), sum(new for _, new in news)))
