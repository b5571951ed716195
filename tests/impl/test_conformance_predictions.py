"""Runs share parts of the model, which stay as the model says, also when they were forgotten meanwhile."""

from random import Random

import pytest

from rebalance_check.impl.comparison.to_model import predictions as moves_module
from rebalance_check.impl.comparison.to_model.predictions import Predictions
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.bounds import Bounds

BOUNDS = Bounds.from_address(
    "cooperative?members=2&partitions=2&generations=2&leaves=1&initial_delay=off&member_id_required"
)


def walked(predictions: Predictions, seed: int, steps: int = 60) -> list[bytes]:
    """The states of a random walk, each compared with the model's own."""
    machine, rng = machine_for(BOUNDS), Random(seed)
    state, own, seen = predictions.initial(), machine.initial(), list[bytes]()
    for _ in range(steps):
        enabled = predictions.enabled(state)
        assert enabled == machine.enabled(own)
        if not enabled:
            break
        action = rng.choice(enabled)
        assert machine.step(own, action)
        state = predictions.after(state, action)
        seen.append(predictions.pack(state))
        assert seen[-1] == machine.pack(own)
    return seen


@pytest.mark.parametrize("remembered", [1, 5, 1 << 15])
def test_shared_moves_are_those_of_the_model__however_many_states_are_remembered(
    remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves_module, "REMEMBERED", remembered)
    shared = Predictions(BOUNDS)
    for seed in range(6):
        assert walked(shared, seed) == walked(Predictions(BOUNDS), seed)


def test_equal_states_are_one_object() -> None:
    predictions = Predictions(BOUNDS)
    start = predictions.initial()
    action = predictions.enabled(start)[0]
    assert predictions.after(start, action) is predictions.after(predictions.machine.copy(start), action)
    assert predictions.pack(start) == predictions.machine.pack(predictions.machine.initial())


def test_an_action_that_is_not_enabled_leads_nowhere__asked_twice() -> None:
    predictions = Predictions(BOUNDS)
    start, possible = predictions.initial(), set(predictions.enabled(predictions.initial()))
    later = predictions.enabled(predictions.after(start, predictions.enabled(start)[0]))
    never = next(action for action in later if action not in possible)
    assert predictions.after(start, never) is None
    assert predictions.after(start, never) is None


def test_the_wished_outcome_stands_first__and_every_choice_of_the_coordinator_is_allowed() -> None:
    predictions, checked = Predictions(BOUNDS), 0
    for seed in range(40):
        rng, state = Random(seed), predictions.initial()
        while checked < 20 and (enabled := predictions.enabled(state)):
            action = rng.choice(enabled)
            allowed = predictions.allowed(state, action)
            assert allowed[0][2] is predictions.after(state, action)
            alike = {each for each in enabled if each[:2] == action[:2]}
            assert {predictions.pack(after) for _, _, after in allowed} >= {
                predictions.pack(predictions.after(state, each)) for each in alike
            }
            checked += len(alike) > 1
            state = predictions.after(state, action)
    assert checked, "no choice was met"
