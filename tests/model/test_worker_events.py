"""The events of worker groups in the model: the invariants of the catalogue judge its paths as they judge workers."""

from random import Random

import pytest

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety import Path, explore
from rebalance_check.model.execution import Execution, execute
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.actions import DISTURBANCES, Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import AssignmentAccepted, MemberRemoved, TaskStarted, WorkRevocationEnded
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from tests.model.test_mutants import mutants_in

JUDGES = [invariant for invariant in CATALOGUE if invariant.family == "connect"]

WALKED = (
    "connect-eager?members=3&partitions=4&generations=30&crashes=3&leaves=2&losses=2&expiries=2&config_changes=4",
    "connect-incremental?members=3&partitions=4&generations=30&crashes=3&leaves=2&losses=2&config_changes=4",
    "connect-incremental?members=3&partitions=4&generations=30&crashes=2&expiries=3&config_changes=2",
    "connect-eager?members=3&partitions=3&generations=30&crashes=0&rolling_restarts=3&modes=eager-to-sessioned",
)
"""Larger than what is exhausted."""


def walked(bounds: Bounds, seed: int, steps: int, mutant: str = "") -> Execution:
    """A random path, in which disturbances are rare."""
    random, actions = Random(seed), list[Action]()
    model = model_for(bounds, mutant)
    machine = Path(model, bounds, ()).machine
    state = machine.initial()
    for _ in range(steps):
        possible = machine.enabled(state)
        usual = [action for action in possible if action.kind not in DISTURBANCES]
        if not possible:
            break
        action = random.choice(usual if usual and random.random() < 0.9 else possible)
        machine.step(state, action)
        actions.append(action)
    return execute(Path(model, bounds, tuple(actions)))


@pytest.mark.parametrize("address", WALKED)
def test_random_paths_hold_what_the_catalogue_says_about_workers(address: str) -> None:
    kinds = set[type]()
    for seed in range(8):
        events = [event for caused in walked(Bounds.from_address(address), seed, 120).events for event in caused]
        judgement = judge(events, JUDGES)
        assert judgement.counterexamples == ()
        kinds |= {type(event) for event in events}
    assert {TaskStarted, AssignmentAccepted, WorkRevocationEnded} <= kinds
    assert MemberRemoved in kinds


NOT_SEEN = {
    "assignment-replaces-cooperative-claim": "the path ends before the worker joins, or accepts, with its claim",
    "operator-does-not-wait": "what an eager assignment leaves running is a premise of the catalogue (KAFKA-13816)",
}
"""Mutants of a claim that both have, whose shortest counterexample shows nothing to an observer of events, and why."""

NAMES = {invariant.name for invariant in JUDGES}
SHARED = [mutant for mutant in mutants_in("connect.workers") if mutant.caught_by in NAMES and not mutant.liveness]


def broken_by(mutant: ModelMutant) -> set[str]:
    """The invariants of the catalogue that break on the events of the mutant's shortest counterexample."""
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.counterexample is not None
    events = [event for caused in execute(found.counterexample).events for event in caused]
    return {each.invariant for each in judge(events, JUDGES).counterexamples}


@pytest.mark.parametrize("mutant", SHARED, ids=lambda mutant: mutant.name)
def test_the_invariant_of_the_same_name_breaks_on_the_events_of_a_counterexample(mutant: ModelMutant) -> None:
    assert (mutant.caught_by in broken_by(mutant)) == (mutant.name not in NOT_SEEN)


def test_what_is_not_seen_names_mutants_of_shared_claims() -> None:
    assert set(NOT_SEEN) <= {mutant.name for mutant in SHARED}
    assert len(SHARED) > len(NOT_SEEN)
