"""The claims about the config store, in the order in which reports name them."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.config_store import (
    aborting,
    agreement,
    calling,
    calls,
    compaction,
    consistency,
    forms,
    isolation,
    outcomes,
    reading,
    reports,
    snapshots,
    transactions,
    writers,
)
from rebalance_check.properties.kinds import Invariant

ConfigStoreClaims: Final[tuple[Invariant, ...]] = (
    *agreement.CLAIMS,
    snapshots.SnapshotFollowsReads,
    snapshots.OffsetFollowsConversion,
    consistency.TasksListedWhole,
    consistency.ListedTasksHaveConfigs,
    snapshots.ChangeAtCommits,
    snapshots.IncompleteCommit,
    snapshots.FencingPending,
    snapshots.GenerationCountsCommits,
    consistency.TargetStateKnown,
    consistency.RemovedConnectorKeepsNoTasks,
    snapshots.AppliedConfig,
    *reports.CLAIMS,
    *writers.CLAIMS,
    *forms.CLAIMS,
    *reading.CLAIMS,
    *compaction.CLAIMS,
    *isolation.CLAIMS,
    *transactions.CLAIMS,
    *aborting.CLAIMS,
    *calls.CLAIMS,
    *calling.CLAIMS,
    *outcomes.CLAIMS,
)
"""Every claim of the family ``config_store``: what workers agree on first, then what a store knows, reports, writes."""
