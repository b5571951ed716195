"""Running a scenario on a coordinator: the answer to each of its steps, or the events that the coordinator records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.scenarios.commands import COORDINATOR_LANGUAGE
from rebalance_check.impl.scenarios.document import Scenario
from rebalance_check.impl.scenarios.recorded import OurScenario
from rebalance_check.impl.scenarios.runner import SETTINGS, ScenarioRunner, settings_of
from rebalance_check.impl.steered.coordinator import SteeredCoordinator
from rebalance_check.model.vocabulary.events import Event


def history_of(scenario: Scenario | Sequence[str], seed: int = 0) -> list[Event]:
    """The events of a scenario, or of the lines of one, on our coordinator: those of its steps and of the coordinator.

    Raises: RebalanceCheckError for a line that is malformed.
    """
    events: list[Event] = []
    lines = [line.step for line in scenario.lines] if isinstance(scenario, Scenario) else list(scenario)
    for _ in OurScenario(lines, events.append, seed).steps():
        pass
    return events


def answers_to(scenario: Scenario, coordinator: Callable[[GroupConfig], SteeredCoordinator]) -> list[str]:
    """The answer to each line of a scenario, by the coordinator that is made for its settings.

    Raises: RebalanceCheckError for a line that is malformed, with its file and number.
    """
    first, *rest = scenario.lines
    with scenario.located(first):
        settings = settings_of(first.step)
    runner = ScenarioRunner(coordinator(settings or GroupConfig(**SETTINGS)))
    if settings is None:
        return COORDINATOR_LANGUAGE.answers(runner, scenario)
    return ["", *COORDINATOR_LANGUAGE.answers(runner, replace(scenario, lines=tuple(rest)))]
