"""The broker side of the classic group protocol, sans-IO: requests and time go in, replies, timers and events come out.

Behaves as the Java coordinator of Apache Kafka 4.3 (``GroupMetadataManager``, ``ClassicGroup``). `GroupCoordinator` is
the entry point; the other modules hold one operation each.
"""

from rebalance_check.impl.coordinator.config import GroupConfig
from rebalance_check.impl.coordinator.coordinator import GroupCoordinator

__all__ = ["GroupConfig", "GroupCoordinator"]
