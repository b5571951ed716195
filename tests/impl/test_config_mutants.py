"""Every planted defect of the config store is caught by the claim that it names, and the clean store by none."""

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, planted
from rebalance_check.impl.mutants.configs import CONFIG_MUTANTS
from rebalance_check.impl.simulator.config_cluster import simulate_configs
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.config_store.catalogue import ConfigStoreClaims
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

SEEDS = range(200)
CAUGHT_BY = {
    "cleaner-keeps-the-first": "snapshots_agree",
    "removal-drops-target-state": "config_snapshot_follows_reads",
    "leftovers-outlive-their-connector": "config_snapshot_follows_reads",
    "deferred-outlive-a-commit": "config_snapshot_follows_reads",
    "offset-advances-on-bad-json": "config_offset_follows_conversion",
    "inconsistent-tasks-listed": "tasks_are_listed_whole",
    "commit-counts-its-tasks-only": "listed_tasks_have_configs",
    "task-config-in-force-at-once": "committed_configs_change_at_commits",
    "incomplete-commit-applied": "incomplete_commit_changes_no_config",
    "commit-needs-no-fencing": "fencing_is_pending_after_a_commit",
    "generation-ends-with-its-connector": "generation_counts_complete_commits",
    "target-tombstone-forgets-default": "configured_connector_has_target_state",
    "removal-keeps-task-count": "unknown_connector_has_no_tasks",
    "callbacks-before-start": "config_callbacks_follow_reads",
    "unchanged-target-state-reported": "config_callbacks_follow_reads",
    "config-applied-when-read": "applied_is_current_at_the_commit",
    "commit-without-read-back": "commit_follows_read_back",
    "leader-writes-plainly": "fenced_leader_appends_nothing",
    "reader-begins-again": "config_reads_in_order",
}


@pytest.mark.parametrize("mutant", CAUGHT_BY)
def test_a_mutant_is_caught_by_the_claim_that_it_names(mutant: str) -> None:
    claim = IMPL_MUTANTS[mutant].caught_by
    with planted(mutant):
        caught = (judge(simulate_configs(seed), select([claim])).outcome for seed in SEEDS)
        assert any(outcome is Outcome.VIOLATED for outcome in caught)


def test_every_claim_has_a_mutant() -> None:
    assert {mutant.name: mutant.caught_by for mutant in CONFIG_MUTANTS} == CAUGHT_BY
    assert {claim.name for claim in ConfigStoreClaims} == {mutant.caught_by for mutant in CONFIG_MUTANTS}


def test_clean_stores_violate_nothing() -> None:
    for seed in range(100):
        judgement = judge(simulate_configs(seed), ConfigStoreClaims)
        assert judgement.counterexamples == (), seed


def test_one_seed_gives_one_history() -> None:
    assert simulate_configs(7) == simulate_configs(7)


@pytest.mark.nightly
def test_clean_stores_violate_nothing_for_many_seeds() -> None:
    for seed in range(3000):
        judgement = judge(simulate_configs(seed, 300), ConfigStoreClaims)
        assert judgement.counterexamples == (), seed
