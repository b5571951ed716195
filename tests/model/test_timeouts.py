"""Rebalance and sync timeouts: whom they remove, who leads then, and the sizes of the state spaces."""

from dataclasses import replace

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from tests.model.conftest import explored

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    ("eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts", True, 378, 882, 22),
    ("eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts", False, 750, 1749, 22),
]
COMPILED = [
    ("eager?partitions=2&generations=3&expiries=1&timeouts", 196_286, 790_312, 44),
    ("cooperative?partitions=2&generations=3&expiries=1&timeouts", 725_531, 2_827_024, 51),
]
SITUATIONS = {
    "follower_has_not_synced_in_a_stable_group",
    "crashed_leader_blocks_the_sync",
    "empty_group_has_pending_ids",
}


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), COMPILED)
def test_larger_state_spaces_have_their_pinned_size(address: str, distinct: int, generated: int, depth: int) -> None:
    explored(address, distinct, generated, depth, compiled=True)


def test_every_situation_is_met__and_none_without_the_concern() -> None:
    found = explore(MODEL, Bounds.from_address(DISTURBED), compiled=False)
    met = {name for name, seen in found.reachable_states.items() if seen}
    without = explore(MODEL, replace(Bounds.from_address(DISTURBED), timeouts=False), compiled=False)
    assert met >= SITUATIONS
    assert set(found.verdicts.values()) == {"held"}
    assert not any(without.reachable_states[name] for name in SITUATIONS)
    assert without.actions[ActionKind.EXPIRE_REBALANCE] == without.actions[ActionKind.EXPIRE_SYNC] == 0


DISTURBED = "eager?members=2&partitions=1&generations=3&expiries=1&initial_delay=off&member_id_required&timeouts"
