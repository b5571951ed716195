"""The invariants over events say what the model's claims over states say: on random paths, healthy and mutated."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from rebalance_check.model.registry import MUTANTS, model_for
from rebalance_check.model.vocabulary.bounds import GROUP_PROTOCOLS, Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.generation import GenerationMonotonicity
from rebalance_check.properties.laws.ownership import NoDoubleOwnership
from rebalance_check.properties.verdict import Outcome
from tests.model.model_run import ModelRun

CLASSIC = ["", *(name for name, m in MUTANTS.items() if m.bounds.protocol in GROUP_PROTOCOLS)]
OWNERSHIP = "no_double_ownership"
STEPS = 70
SEEDS = 6
DISTURBED = Bounds(members=3, partitions=2, generations=6, crashes=1, leaves=1, expiries=2, duplicates=1, deletions=1)


def walk(bounds: Bounds, mutant: str, seed: int) -> tuple[list[Event], set[str]]:
    """A random path: its events, and the claims of the model that break on it."""
    run, random = ModelRun(bounds, model=model_for(bounds, mutant)), Random(seed)
    events, broken = list(run.begin()), set()
    for _ in range(STEPS):
        enabled = run.enabled()
        if not enabled:
            break
        before = run.machine.copy(run.state)
        events += run.step(random.choice(enabled))
        broken |= {run.machine.violated(run.state), run.machine.violated_step(before, run.state)}
    return events, broken - {""}


@pytest.mark.parametrize("protocol", [RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE])
@pytest.mark.parametrize("seed", range(12))
def test_no_claim_is_violated__on_healthy_paths_with_zombies_and_duplicates__holds(
    protocol: RebalanceProtocol, seed: int
) -> None:
    bounds = replace(
        DISTURBED,
        protocol=protocol,
        initial_delay=seed % 2 == 0,
        member_id_required=seed % 3 == 0,
        timeouts=seed % 4 > 1,
        static_members=seed % 3,
        shared_instances=int(seed % 6 == 2),
    )
    events, broken = walk(bounds, "", seed)
    assert broken == set()
    judgement = judge(events, CATALOGUE)
    assert judgement.counterexamples == ()


CONCERNS = {
    "losses": 3,
    "failovers": 2,
    "commits": 4,
    "zombie_coordinators": 1,
    "new_members": True,
    "heartbeats_during_sync": 4,
}
"""The additions of the model's concerns, one at a time."""


@pytest.mark.parametrize("protocol", [RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE])
@pytest.mark.parametrize("concern", CONCERNS)
@pytest.mark.parametrize("seed", range(12))
def test_no_claim_is_violated__on_healthy_paths_of_each_concern__holds(
    protocol: RebalanceProtocol, concern: str, seed: int
) -> None:
    budget: dict[str, Any] = {concern: CONCERNS[concern]}
    if concern == "zombie_coordinators":
        budget["failovers"] = 2
    bounds = replace(DISTURBED, protocol=protocol, duplicates=0, member_id_required=seed % 3 == 0, **budget)
    events, broken = walk(bounds, "", seed)
    assert broken == set()
    assert judge(events, CATALOGUE).counterexamples == ()


@pytest.mark.parametrize("mutant", CLASSIC)
def test_no_double_ownership__whenever_the_model_says_so__is_violated(mutant: str) -> None:
    bounds = MUTANTS[mutant].bounds if mutant else DISTURBED
    for seed in range(SEEDS):
        events, broken = walk(bounds, mutant, seed)
        said = judge(events, [NoDoubleOwnership]).outcome
        assert (said is Outcome.VIOLATED) == (OWNERSHIP in broken), f"seed {seed}: {broken}"


def test_no_double_ownership__the_leader_does_not_withhold__is_seen_on_some_path() -> None:
    bounds = MUTANTS["leader-does-not-withhold"].bounds
    assert any("no_double_ownership" in walk(bounds, "leader-does-not-withhold", seed)[1] for seed in range(100))


def test_generation_monotonicity__a_generation_is_used_twice__is_violated() -> None:
    bounds = MUTANTS["generation-is-reused"].bounds
    runs = [walk(bounds, "generation-is-reused", seed) for seed in range(SEEDS)]
    agreed = [judge(events, [GenerationMonotonicity]).outcome is Outcome.VIOLATED for events, broken in runs if broken]
    assert agreed
    assert all(agreed)
    assert all(not judge(events, [GenerationMonotonicity]).counterexamples for events, broken in runs if not broken)
