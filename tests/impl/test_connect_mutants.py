"""Every claim about Connect is named by a planted defect, and the search of each defect of a worker has one."""

from __future__ import annotations

from rebalance_check.impl.mutants.registry import MUTANTS
from rebalance_check.properties.laws import config, connect, status


def test_every_claim_about_workers_is_named_by_a_mutant() -> None:
    named = {mutant.caught_by for mutant in MUTANTS.values()}
    assert {invariant.name for invariant in (*connect.LAWS, *config.LAWS, *status.LAWS)} - named == set()
