"""Mutants that show when a group changes its assignor: `rebalance_check.model.vocabulary.upgrade_paths`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulationOptions

UPGRADE_MUTANTS: Final = [
    Mutant(
        name="any-cooperative-assignor-counts",
        what="a member that lists an eager assignor, too, keeps its partitions while it rebalances",
        caught_by="revoked_before_reassigned",
        where="impl",
        find=FuzzSearch(options=SimulationOptions(upgrade="legal"), first=40, last=50),
        catalogue_id="cooperative-to-eager-flip-without-revoke",
    ),
]
