"""Concern *zombie coordinators*: pinned sizes, what becomes reachable, and what an observer sees of them."""

import pytest

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.witness import witness
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from tests.model.conftest import explored
from tests.model.pinned_paths import FORGOTTEN, WINDOWS

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    (
        "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1",
        True,
        169,
        298,
        18,
    ),
    (
        "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1",
        True,
        1051,
        2560,
        22,
    ),
]


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_a_zombie_coordinator(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


def test_a_zombie_coordinator_is_asked_everything() -> None:
    found = explore(
        MODEL,
        Bounds.from_address(
            "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1"
        ),
        compiled=False,
    )
    for kind in (
        "DeposeCoordinator",
        "JoinGroupAtZombie",
        "SyncGroupAtZombie",
        "HeartbeatAtZombie",
        "ResignZombieCoordinator",
    ):
        assert found.actions[kind] > 0, kind


def test_only_a_failover_deposes() -> None:
    with pytest.raises(
        RebalanceCheckError, match="zombie_coordinators is 2 with failovers 1: choose as many failovers, too"
    ):
        Bounds(failovers=1, zombie_coordinators=2)


# ------------------------------------------------------------------------------------------------ two owners

DEPOSED_AND_EXPIRED = "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&failovers=1&zombie_coordinators=1"
"""The smallest bounds with every window: one session ends while two coordinators answer."""


@pytest.mark.parametrize("name", WINDOWS | FORGOTTEN)
def test_a_pinned_path_leads_into_its_window__and_what_is_observed_on_it_breaks_no_claim(name: str) -> None:
    path = path_at((WINDOWS | FORGOTTEN)[name])
    run = ModelRun(path.bounds)
    machine, before, events = run.machine, run.state, list(run.begin())
    for action in path.actions:
        before = machine.copy(run.state)
        events += run.step(action)
    assert name in machine.met(run.state) | machine.happened(before, run.state)
    assert judge(events, CATALOGUE).counterexamples == ()


def test_in_a_window_two_processes_own_one_partition() -> None:
    for name in (
        "loading_coordinator_keeps_a_stale_owner",
        "zombie_coordinator_keeps_a_stale_owner",
        "zombie_coordinator_has_a_second_owner",
    ):
        path = path_at(WINDOWS[name])
        run = ModelRun(path.bounds)
        for action in path.actions:
            run.step(action)
        assert (run.owned(0), run.owned(1)) == (("t-0",), ("t-0",)), name


def test_a_witness_is_a_shortest_path__and_none_where_there_is_none() -> None:
    bounds = Bounds.from_address(DEPOSED_AND_EXPIRED)
    found = witness(MODEL, bounds, "zombie_coordinator_accepts_a_stale_heartbeat")
    assert found is not None
    assert found.address() == WINDOWS["zombie_coordinator_accepts_a_stale_heartbeat"]
    assert (
        witness(
            MODEL,
            Bounds.from_address(
                "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1"
            ),
            "zombie_coordinator_accepts_a_stale_heartbeat",
        )
        is None
    )
    with pytest.raises(
        RebalanceCheckError, match="'a_dream' is no reachable state or step of the model: choose one of all_members"
    ):
        witness(MODEL, bounds, "a_dream")


@pytest.mark.nightly
def test_every_window_is_met__and_every_claim_holds_in_all_states_around_it() -> None:
    found = explore(MODEL, Bounds.from_address(DEPOSED_AND_EXPIRED), compiled=False)
    assert (found.distinct, found.generated, found.depth) == (36_330, 104_722, 44)
    assert set(found.verdicts.values()) == {"held"}
    assert [name for name in WINDOWS if not found.reachable_states[name]] == []
