"""Concern *new members*: ids returned unused, first JoinGroups that expire, and what an observer sees of both."""

from dataclasses import replace

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.model.conftest import explored

NEW_AT_ONCE = "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&new_members"
ID_REQUIRED = "eager?members=2&partitions=1&generations=2&crashes=0&leaves=1&expiries=1&initial_delay=off&member_id_required&new_members"

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    (NEW_AT_ONCE, True, 112, 160, 15),
    (
        "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&member_id_required&new_members",
        True,
        358,
        562,
        26,
    ),
    (ID_REQUIRED, True, 2856, 6572, 35),
    ("eager?members=2&partitions=1&generations=2&expiries=1&initial_delay=off&new_members", True, 1656, 4657, 25),
]
LARGE = [
    (
        "cooperative?members=2&partitions=2&generations=2&leaves=1&expiries=1&initial_delay=off&member_id_required&new_members",
        15351,
        42975,
        43,
    ),
    (
        "eager?members=2&partitions=1&generations=2&crashes=0&leaves=1&expiries=1&initial_delay=off&member_id_required&losses=1&new_members&heartbeats_during_sync=1",
        33390,
        100540,
        39,
    ),
]


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_new_members(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), LARGE)
def test_larger_state_spaces_have_their_pinned_size__with_new_members(
    address: str, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, compiled=True)


def test_ids_are_given_back_and_forgotten_before_they_are_used() -> None:
    found = explore(MODEL, Bounds.from_address(ID_REQUIRED), compiled=False)
    assert found.reachable_states["unused_id_is_returned"]
    assert found.reachable_states["unused_id_expires"]
    assert not found.reachable_states["new_member_expires_while_parked"]


def test_a_new_member_is_forgotten_while_it_waits__and_nobody_is_without_the_concern() -> None:
    found = explore(MODEL, Bounds.from_address(NEW_AT_ONCE), compiled=False)
    assert found.reachable_states["new_member_expires_while_parked"]
    without = explore(MODEL, replace(Bounds.from_address(NEW_AT_ONCE), new_members=False), compiled=False)
    assert not without.reachable_states["new_member_expires_while_parked"]


def test_a_new_member_goes_with_no_failovers_and_no_static_members() -> None:
    with pytest.raises(RebalanceCheckError, match="new_members is 1 with failovers 1: choose 0 for one of them"):
        Bounds(new_members=True, failovers=1)
    with pytest.raises(RebalanceCheckError, match="new_members is 1 with static_members 1"):
        Bounds(new_members=True, static_members=1)
