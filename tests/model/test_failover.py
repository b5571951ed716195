"""Concern *failovers*: pinned sizes, what becomes reachable, and what an observer sees of one."""

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.state import Phase
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.model.conftest import explored

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    ("eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1", True, 95, 159, 16),
    ("cooperative?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1", True, 592, 1418, 20),
    ("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1", True, 2284, 5678, 29),
    (
        "eager?members=1&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&failovers=1",
        True,
        241,
        411,
        24,
    ),
]
LARGE = [
    (
        "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=1&failovers=1",
        True,
        6_373,
        16_160,
        34,
    ),
    (
        "eager?members=2&partitions=1&generations=3&leaves=1&expiries=1&initial_delay=off&member_id_required&failovers=1",
        True,
        335_893,
        1_113_220,
        61,
    ),
    (
        "cooperative?members=2&partitions=2&generations=3&crashes=0&expiries=1&initial_delay=off&failovers=2",
        True,
        489_749,
        1_319_338,
        67,
    ),
]


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_failovers(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


@pytest.mark.nightly
@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), LARGE)
def test_larger_state_spaces_have_their_pinned_size__with_failovers(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    found = explored(address, distinct, generated, depth, symmetry=symmetry, compiled=True)
    assert found.reachable_states["load_restores_a_replaced_member_id"]


def test_what_a_failover_brings_about_is_met() -> None:
    found = explore(
        MODEL,
        Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1"),
        compiled=False,
    )
    for witness in (
        "generation_number_is_reused",
        "member_is_ahead_of_the_coordinator",
        "logged_assignment_was_never_delivered",
        "rebalance_begins_during_an_append",
        "loading_coordinator_accepts_a_heartbeat",
        "join_meets_loading",
        "sync_meets_loading",
        "join_meets_not_coordinator",
        "heartbeat_meets_not_coordinator",
    ):
        assert found.reachable_states[witness], witness


def test_an_id_that_its_process_has_not_any_more_comes_back_from_the_log() -> None:
    found = explore(
        MODEL,
        Bounds.from_address("eager?members=2&partitions=1&generations=1&crashes=0&expiries=1&failovers=1"),
        compiled=False,
    )
    assert found.reachable_states["load_restores_a_replaced_member_id"]


def test_copies_do_not_go_with_failovers() -> None:
    with pytest.raises(RebalanceCheckError, match="failovers is 1 with duplicates 2: choose 0 for one of them"):
        Bounds(failovers=1, duplicates=2)


def test_a_second_assignment_of_a_generation_in_the_log_is_a_violation() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1")
    )
    before, after = machine.initial(), machine.initial()
    for state, owner in ((before, 0), (after, 1)):
        log = state.log
        log.kind, log.generation, log.members, log.leader = 1, 1, 0b11, 0
        log.assignment[owner] = 1
        state.phase = Phase.LOADING
    assert machine.violated_step(before, after) == "one_assignment_per_generation"
    after.log.generation = 2
    assert machine.violated_step(before, after) == ""
