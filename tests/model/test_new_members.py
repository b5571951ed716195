"""Concern *newcomers*: ids given back unused, first JoinGroups that expire, and what an observer sees of both."""

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.model.conftest import explored

NEW_AT_ONCE = "eager/1m1p2g1c1l1x0d0z1i0r1e"
TOLD_THEIR_ID = "eager/2m1p2g0c1l1x0d0z0i1r1e"

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    (NEW_AT_ONCE, True, 112, 160, 15),
    ("eager/1m1p2g1c1l1x0d0z1i1r1e", True, 358, 562, 26),
    (TOLD_THEIR_ID, True, 2856, 6572, 35),
    ("eager/2m1p2g1c0l1x0d0z0i0r1e", True, 1656, 4657, 25),
]
LARGE = [
    ("cooperative/2m2p2g1c1l1x0d0z0i1r1e", 15351, 42975, 43),
    ("eager/2m1p2g0c1l1x0d0z0i1r1n1e1h", 33390, 100540, 39),
]


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_newcomers(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), LARGE)
def test_larger_state_spaces_have_their_pinned_size__with_newcomers(
    address: str, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, compiled=True)


def test_ids_are_given_back_and_forgotten_before_they_are_used() -> None:
    found = explore(MODEL, Bounds.from_address(TOLD_THEIR_ID), compiled=False)
    assert found.reachable_states["unused_id_is_given_back"]
    assert found.reachable_states["unused_id_is_forgotten"]
    assert not found.reachable_states["newcomer_is_forgotten_while_it_waits"]


def test_a_newcomer_is_forgotten_while_it_waits__and_nobody_is_without_the_concern() -> None:
    found = explore(MODEL, Bounds.from_address(NEW_AT_ONCE), compiled=False)
    assert found.reachable_states["newcomer_is_forgotten_while_it_waits"]
    without = explore(MODEL, Bounds.from_address(NEW_AT_ONCE.removesuffix("1e")), compiled=False)
    assert not without.reachable_states["newcomer_is_forgotten_while_it_waits"]


def test_a_newcomer_goes_with_no_failovers_and_no_static_members() -> None:
    with pytest.raises(
        RebalanceCheckError,
        match="new_members is 1 and heartbeats_during_sync is 0 with failovers 1 and static_members 0",
    ):
        Bounds(new_members=True, failovers=1)
    with pytest.raises(
        RebalanceCheckError,
        match="new_members is 1 and heartbeats_during_sync is 0 with failovers 0 and static_members 1",
    ):
        Bounds(new_members=True, static_members=1)
