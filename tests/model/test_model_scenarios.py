"""Scenarios of the model: actions in a fixed order, and the group and its members after each.

The scenarios stand in ``tests/data/model/*.scenario``; ``docs/scenarios.md`` says how to read them. A line has actions
in Kafka's spelling, separated by commas, and the row that the last of them leaves behind. The events of every scenario
are judged by the whole catalogue of invariants.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rebalance_check.impl.scenarios import Language, Options, Scenario
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.report.board import COORDINATOR
from tests.event_rows import SEPARATOR, Rows, aligned
from tests.expectations import Expectations, scenario_parameters
from tests.model.model_run import ModelRun

LANGUAGE: Language[ModelScenario] = Language("model scenarios")


class ModelScenario:
    """A run of the model that a scenario steps through; its first line says in which bounds."""

    def __init__(self) -> None:
        self.run: ModelRun | None = None
        self.rows = Rows(())

    @property
    def started(self) -> ModelRun:
        """The run.

        Raises: RebalanceCheckError before the bounds are named.
        """
        if self.run is None:
            raise RebalanceCheckError("the bounds are missing: write bounds ADDRESS in the first line")
        return self.run

    def find(self, kind: ActionKind, words: list[str]) -> Action:
        """The first enabled action of this kind, of the member (``m0``) and with the choice (``[1]``) that are named.

        Raises: RebalanceCheckError when none is enabled, with those that are.
        """
        enabled = self.started.enabled()
        named = " ".join(words)
        for action in enabled:
            member, choice = f"m{action.member}", f"[{action.choice}]"
            if action.kind is kind and named in {"", member, choice, f"{member} {choice}"}:
                return action
        listed = ", ".join(map(str, enabled)) or "none"
        raise RebalanceCheckError(f"{kind} {named} is not enabled in this state of the model; enabled are: {listed}")


@LANGUAGE.verb("bounds", "ADDRESS")
def bounds(scenario: ModelScenario, words: list[str], _: Options) -> str:
    """Begin a run in these bounds."""
    chosen = Bounds.from_address(words[0])
    scenario.run = ModelRun(chosen)
    scenario.rows = Rows([f"m{m}" for m in range(chosen.members)])
    scenario.rows.observe(scenario.run.begin())
    return ""


@LANGUAGE.verb("columns")
def columns(scenario: ModelScenario, _words: list[str], _: Options) -> str:
    """Name the columns of the answers: the coordinator, then each member, a static one with its instance id."""
    chosen = scenario.started.bounds
    members = [f"m{m}" for m in range(chosen.members)]
    instances = [chosen.instance(m) for m in range(chosen.members)]
    named = [f"{m} ({instance})" if instance else m for m, instance in zip(members, instances, strict=True)]
    return SEPARATOR.join([COORDINATOR, *named])


@LANGUAGE.verb("enabled", "[MEMBER]")
def enabled(scenario: ModelScenario, words: list[str], _: Options) -> str:
    """Show the actions that are enabled, or those of one member."""
    listed = [str(action) for action in scenario.started.enabled()]
    return ", ".join(each for each in listed if not words or words[0] in each.split()) or "none"


def performing(kind: ActionKind) -> Callable[[ModelScenario, list[str], Options], str]:
    def perform(scenario: ModelScenario, words: list[str], _: Options) -> str:
        """Perform an action of the model."""
        run = scenario.started
        events = run.step(scenario.find(kind, words))
        status = run.status.name.capitalize()
        group = status if status == "Dead" else f"{status} g{run.state.generation}"
        return scenario.rows.row(events, coordinator=group)

    return perform


for each in ActionKind:
    LANGUAGE.verb(each.value, "[MEMBER] [CHOICE]")(performing(each))


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("model"))
def test_a_scenario_of_the_model_runs_as_it_is_written(
    path: Path, scenario: Scenario, expectations: Expectations
) -> None:
    answers = LANGUAGE.answers(ModelScenario(), scenario)
    expectations.scenario(path, scenario, aligned(answers), aligned=True)


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("model"))
def test_a_scenario_of_the_model_breaks_no_invariant(path: Path, scenario: Scenario) -> None:
    runner = ModelScenario()
    LANGUAGE.answers(runner, scenario)
    assert judge(runner.rows.events, CATALOGUE).counterexamples == ()


def test_an_action_that_is_not_enabled_is_refused__with_those_that_are() -> None:
    scenario = Scenario.of(
        ["bounds eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off", "SyncGroup m0"],
        file="x.scenario",
    )
    with pytest.raises(RebalanceCheckError, match=r"x\.scenario:2: SyncGroup m0 is not .* enabled are: SendJoinGroup"):
        LANGUAGE.answers(ModelScenario(), scenario)


def test_a_scenario_without_bounds_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="line 1: the bounds are missing: write bounds ADDRESS"):
        LANGUAGE.answers(ModelScenario(), Scenario.of(["SendJoinGroup m0"]))
