"""The claims of safe status writes, in the order in which reports name them."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.answering import ListsFollowReads, TopicsFollowReads
from rebalance_check.properties.status.caching import CacheFollowsReads, StaleUnassignedIgnored
from rebalance_check.properties.status.overwriting import ExplainedOverwrite, QuiescentSafety
from rebalance_check.properties.status.races import OverwriteFitsARace
from rebalance_check.properties.status.reading import ReadersConverge, ReadsInOrder
from rebalance_check.properties.status.retrying import NoResurrectionByRetry, NoSelfReordering, RetriesAreAdmitted
from rebalance_check.properties.status.sending import AppendsAnswerSends, LogKeepsSendOrder, RetriesRepeatTheBytes
from rebalance_check.properties.status.settling import FlushWaits, WritesSettle
from rebalance_check.properties.status.suppressing import SuppressedIffNewerCached, SuppressionWasRead
from rebalance_check.properties.status.topic import (
    StatusOffsetsHaveNoGaps,
    StatusReadsSayWhatWasSent,
    StoresStartBehindTheTopic,
)
from rebalance_check.properties.status.understanding import (
    SentRecordsAreUnderstood,
    SentRecordsSaySo,
    StoppedStoresAreSilent,
    StoresStartOnce,
)

SafeStatusWrites: Final[tuple[Invariant, ...]] = (
    ExplainedOverwrite,
    OverwriteFitsARace,
    QuiescentSafety,
    NoSelfReordering,
    SuppressionWasRead,
    NoResurrectionByRetry,
    StaleUnassignedIgnored,
    ReadersConverge,
    WritesSettle,
    CacheFollowsReads,
    TopicsFollowReads,
    ListsFollowReads,
    ReadsInOrder,
    AppendsAnswerSends,
    SuppressedIffNewerCached,
    RetriesAreAdmitted,
    RetriesRepeatTheBytes,
    LogKeepsSendOrder,
    FlushWaits,
    SentRecordsAreUnderstood,
    SentRecordsSaySo,
    StoppedStoresAreSilent,
    StoresStartOnce,
    StatusReadsSayWhatWasSent,
    StatusOffsetsHaveNoGaps,
    StoresStartBehindTheTopic,
)
"""Every claim of the family ``safe_status_writes``: what follows for the log first, then what a store must do."""
