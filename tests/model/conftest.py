"""What the tests of the models share: state spaces of a pinned size, and runs stepped action by action."""

from random import Random

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.checker.walks import walk
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import Event


def explored(
    address: str, distinct: int, generated: int, depth: int, *, symmetry: bool = True, compiled: bool = False
) -> Exploration:
    """The exploration of these bounds, after a check that it has its pinned size and that every claim held."""
    found = explore(MODEL, Bounds.from_address(address), symmetry=symmetry, compiled=compiled)
    assert (found.distinct, found.generated, found.depth) == (distinct, generated, depth)
    assert set(found.verdicts.values()) == {"held"}
    return found


def random_path(rng: Random, machine: Machine, length: int) -> list[Action]:
    """At most ``length`` actions, each drawn evenly from those enabled; shorter where nothing is."""
    return walk(machine, lambda state: rng.choice(possible) if (possible := machine.enabled(state)) else None, length)


def of(m: int, *kinds: ActionKind) -> list[tuple[ActionKind, int]]:
    """These actions of one member, as steps to `play`."""
    return [(kind, m) for kind in kinds]


def play(run: ModelRun, *steps: tuple[ActionKind, int]) -> list[Event]:
    """Perform actions with choice 0; the events of them all."""
    return [event for kind, member in steps for event in run.step(Action(kind, member, run.choices(kind, member)[0]))]
