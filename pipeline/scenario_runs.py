"""Scenarios on our own coordinator, judged step by step: `fuzz --subject coordinator` and mutant search repeat them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.scenarios import history_of
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.scenarios.recorded import OurScenario
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE, KAFKA_BREAKS
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Counterexample

SHRINK_RUNS: Final = 600
SHRINK_SECONDS: Final = 25.0
KEPT: Final = tuple(invariant for invariant in CATALOGUE if invariant not in KAFKA_BREAKS)
"""The invariants of our coordinator: all but those that Kafka's coordinators break, and ours as they do."""


def simulate_scenario(seed: int, options: SimulationOptions) -> list[Event]:
    """The history of the random scenario of ``seed``: of ``options`` the number of ``steps`` and the ``mutant`` count.

    Raises: RebalanceCheckError for an unknown mutant.
    """
    with planted(options.mutant):
        return history_of(wide_scenario(seed, steps=options.steps), seed)


@dataclass(frozen=True, slots=True)
class BrokenScenario:
    """A scenario that ends with the step that breaks an invariant.

    ``lines`` are its lines, the settings first; ``history`` are the events until then. ``unfinished`` says how far
    shrinking got where its time ended before it did.
    """

    lines: tuple[str, ...]
    counterexample: Counterexample
    history: tuple[Event, ...]
    unfinished: str = ""

    @property
    def steps(self) -> int:
        """Its lines, without the settings."""
        return len(self.lines) - 1


def judge_scenario(lines: Sequence[str], invariants: Sequence[Invariant]) -> Judgement:
    """The verdicts on a whole scenario; ``lines`` begin with the settings."""
    judge = Judge(invariants)
    for _ in OurScenario(lines, judge.observe).steps():
        pass
    return judge.judgement()


def break_scenario(lines: Sequence[str], invariants: Sequence[Invariant], seed: int = 0) -> BrokenScenario | None:
    """Run a scenario until a step breaks one of ``invariants``; None if none does. ``lines[0]`` has the settings."""
    judge, history = Judge(invariants), list[Event]()

    def listen(event: Event) -> None:
        history.append(event)
        judge.observe(event)

    for index in OurScenario(lines, listen, seed).steps():
        found = judge.judgement().counterexamples
        if found:
            return BrokenScenario(tuple(lines[: index + 2]), found[0], tuple(history))
    return None


def shrink_scenario(
    broken: BrokenScenario, invariant: Invariant, seed: int = 0, *, seconds: float = SHRINK_SECONDS
) -> BrokenScenario:
    """The same invariant broken by as few lines as leaving out can reach in about ``seconds``; ``seed`` is its own."""
    settings, end, runs = broken.lines[0], time.monotonic() + seconds, 0

    def still_fails(lines: tuple[str, ...]) -> BrokenScenario | None:
        nonlocal runs
        if time.monotonic() > end:
            return None
        runs += 1
        return break_scenario((settings, *lines), [invariant], seed)

    small = ddmin(broken, lambda one: one.lines[1:], still_fails, SHRINK_RUNS)
    if runs < SHRINK_RUNS and time.monotonic() <= end:
        return small
    return replace(small, unfinished=f"shrinking ended after {runs} runs: some of the lines may not be needed")
