"""Concern *losses*: pinned sizes, what becomes reachable; without losses nothing changes."""

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.model.conftest import explored

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    ("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1", True, 532, 1138, 22),
    ("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1", False, 1058, 2263, 22),
    ("cooperative?members=2&partitions=2&generations=3&crashes=0&initial_delay=off&losses=1", True, 1778, 3466, 36),
    (
        "cooperative?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&member_id_required&losses=2",
        True,
        3889,
        8793,
        42,
    ),
]
LARGE = [
    (
        "cooperative?members=2&partitions=2&crashes=0&expiries=1&duplicates=1&initial_delay=off&losses=2",
        True,
        1_036_182,
        3_245_243,
        57,
    ),
    ("eager?partitions=1&generations=3&expiries=1&initial_delay=off&losses=1", True, 283_331, 1_281_327, 45),
    (
        "cooperative?partitions=2&generations=3&crashes=0&expiries=1&initial_delay=off&member_id_required&losses=1",
        True,
        783_632,
        2_644_731,
        66,
    ),
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
    found = explore(
        MODEL,
        Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1"),
        compiled=False,
    )
    for witness in ("join_reply_is_lost", "parked_request_outlives_its_connection", "assigned_member_id_is_lost"):
        assert found.reachable_states[witness], witness
    for kind in ("LoseRequest", "LoseReply", "DropConnection"):
        assert found.actions[kind] > 0, kind


def test_a_budget_of_losses_is_a_number_from_0_to_100() -> None:
    with pytest.raises(RebalanceCheckError, match="losses is 101: choose a number from 0 to 100"):
        Bounds(losses=101)
