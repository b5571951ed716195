"""The compiled graph of fault-free steps is the interpreted one, and larger bounds make progress, too."""

from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

import numpy as np

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.liveness import LivenessCheck, check_liveness
from rebalance_check.model.checker.liveness.evidence import endless
from rebalance_check.model.checker.liveness.graph import fault_free_graph
from rebalance_check.model.checker.liveness.graph_source import Backend, Compiled, Interpreted
from rebalance_check.model.checker.liveness.quotient import Quotient
from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.registry import MUTANTS, model_for
from rebalance_check.model.vocabulary.bounds import Bounds


@pytest.mark.parametrize(
    "address",
    [
        "cooperative?partitions=2&generations=2&crashes=0&initial_delay=off",
        pytest.param(
            "eager?partitions=1&generations=1&leaves=1&initial_delay=off&member_id_required", marks=pytest.mark.nightly
        ),
    ],
)
def test_the_compiled_graph_is_the_interpreted_one(address: str) -> None:
    machine = Machine(MODEL, Bounds.from_address(address))
    unbounded = Machine(MODEL, endless(machine.bounds))
    quotient = Quotient(unbounded)
    compiled, interpreted = (
        described(backend, quotient)
        for backend in (Compiled(machine, unbounded), Interpreted(machine, unbounded, quotient.width))
    )
    assert compiled == interpreted
    assert len(compiled) > 1000


def described(backend: Backend, quotient: Quotient) -> set[tuple[bytes, bytes, int, bytes]]:
    """The steps of a graph, each with the state it begins in, what holds there, and where it leads."""
    reached = backend.reach(Limits())
    graph = fault_free_graph(backend, quotient, reached.rows)
    assert graph is not None
    assert (np.diff(reached.depths) >= 0).all()
    rows, held = [row.tobytes() for row in graph.rows], [row.tobytes() for row in backend.survey(graph.rows)]
    return {
        (rows[s], held[s], int(label), rows[t])
        for s, t, label in zip(graph.source, graph.target, graph.label, strict=True)
    }


LIVENESS_MUTANTS = [mutant for mutant in MUTANTS.values() if mutant.liveness]

IN_TURN = [
    pytest.param(mutant, id=mutant.name, marks=[] if at % 4 == 1 else [pytest.mark.nightly])
    for at, mutant in enumerate(LIVENESS_MUTANTS)
]
"""Every fourth mutant in the default run: each is two programs to compile."""


@pytest.mark.parametrize("mutant", IN_TURN)
def test_a_mutant_has_the_same_lassos_compiled(mutant: ModelMutant) -> None:
    model = model_for(mutant.bounds, mutant.name)
    found, expected = (check_liveness(model, mutant.bounds, compiled=compiled) for compiled in (True, False))
    assert found.verdicts[mutant.caught_by] == "violated"
    assert addresses(found) == addresses(expected)
    for what in ("reached", "states", "steps", "components", "undecided", "verdicts"):
        assert getattr(found, what) == getattr(expected, what), what


def addresses(found: LivenessCheck) -> dict[str, tuple[str, int | None]]:
    """The lasso of each property: its path, and where its loop begins."""
    return {name: (path.address(), path.loop) for name, path in found.counterexamples.items()}


README = " ".join((Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").split())
"""Its words, without the widths of columns."""

BOUNDS = [
    # bounds, states reached, states and steps of the fault-free graph, places where a fair run can stay
    ("eager?partitions=2&generations=3", 21_699, 32_649, 90_117, 30),
    ("cooperative?partitions=2&generations=3", 77_849, 158_637, 429_269, 298),
]


@pytest.mark.parametrize(("address", "reached", "states", "steps", "components"), BOUNDS)
def test_three_members_make_progress__after_a_crash(
    address: str, reached: int, states: int, steps: int, components: int
) -> None:
    found = check_liveness(MODEL, Bounds.from_address(address))
    assert (found.reached, found.states, found.steps, found.components) == (reached, states, steps, components)
    assert set(found.verdicts.values()) == {"held"}
    shown = f"{found.states:,} states, {found.steps:,} steps, {found.components} fair terminal components"
    assert f"liveness {address.partition('?')[0]} {shown}" in README
    assert f"{found.reached:,} states, " in README


@pytest.mark.nightly
@pytest.mark.parametrize(
    "address",
    [
        "eager",
        "cooperative",
        "cooperative?members=2&partitions=2&generations=3&crashes=0&expiries=1&duplicates=1&deletions=1&member_id_required",
        "eager?members=2&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off&member_id_required",
        "eager?partitions=1&generations=2&initial_delay=off&member_id_required&timeouts",
    ],
)
def test_larger_bounds_make_progress(address: str) -> None:
    found = check_liveness(MODEL, Bounds.from_address(address))
    assert set(found.verdicts.values()) == {"held"}
