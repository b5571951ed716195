"""Simulated groups of our members on Kafka's own coordinators: whole campaigns, judged by the same invariants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_check.impl.runtime.options import ALL_FAULTS, FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.integration.virtual.groups import VirtualGroups
from rebalance_check.model.vocabulary.events import CoordinatorElected, CoordinatorFound, Event, GenerationEvent
from rebalance_check.pipeline.fuzz import fuzz
from rebalance_check.pipeline.seed_run import breaks
from rebalance_check.pipeline.shrink import shrink
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

pytestmark = pytest.mark.virtual

SPECS = ["virtual:4.3.1", "virtual:3.9.2", "virtual:3.9.2-scala"]
OF_NODES = (FaultKind.COORDINATOR_KILL, FaultKind.COORDINATOR_PAUSE, FaultKind.COORDINATOR_MOVE, FaultKind.LOG_TAIL)


def elections(history: list[Event]) -> int:
    return sum(isinstance(event, CoordinatorElected) for event in history)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("protocol", ["eager", "cooperative", "connect", "election"])
def test_a_group_converges_and_holds_every_claim__whatever_goes_wrong(spec: str, protocol: str) -> None:
    faults = () if protocol == "connect" else ALL_FAULTS
    options = SimulationOptions(protocol=SimulatedProtocol(protocol), faults=faults)
    for seed in range(1 if protocol == "connect" else 4):
        judgement = judge(VirtualGroups(spec)(seed, options), CATALOGUE)
        assert judgement.outcome is Outcome.HELD, (seed, judgement.counterexamples)


@pytest.mark.parametrize("spec", SPECS)
def test_coordinators_fail__and_members_find_the_next_one(spec: str) -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, faults=OF_NODES)
    elected = 0
    for seed in range(6):
        history = VirtualGroups(spec)(seed, options)
        elected += elections(history) - 1
        assert judge(history, CATALOGUE).outcome is Outcome.HELD, seed
        found = {event.node for event in history if isinstance(event, CoordinatorFound)}
        assert found <= {event.node for event in history if isinstance(event, CoordinatorElected)}
        stamped = {
            event.incarnation for event in history if isinstance(event, GenerationEvent) and event.generation > 0
        }
        assert stamped <= set(range(elections(history)))
    assert elected


def test_one_seed_makes_one_history() -> None:
    options, groups = SimulationOptions(faults=ALL_FAULTS), VirtualGroups(SPECS[0])
    first = groups(3, options)
    groups(4, options)
    assert groups(3, options) == first


def test_a_defect_of_our_members_is_found_on_kafkas_coordinator__and_shrunk() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, mutant="revoked-partitions-kept")
    (invariant,), groups = select(["callbacks_alternate"]), VirtualGroups(SPECS[0])
    seed = next(seed for seed in range(40) if breaks(seed, options, invariant, groups))
    small = shrink(seed, options, invariant, limit=15, simulate=groups)
    assert small.counterexample.invariant == invariant.name
    assert small.options != options


def test_a_campaign_runs_in_processes__each_with_its_own_kafka(tmp_path: Path) -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER)
    kept = fuzz(range(6), options, out=tmp_path, simulate=VirtualGroups(SPECS[0]), subject="groups", workers=2)
    passed = fuzz(range(6), options, simulate=VirtualGroups(SPECS[0]), subject="groups", workers=1)
    assert (kept.runs, kept.failing_seeds, kept.events) == (6, (), passed.events)


@pytest.mark.spark
@pytest.mark.nightly
def test_a_campaign_runs_on_spark(tmp_path: Path) -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER)
    spark = fuzz(range(4), options, out=tmp_path, engine="spark", simulate=VirtualGroups(SPECS[0]), subject="groups")
    local = fuzz(range(4), options, simulate=VirtualGroups(SPECS[0]), subject="groups", workers=1)
    assert replace(spark, engine="", seconds=0) == replace(local, engine="", seconds=0)
