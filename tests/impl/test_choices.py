"""The choices of a run: noted, they change nothing; given, they repeat the run; left out, everything is quiet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.choices import Choices, read, written
from rebalance_check.impl.runtime.options import ALL_FAULTS, FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule, simulate
from rebalance_check.impl.simulator.simulation import simulate_into
from rebalance_check.model.vocabulary.actions import Action, ActionKind, parse_action
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RequestAnswered

DRAWN = [one for one in SimulatedProtocol if one is not SimulatedProtocol.MIXED]


def noted(seed: int, options: SimulationOptions) -> tuple[list[Event], Choices]:
    history, choices = list[Event](), Choices()
    simulate_into(seed, options, history.append, choices=choices)
    return history, choices


def spelled_out(seed: int, options: SimulationOptions, choices: Choices) -> SimulationOptions:
    actions = churn_schedule(seed, options).actions[:-1]
    return replace(options, actions=tuple(map(str, actions)), choices=written(choices.made))


@pytest.mark.parametrize("seed", [2, 4])
@pytest.mark.parametrize("protocol", DRAWN)
def test_noting_changes_nothing__and_what_was_noted_repeats_the_run(protocol: SimulatedProtocol, seed: int) -> None:
    options = SimulationOptions(protocol=protocol, faults=ALL_FAULTS)

    history, choices = noted(seed, options)

    assert history == simulate(seed, options)
    assert simulate(seed, spelled_out(seed, options, choices)) == history


def test_no_choices__a_quiet_run() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=(FaultKind.DROP, FaultKind.DELAY), steps=0)
    seed = next(seed for seed in range(100) if any(is_lost(event) for event in simulate(seed, options)))

    assert not any(is_lost(event) for event in simulate(seed, replace(options, choices=())))


def is_lost(event: Event) -> bool:
    return isinstance(event, RequestAnswered) and not event.error


def test_a_choice_strikes_the_message_that_it_names() -> None:
    one = SimulationOptions(protocol=SimulatedProtocol.EAGER, members=1, steps=0, choices=("m0:1.lost",))

    history = simulate(0, one)

    assert [event.request for event in history if isinstance(event, RequestAnswered) and is_lost(event)] == [1]


def test_choices_are_written_as_they_are_read() -> None:
    words = ("m0:3.lost", "m1:4-reply.way0=340", "process m1.random5=0.25")

    assert written(read(words)) == words
    for word in ("lost", "m0:3.way0=soon"):
        with pytest.raises(RebalanceCheckError, match="is no choice of a run: write ADDRESS or ADDRESS=NUMBER"):
            SimulationOptions(choices=(word,))


def test_actions_are_written_as_they_are_read() -> None:
    for action in (Action(ActionKind.START_MEMBER, 2), Action(ActionKind.ADVANCE_CLOCK, 0, 500)):
        assert parse_action(str(action)) == action
    for text in ("StartMember", "Dance m0", "StartMember m0 [x]"):
        with pytest.raises(RebalanceCheckError, match="is no action: write KIND mNUMBER"):
            SimulationOptions(actions=(text,))
    with pytest.raises(RebalanceCheckError, match="an action is about m3, and there are 3 members"):
        SimulationOptions(actions=("StartMember m3",))


def test_written_actions_stand_in_the_place_of_what_the_seed_draws() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, actions=("StartMember m1", "AdvanceClock m0 [9]"))

    actions = churn_schedule(7, options).actions

    assert [str(action) for action in actions] == ["StartMember m1", "AdvanceClock m0 [9]", "Heal m0"]
    none = churn_schedule(7, replace(options, actions=())).actions
    assert [str(action) for action in none] == ["StartMember m0", "Heal m0"]
