"""Random scenarios for Kafka's coordinator and ours, many at once; findings are made small."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final

from rebalance_check.impl.comparison.compare import compared, together
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, shrunk
from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS
from rebalance_check.impl.scenarios.random_scenarios import random_scenario
from rebalance_check.integration.comparison.scenarios.run import NAMES, OURS, ScenarioRun
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress

SHRINK_RUNS: Final = 600
SCENARIOS_AT_ONCE: Final = 32


def finding_in(
    kafka: VirtualKafka, scenario: Sequence[str], seed: int, names: Sequence[str] = NAMES
) -> Difference | None:
    """Run a scenario: its first finding."""
    return compared(ScenarioRun(kafka, scenario, seed, names))


def smaller(kafka: VirtualKafka, found: Difference) -> Difference:
    """The same finding (it must end in the same command) with as few lines as leaving out can reach."""

    def again(lines: tuple[Any, ...]) -> Difference | None:
        return finding_in(kafka, lines, found.start.seed, (found.start.name,))

    return shrunk(found, again, SHRINK_RUNS, keep=1)


def campaign(
    kafka: VirtualKafka,
    seeds: Sequence[int],
    *,
    steps: int = DEFAULT_STEPS,
    names: Sequence[str] = NAMES,
    faults: bool | None = None,
    variants: int = 1,
    progress: ProgressListener = ignore_progress,
) -> Compared:
    """Run the scenarios of ``seeds``. The campaign shrinks its findings, and gives up each invariant after
    ``variants`` findings that are made of different things.

    ``faults`` says whether scenarios have them; by default those of odd seeds do.
    """
    started, requests_before = time.monotonic(), kafka.requests
    result = Compared((kafka.release.name, OURS), "random scenarios")
    hunt = _Hunt(kafka, names, variants, (seeds, steps, faults))
    with closing(together(hunt, kafka.flush, SCENARIOS_AT_ONCE)) as runs:
        for run, found in runs:
            result.counts["steps"] += run.compared
            result.known += run.known
            if found is not None and (new := hunt.taken(found)) is not None:
                result.note(new)
            result.counts["scenarios"] += found is None or not hunt.goes_on(run, found)
            progress("scenarios", result.counts["scenarios"], len(seeds))
            if not hunt.names:
                break
    result.counts["requests"] = kafka.requests - requests_before
    result.seconds = time.monotonic() - started
    return result


class _Hunt:
    """Scenarios for findings still looked for: new ones, and those that go on without the claim that they broke."""

    def __init__(self, kafka: VirtualKafka, names: Sequence[str], variants: int, drawn: tuple[Any, ...]) -> None:
        self._kafka = kafka
        self._left = dict.fromkeys(names, variants)
        self._seen: set[tuple[str, frozenset[str]]] = set()
        self._seeds, self._steps, self._faults = iter(drawn[0]), *drawn[1:]
        self._again: deque[tuple[Sequence[str], int, list[str]]] = deque()

    def __iter__(self) -> _Hunt:
        return self

    def __next__(self) -> ScenarioRun:
        if self._again:
            return ScenarioRun(self._kafka, *self._again.popleft())
        seed = next(self._seeds)
        scenario = random_scenario(seed, steps=self._steps, faults=self._faults)
        return ScenarioRun(self._kafka, scenario, seed, self.names)

    @property
    def names(self) -> list[str]:
        """The claims that are not given up."""
        return [name for name, left in self._left.items() if left]

    def goes_on(self, run: ScenarioRun, found: Difference) -> bool:
        """Whether the scenario is run from its beginning, but for the claim that it broke."""
        names = [name for name in run.names if name != found.start.name and self._left[name]]
        if names:
            self._again.append((run.scenario, run.seed, names))
        return bool(names)

    def taken(self, found: Difference) -> Difference | None:
        """A finding, made small; None where another one is made of the same, or its claim is given up already."""
        if not self._left[found.start.name]:  # found by another scenario that was under way
            return None
        small = smaller(self._kafka, found)
        if ingredients(small) in self._seen:
            return None
        self._seen.add(ingredients(small))
        self._left[found.start.name] -= 1
        return small


def ingredients(found: Difference) -> tuple[str, frozenset[str]]:
    """The ingredients of a finding's scenario: two that have the same are taken for one."""
    marks = (f"{line.split()[0]}{' of an instance' if 'instance=' in line else ''}" for line in found.steps[1:])
    return found.start.name, frozenset(marks)
