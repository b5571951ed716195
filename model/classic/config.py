"""The bounds of the classic model, and the tables that follow from them, as its steps read them."""

from rebalance_check.model.classic.parts.assignment import target_table
from rebalance_check.model.classic.state import Config, is_cooperative, sizes
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.upgrade_paths import (
    cooperative_lists,
    encoded_lists,
    offered_names,
    path_numbered,
    withholding_names,
)


def configure(bounds: Bounds) -> Config:
    """The bounds as the model reads them."""
    start, targets = target_table(bounds.members, bounds.partitions)
    path = path_numbered(bounds.upgrade) if bounds.upgrade else None
    return Config(
        members=bounds.members,
        partitions=bounds.partitions,
        generations=bounds.generations,
        crashes=bounds.crashes,
        leaves=bounds.leaves,
        expiries=bounds.expiries,
        duplicates=bounds.duplicates,
        deletions=bounds.deletions,
        cooperative=is_cooperative(bounds),
        initial_delay=bounds.initial_delay,
        member_id_required=bounds.member_id_required,
        timeouts=bounds.timeouts,
        static_members=bounds.static_members,
        shared_instances=bounds.shared_instances,
        losses=bounds.losses,
        upgrade=bounds.upgrade,
        rolling_restarts=bounds.rolling_restarts,
        upgrade_order=path.order if path else 0,
        list_count=len(path.lists) if path else 1,
        list_kept=sizes(bounds)["list_kept"] > 0,
        lists=encoded_lists(path) if path else (),
        offered=offered_names(path) if path else (),
        withholding=withholding_names(path) if path else (),
        cooperative_lists=cooperative_lists(path) if path else (),
        failovers=bounds.failovers,
        commits=bounds.commits,
        zombie_coordinators=bounds.zombie_coordinators,
        new_members=bounds.new_members,
        heartbeats_during_sync=bounds.heartbeats_during_sync,
        target_start=start,
        targets=targets,
    )
