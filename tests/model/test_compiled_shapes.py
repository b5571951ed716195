"""Whole searches of the compiled model are those of the interpreted one: bounds of every model, with every concern."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.checker.safety.search import Outcome, Search
from rebalance_check.model.checker.safety.workers import ParallelSearch
from rebalance_check.model.registry import MUTANTS, machine_for, model_for
from rebalance_check.model.vocabulary.bounds import CONNECT_ONLY, Bounds, RebalanceProtocol

TWO: Final = "members=2&partitions=1&generations=2&initial_delay=off"

SHAPES: Final = [
    f"eager?{TWO}",
    f"cooperative?{TWO}&leaves=1&member_id_required",
    f"eager?{TWO}&crashes=0&expiries=1&duplicates=1",
    f"eager?{TWO}&crashes=0&leaves=1&deletions=1",
    "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1",
    "eager?partitions=1&generations=1&crashes=0",
    "cooperative?members=2&partitions=2&generations=3&crashes=0",
    f"eager?{TWO}&timeouts",
    f"cooperative?{TWO}&crashes=0&timeouts&member_id_required",
    f"eager?{TWO}&static_members=1",
    f"eager?{TWO}&timeouts&static_members=2&shared_instances=1",
    f"cooperative?{TWO}&crashes=0&new_members&member_id_required",
    f"eager?{TWO}&crashes=0&heartbeats_during_sync=1",
    f"cooperative?{TWO}&crashes=0&new_members&heartbeats_during_sync=1&member_id_required",
    "eager?members=1&partitions=1&generations=2&failovers=1",
    f"eager?{TWO}&crashes=0&failovers=1",
    f"eager?{TWO}&crashes=0&failovers=1&zombie_coordinators=1",
    f"cooperative?{TWO}&crashes=0&commits=1",
    "eager?members=1&partitions=1&generations=2&failovers=1&commits=1&initial_delay=off",
    f"eager?{TWO}&crashes=0&losses=1",
    "eager?members=1&partitions=1&generations=2&losses=1&failovers=1&static_members=1&initial_delay=off",
    "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2",
    f"eager?{TWO}&crashes=0&upgrade=from-default&rolling_restarts=1",
    "cooperative?members=2&partitions=1&generations=2&crashes=0&upgrade=downgrade&rolling_restarts=1",
    "eager?members=1&partitions=1&generations=2&timeouts&static_members=1&losses=1&failovers=1&commits=1&leaves=1",
    "status?members=2&partitions=1&generations=1&crashes=0&writes=1",
    "status?members=1&partitions=2&generations=1&crashes=1&writes=2&failures=1",
    "connect-eager?members=2&partitions=1&generations=3&crashes=1&config_changes=1",
    "connect-eager?members=2&partitions=1&generations=3&crashes=0&modes=eager-to-sessioned&rolling_restarts=1",
    "connect-incremental?members=2&partitions=2&generations=3&crashes=1&config_changes=0",
    "connect-incremental?members=2&partitions=1&generations=2&losses=1&crashes=0&rebalance_delay=off",
    "connect-config?members=1&partitions=2&crashes=1&writes=2&compactions=1&task_rewrites",
    "connect-config?members=2&partitions=1&crashes=0&writes=2&compactions=1&expiries=1&fencing",
    "connect-exactly-once?members=2&partitions=1&writes=1&expiries=1",
]
"""Bounds of a few hundred or thousand states each."""

LARGER: Final = [
    "cooperative?partitions=2&generations=2&crashes=0&initial_delay=off",
    "eager?partitions=1&generations=1&crashes=0&leaves=1&duplicates=1&initial_delay=off",
    "cooperative?partitions=1&generations=1&duplicates=1&initial_delay=off",
    "eager?partitions=1&generations=2&initial_delay=off&timeouts&static_members=2&shared_instances=1",
    "cooperative?partitions=2&generations=2&initial_delay=off&timeouts",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&initial_delay=off&expiries=1&duplicates=1&leaves=1",
    "eager?members=2&partitions=1&generations=2&initial_delay=off&static_members=2&shared_instances=1&leaves=1&losses=1",
    "eager?members=1&partitions=1&generations=2&failovers=2&zombie_coordinators=1&commits=1&initial_delay=off",
    "eager?members=2&partitions=1&generations=2&failovers=1&upgrade=legal&rolling_restarts=1&initial_delay=off",
    "status?members=2&partitions=2&generations=1&crashes=0&writes=2&failures=1",
    "connect-incremental?members=2&partitions=2&generations=5&crashes=2&config_changes=0",
    "connect-exactly-once?members=2&partitions=2&expiries=1&writes=2",
]

COMPARED: Final = ("distinct", "generated", "cut", "depth", "violated", "met", "complete")

WAYS: Final = [(True, 1), (True, 2), (False, 1), (False, 2)]
"""With symmetry or without it, by one thread or two."""


def in_turn() -> Iterator[Any]:
    """Every third of the bounds, one way each, in the default run; all the others at night."""
    for at, address in enumerate(SHAPES):
        for way in WAYS:
            marks = [] if at % 3 == 0 and way == WAYS[(at + 1) % len(WAYS)] else [pytest.mark.nightly]
            yield pytest.param(address, *way, marks=marks)


@cache
def interpreted(address: str, mutant: str, symmetry: bool) -> tuple[Outcome, frozenset[bytes]]:
    """The findings of the interpreted search."""
    search = Search(machine_for(Bounds.from_address(address), mutant), symmetry=symmetry, limits=Limits())
    return search.run(), frozenset(search.seen)


def compiled(program: Program, machine: Machine, symmetry: bool, threads: int) -> tuple[Outcome, list[bytes]]:
    """The findings of the compiled search, with its states."""
    search = ParallelSearch(program, machine, symmetry=symmetry, threads=threads, limits=Limits())
    search.keep_states()
    found, size = search.run(), len(search.packed_initial)
    levels: Iterator[Any] = (level for levels in search.kept or () for level in levels)
    return found, [row.tobytes()[:size] for level in levels for row in level]


def require_equal(address: str, symmetry: bool, threads: int) -> None:
    """Both searches reach the same states, by as many steps of each kind, and see the same claims hold."""
    bounds = Bounds.from_address(address)
    expected, expected_states = interpreted(address, "", symmetry)
    found, states = compiled(Program(model_for(bounds), bounds), machine_for(bounds), symmetry, threads)
    assert len(states) == len(set(states))
    assert set(states) == expected_states
    assert [getattr(found, what) for what in COMPARED] == [getattr(expected, what) for what in COMPARED]
    assert {kind: n for kind, n in found.fired.items() if n} == expected.fired


@pytest.mark.parametrize(("address", "symmetry", "threads"), [*in_turn()])
def test_the_compiled_search_is_the_interpreted_one(address: str, symmetry: bool, threads: int) -> None:
    require_equal(address, symmetry, threads)


@pytest.mark.nightly
@pytest.mark.parametrize(("symmetry", "threads"), WAYS)
@pytest.mark.parametrize("address", LARGER)
def test_the_compiled_search_is_the_interpreted_one__in_larger_bounds(
    address: str, symmetry: bool, threads: int
) -> None:
    require_equal(address, symmetry, threads)


def test_each_model_and_each_concern_is_among_them() -> None:
    bounds = [Bounds.from_address(address) for address in SHAPES]
    assert {each.protocol for each in bounds} == set(RebalanceProtocol)
    concerns = Bounds.concerns() | CONNECT_ONLY
    assert {name for each in bounds for name in concerns if each.reads(name) and getattr(each, name)} == concerns


DEEP: Final = {"older-ownership-wins", "double-ownership-is-honoured", "silent-static-member-is-removed"}
"""Mutants in bounds too large to interpret (see test_mutants)."""

CAUGHT: Final = [mutant for mutant in MUTANTS.values() if not mutant.liveness and mutant.name not in DEEP]

CHEAP: Final = [
    pytest.param(mutant, id=mutant.name, marks=[] if at % 20 == 0 else [pytest.mark.nightly])
    for at, mutant in enumerate(CAUGHT)
]
"""Every twentieth of them in the default run: each is a program to compile."""


@pytest.mark.parametrize("mutant", CHEAP)
def test_a_compiled_mutant_breaks_the_same_claim_after_as_many_steps(mutant: ModelMutant) -> None:
    expected, _ = interpreted(mutant.bounds.address(), mutant.name, symmetry=True)
    machine = machine_for(mutant.bounds, mutant.name)
    found, _ = compiled(Program(machine.model, mutant.bounds), machine, symmetry=True, threads=2)
    assert (found.violated, len(found.path)) == (expected.violated, len(expected.path))
    assert found.violated == mutant.caught_by


def test_an_unsafe_upgrade_breaks_the_same_claim_after_as_many_steps() -> None:
    address = f"eager?{TWO}&crashes=0&upgrade=single-upgrade&rolling_restarts=1"
    bounds = Bounds.from_address(address)
    expected, _ = interpreted(address, "", symmetry=True)
    found, _ = compiled(Program(model_for(bounds), bounds), machine_for(bounds), symmetry=True, threads=2)
    assert (found.violated, len(found.path)) == (expected.violated, len(expected.path))
    assert found.violated
