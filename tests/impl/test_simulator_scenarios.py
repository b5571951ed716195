"""Scenarios of the simulator: churn in a fixed order, and what has become of the group after each step.

The scenarios stand in ``tests/data/simulator/*.scenario``; ``docs/scenarios.md`` says how to read them. The events of
every scenario are judged by the whole catalogue of invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from rebalance_check.impl.runtime.faults import draw_plan
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.scenarios import Language, Options, Scenario
from rebalance_check.impl.simulator import SimulatorSubject
from rebalance_check.impl.simulator.environment import GROUP_CHURN
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.report.board import COORDINATOR
from tests.event_rows import SEPARATOR, Rows, aligned
from tests.expectations import Expectations, scenario_parameters

SEEDS: Final = range(1_000)


class SimulatorScenario:
    """A simulated group to which the actions of a scenario happen; its first line says which."""

    def __init__(self) -> None:
        self.subject: SimulatorSubject | None = None
        self.rows = Rows(())

    def perform(self, action: Action) -> str:
        """Perform an action; the row after it.

        Raises: RebalanceCheckError before the group is named.
        """
        if self.subject is None:
            raise RebalanceCheckError("the group is missing: write group PROTOCOL in the first line")
        return self.rows.row(self.subject.perform(action), replies=False)

    def end(self) -> Sequence[Event]:
        """End the run; all of its events."""
        if self.subject is not None:
            self.rows.observe(self.subject.close())
        return self.rows.events


LANGUAGE: Final[Language[SimulatorScenario]] = Language("simulator scenarios")


@LANGUAGE.verb("group", "PROTOCOL", "members# partitions# faults")
def group(scenario: SimulatorScenario, words: list[str], options: Options) -> str:
    """Begin with a group of this protocol: eager, cooperative, connect or election. ``faults=pause,failover`` lists the
    faults that its network and coordinator may have (none by default); the seed is the first that draws them all.
    """
    faults = tuple(FaultKind(name) for name in options.get("faults", "").split(",") if name)
    chosen = SimulationOptions(protocol=SimulatedProtocol(words[0]), faults=faults)
    seed = next(seed for seed in SEEDS if set(draw_plan(seed, chosen).kinds) == set(faults))
    size = Bounds(
        members=int(options.get("members", "2")), partitions=int(options.get("partitions", "2")), generations=20
    )
    scenario.subject = SimulatorSubject(chosen)
    members = [f"m{m}" for m in range(size.members)]
    scenario.rows = Rows(members)
    scenario.rows.observe(scenario.subject.open(size, seed))
    return SEPARATOR.join([COORDINATOR, *members])


def performing(kind: ActionKind) -> Callable[[SimulatorScenario, list[str], Options], str]:
    def perform(scenario: SimulatorScenario, words: list[str], _: Options) -> str:
        """Perform an action of churn; ``AdvanceClock [5000]`` lets 5 s pass."""
        member = next((int(word[1:]) for word in words if word.startswith("m")), 0)
        choice = next((int(word.strip("[]")) for word in words if word.startswith("[")), 0)
        return scenario.perform(Action(kind, member, choice))

    return perform


for each in GROUP_CHURN:
    LANGUAGE.verb(each.value, "[MEMBER] [CHOICE]")(performing(each))


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("simulator"))
def test_a_scenario_of_the_simulator_runs_as_it_is_written__and_breaks_no_invariant(
    path: Path, scenario: Scenario, expectations: Expectations
) -> None:
    runner = SimulatorScenario()
    answers = LANGUAGE.answers(runner, scenario)
    expectations.scenario(path, scenario, aligned(answers), aligned=True)
    assert judge(runner.end(), CATALOGUE).counterexamples == ()


def test_a_scenario_without_a_group_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="line 1: the group is missing: write group PROTOCOL"):
        LANGUAGE.answers(SimulatorScenario(), Scenario.of(["StartMember m0"]))
