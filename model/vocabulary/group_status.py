"""The five statuses of a classic group (``ClassicGroupState``)."""

from __future__ import annotations

from enum import StrEnum


class GroupStatus(StrEnum):
    """Kafka's names, as DescribeGroups prints them."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
