"""What the tests of Connect's models ask of each: its size, its counterexamples, its mutants, and its guards."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety import Exploration, Path, explore
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.registry import MUTANTS, model_for, path_at
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds


def held(model: Model, address: str, *, compiled: bool = False) -> Exploration:
    """The exploration of these bounds, in which every claim held."""
    if compiled:
        pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")
    found = explore(model, Bounds.from_address(address), compiled=compiled)
    assert set(found.verdicts.values()) == {"held"}
    return found


def exhausted(
    model: Model, address: str, distinct: int, generated: int, depth: int, *, compiled: bool = False
) -> Exploration:
    """The exploration of these bounds, in which every claim held, and whose size is pinned."""
    found = held(model, address, compiled=compiled)
    assert (found.distinct, found.generated, found.depth) == (distinct, generated, depth)
    return found


def shortest(model: Model, address: str, claim: str, steps: int) -> Path:
    """The shortest counterexample to a claim, so many steps long, which its own address gives again."""
    found = explore(model, Bounds.from_address(address), compiled=False)
    assert found.violated == claim
    assert found.counterexample is not None
    assert len(found.counterexample.actions) == steps
    assert path_at(found.counterexample.address()) == found.counterexample
    return found.counterexample


def reach_everything(model: Model, places: Mapping[str, set[str]]) -> None:
    """Each of the bounds reaches what is named with it, and together they reach all that the model must reach."""
    for address, expected in places.items():
        found = explore(model, Bounds.from_address(address), compiled=False)
        assert expected <= {name for name, met in found.reachable_states.items() if met}, address
    claims = (*model.reachable_states, *model.reachable_steps)
    assert set.union(*places.values()) == {claim.__name__ for claim in claims}


def caught(model: Model, mutant: ModelMutant) -> None:
    """A mutant breaks the claim that it names, and the healthy model none in the same bounds."""
    assert MUTANTS[mutant.name] is mutant
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.violated == mutant.caught_by
    assert found.counterexample is not None
    assert path_at(found.counterexample.address()) == found.counterexample
    assert set(explore(model, mutant.bounds, compiled=False).verdicts.values()) == {"held"}


def breaks_liveness(model: Model, mutant: ModelMutant) -> None:
    """A mutant breaks the liveness property that it names, and the healthy model none in the same bounds."""
    check_liveness = pytest.importorskip("rebalance_check.model.checker.liveness").check_liveness
    found = check_liveness(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.verdicts[mutant.caught_by] == "violated"
    healthy = check_liveness(model, mutant.bounds, compiled=False)
    assert set(healthy.verdicts.values()) == {"held"}


def every_claim_has_a_mutant(model: Model, mutants: Sequence[ModelMutant]) -> None:
    """What the mutants name is what the model claims, of safety and of liveness."""
    claims = {claim.__name__ for claim in (*model.invariants, *model.step_invariants)}
    assert claims == {mutant.caught_by for mutant in mutants if not mutant.liveness}
    assert {claim.name for claim in model.liveness} == {mutant.caught_by for mutant in mutants if mutant.liveness}


def guards_touch_nothing(model: Model, bounds: Bounds, *, seed: int, runs: int, steps: int) -> None:
    """In random runs each step is refused at times, and leaves the state as it was."""
    machine, random, refused = Machine(model, bounds), Random(seed), set[ActionKind]()
    for _ in range(runs):
        state = machine.initial()
        for _ in range(steps):
            before = machine.pack(state)
            kind = random.choice(model.rules).kind
            action = Action(kind, random.randrange(bounds.members), random.randrange(bounds.partitions))
            if not machine.step(state, action):
                refused.add(kind)
                assert before == machine.pack(state), action
    assert refused == {rule.kind for rule in model.rules}
