"""Campaigns of random scenarios on one of Kafka's coordinators, compared with ours and judged by the catalogue.

Compared are all replies, whole, as their version of the wire carries them, the group as DescribeGroups shows it, its
generation and its leader. Member ids are those of the seed, on both sides. Where hash order decides in Kafka (who
leads, which protocol wins a tied vote), ours follows. Many scenarios run at once, each in an environment of its own.
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
from rebalance_check.integration.differential.side_by_side import NAMES, SideBySide
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress

SHRINK_RUNS: Final = 600
SCENARIOS_AT_ONCE: Final = 32


@dataclass(frozen=True, slots=True)
class Finding:
    """A scenario that ends in a violated invariant (``name``) or in a difference (`DIFFERENTIAL`), with its proof."""

    name: str
    seed: int
    scenario: tuple[str, ...]
    shown: tuple[str, ...]

    def __str__(self) -> str:
        """The scenario, as one could write it down, and its end."""
        return "\n".join([f"[{self.name}, seed {self.seed}]", *self.scenario, *(f"  {line}" for line in self.shown)])

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


class RunningScenario:
    """A scenario on its way, in steps that begin and finish; closed when it has ended."""

    def __init__(self, kafka: VirtualKafka, scenario: Sequence[str], seed: int, names: Sequence[str]) -> None:
        self.seed = seed
        self.scenario = tuple(scenario)
        self.names = names
        self.steps = 0
        self._at = 0
        self._pair = SideBySide(kafka, scenario[0], seed, names)
        self._pieces = self._in_pieces()

    def begin(self) -> bool:
        """Begin the next step; False at the end of the scenario."""
        piece = next(self._pieces, None)
        if piece is None:
            self.close()
            return False
        self._pair.begin(piece)
        return True

    def finish(self) -> Finding | None:
        """End the step; what it shows, with which the scenario ends."""
        shown = self._pair.finish()
        self.steps += 1
        if shown is None:
            return None
        self.close()
        return Finding(shown[0], self.seed, self.scenario[: self._at + 1], shown[1])

    def close(self) -> None:
        """Give back what it held."""
        self._pair.__exit__()

    def _in_pieces(self) -> Iterator[str]:
        for at, line in enumerate(self.scenario[1:], 1):
            self._at = at
            yield from self._pair.pieces(line)


def finding_in(
    kafka: VirtualKafka, scenario: Sequence[str], seed: int, names: Sequence[str] = NAMES
) -> tuple[Finding | None, int]:
    """Run a scenario: what is found first, and how many steps were compared or judged."""
    running = RunningScenario(kafka, scenario, seed, names)
    while running.begin():
        found = running.finish()
        if found is not None:
            return found, running.steps
    return None, running.steps


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
    """Run the scenarios of ``seeds``. The campaign shrinks what it finds, and gives up each invariant after
    ``variants`` findings that are made of different things.

    ``faults`` says whether scenarios have them; by default those of odd seeds do.
    """
    started, requests_before = time.monotonic(), kafka.requests
    hunt = _Hunt(kafka, names, variants)
    waiting = iter(seeds)
    done: list[RunningScenario] = []

    def next_scenarios(count: int) -> Iterator[RunningScenario]:
        for seed in itertools.islice(waiting, count):
            yield hunt.running(seed, random_scenario(seed, steps=steps, faults=faults), hunt.names)

    rounds = Rounds(kafka, next_scenarios, hunt.finish, done.append, SCENARIOS_AT_ONCE)
    while rounds.go() and hunt.names:
        progress("scenarios", len(done), len(seeds))
    going = rounds.stop()
    for running in going:
        running.close()
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

    def running(self, seed: int, scenario: Sequence[str], names: Sequence[str]) -> RunningScenario:
        """The beginning of a scenario."""
        return RunningScenario(self._kafka, scenario, seed, names)

    def finish(self, running: RunningScenario) -> RunningScenario | None:
        """End a step; how to go on: with the same scenario, with it from its beginning but for the claim that it broke,
        or not at all."""
        self.steps += 1
        finding = running.finish()
        if finding is None:
            return running
        self._take(finding)
        names = [name for name in running.names if name != finding.name and self._left[name]]
        return self.running(running.seed, running.scenario, names) if names else None

    def _take(self, finding: Finding) -> None:
        if not self._left[finding.name]:  # found by another scenario that was under way
            return
        small = shrunk(self._kafka, finding)
        if small.ingredients not in self._seen:
            self._seen.add(small.ingredients)
            self._left[finding.name] -= 1
            self.found.append(small)
