"""Every mutant of the classic model is caught by the claim it names, along a path that replays."""

import pytest

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety import Path, explore
from rebalance_check.model.classic.mutants.core import CLASSIC_MUTANTS
from rebalance_check.model.classic.mutants.new_members import NEW_MEMBER_MUTANTS
from rebalance_check.model.classic.mutants.static_membership import STATIC_MEMBER_MUTANTS
from rebalance_check.model.classic.mutants.timeouts import TIMEOUT_MUTANTS
from rebalance_check.model.classic.mutants.upgrades import UPGRADE_MUTANTS
from rebalance_check.model.registry import MUTANTS, model_for, path_at

DEEP = {"older-ownership-wins", "double-ownership-is-honoured", "silent-static-member-is-removed"}
"""In bounds too large to interpret: see test_compiled and test_statics, and test_assignment for what they break."""

OF_GROUPS = (*CLASSIC_MUTANTS, *TIMEOUT_MUTANTS, *STATIC_MEMBER_MUTANTS, *UPGRADE_MUTANTS, *NEW_MEMBER_MUTANTS)
SHALLOW = [mutant for mutant in OF_GROUPS if mutant.name not in DEEP]


@pytest.mark.parametrize("mutant", SHALLOW, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_the_claim_it_names(mutant: ModelMutant) -> None:
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.violated == mutant.caught_by
    assert found.counterexample is not None
    assert broken_at_the_end(found.counterexample) == mutant.caught_by
    assert path_at(found.counterexample.address()) == found.counterexample


@pytest.mark.parametrize("mutant", SHALLOW, ids=lambda mutant: mutant.name)
def test_the_healthy_model_breaks_nothing__where_the_mutant_does(mutant: ModelMutant) -> None:
    found = explore(model_for(mutant.bounds), mutant.bounds, compiled=False)
    assert set(found.verdicts.values()) == {"held"}


def broken_at_the_end(path: Path) -> str:
    """The claim that the last step of a path breaks; nothing breaks before."""
    machine = path.machine
    state, broken = machine.initial(), ""
    for action in path.actions:
        assert not broken
        before = machine.copy(state)
        assert machine.step(state, action)
        broken = machine.violated_step(before, state) or machine.violated(state)
    return broken


def test_a_shortest_path_is_found__with_and_without_symmetry() -> None:
    mutant = MUTANTS["leader-does-not-withhold"]
    lengths = {
        len(found.counterexample.actions)
        for symmetry in (True, False)
        if (
            found := explore(model_for(mutant.bounds, mutant.name), mutant.bounds, symmetry=symmetry, compiled=False)
        ).counterexample
    }
    assert lengths == {17}


def test_names_are_unique_and_explained() -> None:
    names = [mutant.name for mutant in OF_GROUPS]
    assert len(names) == len(set(names)) >= 10
    assert all(MUTANTS[mutant.name] is mutant and mutant.what for mutant in OF_GROUPS)
