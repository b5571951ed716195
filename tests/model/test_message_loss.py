"""Concern *losses*: pinned sizes, what becomes reachable; without losses nothing changes."""

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.model.conftest import explored

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    ("eager/2m1p2g0c0l0x0d0z0i0r1n", True, 532, 1138, 22),
    ("eager/2m1p2g0c0l0x0d0z0i0r1n", False, 1058, 2263, 22),
    ("cooperative/2m2p3g0c0l0x0d0z0i0r1n", True, 1778, 3466, 36),
    ("cooperative/2m1p3g0c0l0x0d0z0i1r2n", True, 3889, 8793, 42),
]
LARGE = [
    ("cooperative/2m2p4g0c0l1x1d0z0i0r2n", True, 1_036_182, 3_245_243, 57),
    ("eager/3m1p3g1c0l1x0d0z0i0r1n", True, 283_331, 1_281_327, 45),
    ("cooperative/3m2p3g0c0l1x0d0z0i1r1n", True, 783_632, 2_644_731, 66),
]


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_losses(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), LARGE)
def test_larger_state_spaces_have_their_pinned_size__with_losses(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry, compiled=True)


def test_what_losses_bring_about_is_met() -> None:
    found = explore(MODEL, Bounds.from_address("eager/2m1p2g0c0l0x0d0z0i0r1n"), compiled=False)
    for witness in ("member_waits_in_vain", "parked_request_outlives_its_connection", "id_is_never_learned"):
        assert found.reachable_states[witness], witness
    for kind in ("LoseRequest", "LoseReply", "DropConnection"):
        assert found.actions[kind] > 0, kind


def test_an_address_without_losses_is_as_long_as_ever() -> None:
    bounds = Bounds.from_address("eager/2m1p2g0c0l0x0d0z0i0r")
    assert bounds.address() == "eager/2m1p2g0c0l0x0d0z0i0r"
    assert Bounds.from_address("eager/2m1p2g0c0l0x0d0z0i0r3n").address() == "eager/2m1p2g0c0l0x0d0z0i0r3n"


def test_a_budget_of_losses_is_a_number_from_0_to_100() -> None:
    with pytest.raises(RebalanceCheckError, match="losses is 101: choose a number from 0 to 100"):
        Bounds(losses=101)
