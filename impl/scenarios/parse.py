"""Running a scenario on a coordinator: the answer to each of its steps, or the events that the coordinator records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.scenarios.commands import COORDINATOR_LANGUAGE
from rebalance_check.impl.scenarios.document import Scenario
from rebalance_check.impl.scenarios.runner import SETTINGS, Stage, settings_of
from rebalance_check.impl.steered.coordinator import SteeredCoordinator
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.model.vocabulary.events import Event


def history_of(scenario: Scenario | Sequence[str]) -> list[Event]:
    """The events that our coordinator records while a scenario, or the lines of one, run on it.

    Raises: RebalanceCheckError for a line that is malformed.
    """
    made = count(1)
    events: list[Event] = []

    def coordinator(config: GroupConfig) -> SteeredCoordinator:
        return InProcess(config, new_member_id=lambda prefix: f"{prefix}-{next(made)}", listener=events.append)

    answers_to(scenario if isinstance(scenario, Scenario) else Scenario.of(scenario), coordinator)
    return events


def answers_to(scenario: Scenario, coordinator: Callable[[GroupConfig], SteeredCoordinator]) -> list[str]:
    """The answer to each line of a scenario, by the coordinator that is made for its settings.

    Raises: RebalanceCheckError for a line that is malformed, with its file and number.
    """
    first, *rest = scenario.lines
    with scenario.located(first):
        settings = settings_of(first.step)
    stage = Stage(coordinator(settings or GroupConfig(**SETTINGS)))
    if settings is None:
        return COORDINATOR_LANGUAGE.answers(stage, scenario)
    return ["", *COORDINATOR_LANGUAGE.answers(stage, replace(scenario, lines=tuple(rest)))]
