"""The part of a cluster's history that the recording connector and the operator see: what ran, in which process.

A history with the assignments and the lost memberships shows why a connector or task ran in two workers, and claims
excuse what Kafka is known to do. Without them the claims say only whether it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from rebalance_check.model.vocabulary.events import (
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
    RunEnded,
)  # fmt: skip


def what_ran(history: Iterable[Event]) -> list[Event]:
    """The starts and stops of a history, and the processes in which they happened."""
    numbers: Counter[str] = Counter()
    found: list[Event] = []
    for event in history:
        if isinstance(event, WHAT_RAN):
            found.append(replace(event, seq=numbers[event.source]))
            numbers[event.source] += 1
    return found
