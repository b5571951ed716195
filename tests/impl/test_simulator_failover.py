"""Coordinators that go away, refuse and are not found, and consumers that change their minds: all settle in the end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.impl.protocol.messages import SyncGroupRequest
from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import ALL_FAULTS, FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.impl.simulator.nodes import CRASH_AND_LOAD, Nodes
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    RunEnded,
)

UNCOMMON = (
    FaultKind.REFUSAL, FaultKind.LOOK_UP, FaultKind.WAKE_UP, FaultKind.SUBSCRIPTION, FaultKind.METADATA,
    FaultKind.PATTERN,
)  # fmt: skip


@pytest.mark.parametrize("named", [False, True])
def test_a_coordinator_that_loads_sends_a_sync_back_to_joining__unless_it_is_to_answer_as_kafkas_does(
    named: bool,
) -> None:
    plan = FaultPlan(kinds=(FaultKind.LOADING_SYNC,) if named else ())
    environment = Environment(1, plan, lambda _event: None)
    assert isinstance(environment.nodes, Nodes)
    environment.nodes.fail_over(CRASH_AND_LOAD)
    sync = SyncGroupRequest(
        group_id="g", member_id="m", generation_id=1, protocol_type="consumer", protocol_name="range"
    )
    ((_, reply),) = environment.nodes.leader.coordinator.handle(1, sync, 0)
    assert reply.error is (Error.COORDINATOR_LOAD_IN_PROGRESS if named else Error.REBALANCE_IN_PROGRESS)


def test_what_kafkas_java_coordinator_says_ends_a_member_that_does_as_kafkas_java_client_does() -> None:
    faults = (FaultKind.PAUSE, FaultKind.FAILOVER, FaultKind.SUBSCRIPTION)
    ends = [
        simulate(145, SimulationOptions(protocol=SimulatedProtocol.EAGER, partitions=1, faults=kinds))[-1]
        for kinds in (faults, (*faults, FaultKind.LOADING_SYNC))
    ]
    spared, ended = [end.pending or () for end in ends if isinstance(end, RunEnded)]
    assert spared == ()
    assert "SyncGroup failed with COORDINATOR_LOAD_IN_PROGRESS" in ended[0]


def test_what_kafkas_own_client_does_not_survive_is_drawn_only_where_it_is_named() -> None:
    assert set(FaultKind) - set(ALL_FAULTS) == {
        FaultKind.LOADING_SYNC,
        FaultKind.UNNOTICED_GROWTH,
        FaultKind.CONFIG_OUTAGE,
        FaultKind.STICKY_ELECTION,
        FaultKind.OLD_STATIC_MEMBERS,
    }


def test_a_topic_that_grows_while_the_static_leader_is_away_is_shared_out_when_somebody_enforces_it() -> None:
    faults = (FaultKind.PAUSE, FaultKind.METADATA, FaultKind.COORDINATOR_PAUSE)
    options = SimulationOptions(
        protocol=SimulatedProtocol.EAGER, partitions=1, omit=tuple(set(range(29)) - {0, 7, 8, 11})
    )
    ends = [
        simulate(6561, replace(options, faults=kinds))[-1] for kinds in (faults, (*faults, FaultKind.UNNOTICED_GROWTH))
    ]
    enforced, left_alone = [end.pending or () for end in ends if isinstance(end, RunEnded)]
    assert enforced == ()
    assert left_alone == ("t-1 has no owner", "t-2 has no owner", "t-3 has no owner")


@pytest.mark.parametrize("protocol", [SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE])
def test_healthy_groups_settle_after_uncommon_faults(protocol: SimulatedProtocol) -> None:
    for seed in range(30):
        *_, end = simulate(seed, SimulationOptions(protocol=protocol, faults=UNCOMMON))
        assert isinstance(end, RunEnded)
        assert end.pending == (), seed
