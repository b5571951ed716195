"""Simulated config stores without a group: one seed, one history, which every claim about them holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.impl.mutants.registry import MUTANTS
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import SimulatorSubject, churn_schedule, simulate
from rebalance_check.model.vocabulary.actions import CONFIG_CHURN, Action, ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import ConfigCompacted, ConfigSnapshotTaken, MemberCrashed, RunEnded
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws import config

OPTIONS = SimulationOptions(protocol=SimulatedProtocol.CONNECT_CONFIG, steps=12)


def test_every_claim_about_config_stores_is_named_by_a_mutant() -> None:
    assert {claim.name for claim in config.LAWS} <= {mutant.caught_by for mutant in MUTANTS.values()}


def test_clean_stores_violate_nothing() -> None:
    for seed in range(100):
        history = simulate(seed, OPTIONS)
        assert history[-1].pending == () if isinstance(history[-1], RunEnded) else False
        assert judge(history, config.LAWS).counterexamples == (), seed


def test_one_seed_gives_one_history() -> None:
    assert simulate(7, OPTIONS) == simulate(7, OPTIONS) != simulate(8, OPTIONS)


def test_the_seeds_draw_every_kind_of_churn__and_it_happens() -> None:
    drawn = {action.kind for seed in range(20) for action in churn_schedule(seed, OPTIONS).actions}
    assert drawn == CONFIG_CHURN == SimulatorSubject(OPTIONS).actions
    seen = {type(event) for seed in range(20) for event in simulate(seed, OPTIONS)}
    assert {ConfigCompacted, ConfigSnapshotTaken, MemberCrashed} <= seen


def test_an_action_that_is_left_out_leaves_the_others_as_they_are() -> None:
    whole = churn_schedule(3, OPTIONS).actions
    assert churn_schedule(3, replace(OPTIONS, omit=(5,))).actions == (*whole[:5], *whole[6:])


def test_what_concerns_groups_is_refused() -> None:
    subject = SimulatorSubject(OPTIONS)
    subject.open(churn_schedule(0, OPTIONS).bounds, 0)
    with pytest.raises(RebalanceCheckError, match="config stores do not understand Rebalance: choose one of"):
        subject.perform(Action(ActionKind.REBALANCE))


@pytest.mark.nightly
def test_clean_stores_violate_nothing_for_many_seeds() -> None:
    for seed in range(3000):
        assert judge(simulate(seed, replace(OPTIONS, steps=30)), config.LAWS).counterexamples == (), seed
