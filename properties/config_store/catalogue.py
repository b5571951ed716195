"""The claims about the config store, in the order in which reports name them."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.config_store import (
    agreement,
    compaction,
    forms,
    isolation,
    reports,
    snapshots,
    writers,
)
from rebalance_check.properties.kinds import Invariant

ConfigStoreClaims: Final[tuple[Invariant, ...]] = (
    *agreement.CLAIMS,
    snapshots.SnapshotFollowsReads,
    snapshots.OffsetFollowsConversion,
    *reports.CLAIMS,
    *writers.CLAIMS,
    *forms.CLAIMS,
    *compaction.CLAIMS,
    *isolation.CLAIMS,
)
"""Every claim of the family ``config_store``: what workers agree on first, then what a store knows, reports, writes."""
