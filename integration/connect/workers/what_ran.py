"""The part of a cluster's history that shows which work ran, in which process, and each worker's view of the configs.

A history with the assignments, the lost memberships and the compactions shows why a connector or task ran in two
workers, or why two workers know different tasks, and claims excuse Kafka's known behaviour. Without them the claims
say only whether it did.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rebalance_check.integration.live.recording import renumbered
from rebalance_check.model.vocabulary.events import (
    ConfigSnapshotTaken,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RunEnded,
    RunStarted,
    TaskStarted,
    TaskStopped,
)

WHAT_RAN: Final = (
    RunStarted, MemberStarted, MemberCrashed, MemberLeft, ConnectorStarted, ConnectorStopped, TaskStarted, TaskStopped,
    ConfigSnapshotTaken, RunEnded,
)  # fmt: skip


def what_ran(history: Iterable[Event]) -> list[Event]:
    """The starts, stops and snapshots of a history, and the processes in which they happened."""
    return list(renumbered(event for event in history if isinstance(event, WHAT_RAN)))
