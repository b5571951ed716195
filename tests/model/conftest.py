"""Runs of the models, stepped action by action, for their tests."""

from random import Random

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.walks import walk
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.events import Event
from tests.model.model_run import ModelRun


def random_path(rng: Random, machine: Machine, length: int) -> list[Action]:
    """At most ``length`` actions, each drawn evenly from those enabled; shorter where nothing is."""
    return walk(machine, lambda state: rng.choice(possible) if (possible := machine.enabled(state)) else None, length)


def of(m: int, *kinds: ActionKind) -> list[tuple[ActionKind, int]]:
    """These actions of one member, as steps to `play`."""
    return [(kind, m) for kind in kinds]


def play(run: ModelRun, *steps: tuple[ActionKind, int]) -> list[Event]:
    """Perform actions with choice 0; the events of them all."""
    return [event for kind, member in steps for event in run.step(Action(kind, member, run.choices(kind, member)[0]))]
