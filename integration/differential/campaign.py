"""Campaigns of random scenarios: our coordinator beside one of Kafka's, which is judged by claims of its own, too.

Compared are all replies, whole, as their version of the wire carries them, the group as DescribeGroups shows it, its
generation and its leader. Member ids are those of the seed, on both sides. Where hash order decides in Kafka (who
leads, which protocol wins a tied vote), ours follows. Many scenarios are told at once, each in a environment of its own.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS
from rebalance_check.impl.scenarios.random_scenarios import random_scenario
from rebalance_check.integration.conformance.pipelining import Rounds
from rebalance_check.integration.differential.side_by_side import NAMES, Duet
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress

SHRINK_RUNS: Final = 600
SCENARIOS_AT_ONCE: Final = 32


@dataclass(frozen=True, slots=True)
class Finding:
    """A scenario that ends in a difference (``name`` is `DIFFERENTIAL`) or in a broken claim, and what was told then."""

    name: str
    seed: int
    scenario: tuple[str, ...]
    told: tuple[str, ...]

    def __str__(self) -> str:
        """The scenario, as one could write it down, and its end."""
        return "\n".join([f"[{self.name}, seed {self.seed}]", *self.scenario, *(f"  {line}" for line in self.told)])

    @property
    def ingredients(self) -> tuple[str, frozenset[str]]:
        """What the scenario is made of: two that have the same are taken for one."""
        marks = (f"{line.split()[0]}{' of an instance' if 'instance=' in line else ''}" for line in self.scenario[1:])
        return self.name, frozenset(marks)


@dataclass(frozen=True, slots=True)
class Campaign:
    """What a campaign did; ``found`` has the findings of each claim, shrunk, the first one first."""

    coordinator: str
    scenarios: int
    steps: int
    requests: int
    seconds: float
    found: tuple[Finding, ...]

    def __str__(self) -> str:
        """One line of figures."""
        return (
            f"{self.scenarios:,} scenarios on {self.coordinator}: {self.steps:,} steps compared or judged, "
            f"{self.requests:,} requests, {self.seconds:.1f} s ({self.requests / self.seconds:,.0f} requests/s), "
            f"{len(self.found)} findings"
        )


class Telling:
    """A scenario on its way, in steps that begin and finish; closed when it has ended."""

    def __init__(self, kafka: VirtualKafka, scenario: Sequence[str], seed: int, names: Sequence[str]) -> None:
        self.seed = seed
        self.scenario = tuple(scenario)
        self.names = names
        self.steps = 0
        self._at = 0
        self._duet = Duet(kafka, scenario[0], seed, names)
        self._pieces = self._in_pieces()

    def begin(self) -> bool:
        """Begin the next step; False at the end of the scenario."""
        piece = next(self._pieces, None)
        if piece is None:
            self.close()
            return False
        self._duet.begin(piece)
        return True

    def finish(self) -> Finding | None:
        """End the step; what it shows, with which the scenario ends."""
        told = self._duet.finish()
        self.steps += 1
        if told is None:
            return None
        self.close()
        return Finding(told[0], self.seed, self.scenario[: self._at + 1], told[1])

    def close(self) -> None:
        """Give back what it held."""
        self._duet.__exit__()

    def _in_pieces(self) -> Iterator[str]:
        for at, line in enumerate(self.scenario[1:], 1):
            self._at = at
            yield from self._duet.pieces(line)


def finding_in(
    kafka: VirtualKafka, scenario: Sequence[str], seed: int, names: Sequence[str] = NAMES
) -> tuple[Finding | None, int]:
    """Tell a scenario: what is found first, and how many steps were compared or judged."""
    telling = Telling(kafka, scenario, seed, names)
    while telling.begin():
        found = telling.finish()
        if found is not None:
            return found, telling.steps
    return None, telling.steps


def shrunk(kafka: VirtualKafka, found: Finding) -> Finding:
    """The same finding (a difference must end in the same command) with as few lines as leaving out can reach."""
    config, last = found.scenario[0], found.scenario[-1].split()[0]

    def again(lines: tuple[str, ...]) -> Finding | None:
        smaller, _ = finding_in(kafka, (config, *lines), found.seed, (found.name,))
        return smaller if smaller is not None and smaller.scenario[-1].split()[0] == last else None

    return ddmin(found, lambda one: one.scenario[1:], again, SHRINK_RUNS)


def campaign(
    kafka: VirtualKafka,
    seeds: Sequence[int],
    *,
    steps: int = DEFAULT_STEPS,
    names: Sequence[str] = NAMES,
    faults: bool | None = None,
    variants: int = 1,
    progress: ProgressListener = ignore_progress,
) -> Campaign:
    """Tell the scenarios of ``seeds``. What is found is shrunk, and each claim is given up after ``variants`` findings
    that are made of different things.

    ``faults`` says whether scenarios have them; by default those of odd seeds do.
    """
    started, requests_before = time.monotonic(), kafka.requests
    hunt = _Hunt(kafka, names, variants)
    waiting = iter(seeds)
    done: list[Telling] = []

    def fresh(count: int) -> Iterator[Telling]:
        for seed in itertools.islice(waiting, count):
            yield hunt.telling(seed, random_scenario(seed, steps=steps, faults=faults), hunt.names)

    rounds = Rounds(kafka, fresh, hunt.finish, done.append, SCENARIOS_AT_ONCE)
    while rounds.go() and hunt.names:
        progress("scenarios", len(done), len(seeds))
    going = rounds.stop()
    for telling in going:
        telling.close()
    return Campaign(
        kafka.release.name, len(done) + len(going), hunt.steps, kafka.requests - requests_before,
        time.monotonic() - started, tuple(hunt.found),
    )  # fmt: skip


class _Hunt:
    """What is still looked for, and what was found."""

    def __init__(self, kafka: VirtualKafka, names: Sequence[str], variants: int) -> None:
        self.steps = 0
        self.found: list[Finding] = []
        self._kafka = kafka
        self._left = dict.fromkeys(names, variants)
        self._seen: set[tuple[str, frozenset[str]]] = set()

    @property
    def names(self) -> list[str]:
        """The claims that are not given up."""
        return [name for name, left in self._left.items() if left]

    def telling(self, seed: int, scenario: Sequence[str], names: Sequence[str]) -> Telling:
        """The beginning of a scenario."""
        return Telling(self._kafka, scenario, seed, names)

    def finish(self, telling: Telling) -> Telling | None:
        """End a step; how to go on: with the same scenario, with it from its beginning but for the claim that it broke,
        or not at all."""
        self.steps += 1
        finding = telling.finish()
        if finding is None:
            return telling
        self._take(finding)
        names = [name for name in telling.names if name != finding.name and self._left[name]]
        return self.telling(telling.seed, telling.scenario, names) if names else None

    def _take(self, finding: Finding) -> None:
        if not self._left[finding.name]:  # found by another scenario that was under way
            return
        small = shrunk(self._kafka, finding)
        if small.ingredients not in self._seen:
            self._seen.add(small.ingredients)
            self._left[finding.name] -= 1
            self.found.append(small)
