"""The registry of mutants: every one has a search that finds it, and a wrong name is answered with the right ones."""

from __future__ import annotations

import pytest

from rebalance_check.impl.mutants import (
    IMPL_MUTANTS,
    MUTANTS,
    AssignmentSearch,
    FuzzSearch,
    ModelSearch,
    Mutant,
    ScenarioSearch,
    find_mutant,
    implementation_mutant,
)
from rebalance_check.impl.mutants.mutant import Find
from rebalance_check.impl.mutants.registry import _by_name
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.catalogue import CATALOGUE, KAFKA_BREAKS
from rebalance_check.properties.laws.by_kip import WireClaims


def test_there_are_mutants_in_every_part() -> None:
    assert len(IMPL_MUTANTS) >= 12
    assert {mutant.where for mutant in IMPL_MUTANTS.values()} == {"impl"}
    assert IMPL_MUTANTS.items() <= MUTANTS.items()


def test_every_invariant_of_the_catalogue_is_named_by_a_mutant_of_the_implementation() -> None:
    """Kafka itself breaks the expectations, and slips of a client break the claims about the wire."""
    named = {mutant.caught_by for mutant in IMPL_MUTANTS.values()}
    asked = [one.name for one in CATALOGUE if one not in WireClaims and one not in KAFKA_BREAKS]
    assert [name for name in asked if name not in named] == []


def test_a_mutant_is_found_by_its_name() -> None:
    assert find_mutant("generation-reused").name == "generation-reused"
    assert implementation_mutant("generation-reused") is IMPL_MUTANTS["generation-reused"]
    assert implementation_mutant("") is None


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(RebalanceCheckError, match="did you mean 'generation-reused'") as caught:
        find_mutant("generation-resued")

    assert all(name in str(caught.value) for name in MUTANTS)


def test_two_mutants_of_one_name_are_our_own_mistake() -> None:
    mutant = IMPL_MUTANTS["generation-reused"]

    with pytest.raises(ValueError, match="two mutants are called 'generation-reused'"):
        _by_name([mutant, mutant])


@pytest.mark.parametrize(
    ("find", "command"),
    [
        (
            FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER), last=50),
            "rebalance-check fuzz --mutant x",
        ),
        (ModelSearch(bounds=Bounds(members=2)), "rebalance-check explore --mutant x"),
        (ModelSearch(bounds=Bounds(members=2), liveness=True), "rebalance-check explore --mutant x --liveness"),
        (AssignmentSearch(assignor="range", shape="tame"), "rebalance-check mutants x --run"),
        (ScenarioSearch(), "rebalance-check mutants x --run"),
    ],
)
def test_the_command_that_finds_a_mutant(find: Find, command: str) -> None:
    assert Mutant(name="x", what="", caught_by="y", where="impl", find=find).command == command
