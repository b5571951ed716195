"""Scenarios on our own coordinator, judged step by step: what `fuzz --subject coordinator` and mutant search repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.scenarios.recorded import OurScenario
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.invariants.expectations import FAMILY
from rebalance_check.properties.judge import Judge, Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Counterexample

SHRINK_RUNS: Final = 600
KEPT: Final = tuple(invariant for invariant in CATALOGUE if invariant.family != FAMILY)
"""What our coordinator keeps to: all invariants but those that Kafka's coordinators break, and ours as they do."""


@dataclass(frozen=True, slots=True)
class BrokenScenario:
    """A scenario that ends with the step that breaks an invariant.

    ``lines`` are its lines, the settings first; ``history`` are the events until then.
    """

    lines: tuple[str, ...]
    counterexample: Counterexample
    history: tuple[Event, ...]

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


def break_scenario(lines: Sequence[str], invariants: Sequence[Invariant]) -> BrokenScenario | None:
    """Run a scenario until a step breaks one of ``invariants``; None if none does. ``lines`` begin with the settings."""
    judge, history = Judge(invariants), list[Event]()

    def listen(event: Event) -> None:
        history.append(event)
        judge.observe(event)

    for index in OurScenario(lines, listen).steps():
        found = judge.judgement().counterexamples
        if found:
            return BrokenScenario(tuple(lines[: index + 2]), found[0], tuple(history))
    return None


def shrink_scenario(broken: BrokenScenario, invariant: Invariant) -> BrokenScenario:
    """The same invariant broken by as few lines as leaving out can reach."""
    return shortest(broken, lambda lines: break_scenario(lines, [invariant]))


def shortest(broken: BrokenScenario, again: Callable[[Sequence[str]], BrokenScenario | None]) -> BrokenScenario:
    """The scenario with as few lines as leaving out can reach; ``again`` runs one that is shorter."""
    settings = broken.lines[0]
    return ddmin(broken, lambda one: one.lines[1:], lambda lines: again((settings, *lines)), SHRINK_RUNS)
