"""The claims of safe status writes, in the order in which reports name them."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.answering import ListsFollowReads
from rebalance_check.properties.status.caching import CacheFollowsReads, StaleUnassignedIgnored
from rebalance_check.properties.status.overwriting import ExplainedOverwrite, QuiescentSafety
from rebalance_check.properties.status.reading import ReadersConverge
from rebalance_check.properties.status.retrying import NoResurrectionByRetry, NoSelfReordering, RetriesAreAdmitted
from rebalance_check.properties.status.sending import AppendsAnswerSends
from rebalance_check.properties.status.settling import FlushWaits
from rebalance_check.properties.status.suppressing import SuppressedIffNewerCached, SuppressionWasRead

SafeStatusWrites: Final[tuple[Invariant, ...]] = (
    ExplainedOverwrite,
    QuiescentSafety,
    NoSelfReordering,
    SuppressionWasRead,
    NoResurrectionByRetry,
    StaleUnassignedIgnored,
    ReadersConverge,
    CacheFollowsReads,
    ListsFollowReads,
    AppendsAnswerSends,
    SuppressedIffNewerCached,
    RetriesAreAdmitted,
    FlushWaits,
)
"""Every claim of the family ``safe_status_writes``: what follows for the log first, then what a store must do."""
