"""Concern *deposed*: pinned sizes, what becomes reachable, and what an observer hears of a coordinator of the past."""

import pytest

from rebalance_check.model.bounds import Bounds
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.model.events import IncarnationEnded, RequestAnswered
from rebalance_check.model.explore import explore
from rebalance_check.model.world import World
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from tests.model.conftest import explored, walk

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    ("eager/1m1p2g0c0l0x0d0z0i0r1o1q", True, 169, 298, 18),
    ("eager/2m1p1g0c0l0x0d0z0i0r1o1q", True, 1051, 2560, 22),
]


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_a_zombie_coordinator(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


def test_a_zombie_coordinator_is_asked_everything() -> None:
    found = explore(Bounds.from_address("eager/2m1p1g0c0l0x0d0z0i0r1o1q"), compiled=False)
    for kind in ("DeposeCoordinator", "JoinGroupAtZombie", "SyncGroupAtZombie", "HeartbeatAtZombie", "ZombieResigns"):
        assert found.actions[kind] > 0, kind


def test_only_a_failover_deposes() -> None:
    with pytest.raises(RebalanceCheckError, match="deposed is 2 with failovers 1: choose as many failovers, too"):
        Bounds(failovers=1, deposed=2)


WAY = (
    "SendJoinGroup", "JoinGroup", "ReceiveJoinGroup", "SyncGroup", "CommitAppend", "ReceiveSyncGroup",
    "DeposeCoordinator", "SendHeartbeat", "HeartbeatAtZombie", "ReceiveHeartbeat", "ZombieResigns", "LoadCoordinator",
)  # fmt: skip


def test_a_member_hears_from_the_coordinator_of_the_past_that_all_is_well() -> None:
    world = World(Bounds.from_address("eager/1m1p1g0c0l0x0d0z0i0r1o1q"))
    events = [*world.begin(), *walk(world, *WAY)]
    ended = [event.deposed for event in events if isinstance(event, IncarnationEnded)]
    heartbeats = [event.error for event in events if isinstance(event, RequestAnswered) and event.api == "Heartbeat"]
    assert ended == [True, False]
    assert heartbeats == ["NONE"]
    assert judge(events, CATALOGUE).counterexamples == ()
