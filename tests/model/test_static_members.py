"""Static members: instance ids that change their member id, fenced processes, and sizes of the state spaces."""

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.checker.safety.search import Search
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.mutants.static_membership import STATIC_MEMBER_MUTANTS
from rebalance_check.model.classic.observer.member_ids import id_prefix_of
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.model.conftest import explored

SHARED = "eager?members=2&partitions=1&generations=2&leaves=1&expiries=1&initial_delay=off&timeouts&static_members=2&shared_instances=1"
SILENT = (
    "cooperative?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off&timeouts&static_members=1"
)
RESTARTING = "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts&static_members=2"

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    (SHARED, True, 748, 1_999, 21),
    (SHARED, False, 1_463, 3_915, 21),
    (SILENT, True, 2_869, 5_996, 34),
    ("eager?members=2&partitions=1&generations=2&initial_delay=off&static_members=2", True, 525, 1_250, 22),
    ("eager?members=2&partitions=1&generations=2&initial_delay=off&static_members=2", False, 1_044, 2_485, 22),
]
SITUATIONS = {
    "silent_static_member_is_kept",
    "silent_static_member_returns_as_a_second_owner",
    "restarted_leader_skips_assignment",
    "join_meets_fenced_instance",
    "sync_meets_fenced_instance",
    "heartbeat_meets_fenced_instance",
    "replaced_id_owes_a_sync",
    "static_member_is_replaced_while_preparing",
}


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


def test_together_the_small_bounds_meet_every_situation() -> None:
    found = [
        explore(MODEL, Bounds.from_address(each), compiled=False) for each in (SHARED, SILENT, RESTARTING, PREPARING)
    ]
    assert {verdict for each in found for verdict in each.verdicts.values()} == {"held"}
    met = {name for each in found for name, seen in each.reachable_states.items() if seen}
    assert SITUATIONS - met == set()
    without = explore(
        MODEL,
        Bounds.from_address("eager?members=2&partitions=1&generations=2&expiries=1&initial_delay=off&timeouts"),
        compiled=False,
    )
    assert not any(without.reachable_states[name] for name in SITUATIONS)


PREPARING = "eager?partitions=1&generations=2&crashes=0&static_members=2&shared_instances=1"


def test_members_that_share_an_instance_id_are_interchangeable__and_every_state_has_its_representative() -> None:
    machine = Machine(
        MODEL,
        Bounds.from_address(
            "eager?partitions=1&generations=1&crashes=0&initial_delay=off&static_members=2&shared_instances=1"
        ),
    )
    reduced, full = (Search(machine, symmetry=symmetry, limits=Limits()) for symmetry in (True, False))
    reduced.run()
    full.run()
    assert {machine.canonical(machine.unpack(state)) for state in full.seen} == set(reduced.seen)
    assert len(reduced.seen) < len(full.seen)


def test_bounds_and_model_hand_out_the_same_instance_ids() -> None:
    for statics, pairs in ((0, 0), (1, 0), (3, 0), (2, 1), (5, 2), (6, 3)):
        bounds = Bounds(members=6, static_members=statics, shared_instances=pairs)
        state = Machine(MODEL, bounds).initial()
        assert [id_prefix_of(state, m) for m in range(6)] == [bounds.instance(m) or f"m{m}" for m in range(6)]
    with pytest.raises(RebalanceCheckError, match="static_members is 1 and shared_instances is 1"):
        Bounds(members=2, static_members=1, shared_instances=1)


# ------------------------------------------------------------------------------------------------ in large bounds


def test_a_join_phase_that_drops_silent_static_members_is_caught() -> None:
    (mutant,) = (each for each in STATIC_MEMBER_MUTANTS if each.name == "silent-static-member-is-removed")
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.violated == mutant.caught_by


LARGE = [
    ("eager?partitions=1&generations=2&crashes=0&expiries=1&timeouts&static_members=1", 61_308, 186_670, 34),
    (
        "eager?partitions=2&generations=3&expiries=1&timeouts&static_members=2&shared_instances=1",
        522_379,
        1_932_913,
        53,
    ),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), LARGE)
def test_larger_state_spaces_have_their_pinned_size(address: str, distinct: int, generated: int, depth: int) -> None:
    explored(address, distinct, generated, depth, compiled=True)
