"""S1 and P6: a store believes what it has read back, and a late UNASSIGNED does not hide a RUNNING."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusIgnored,
    StatusQueried,
    StatusRead,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import StatusFold, described, is_removal, is_stale, item_of, topic_named
from rebalance_check.properties.status.violations import CacheDoesNotFollowReads, StaleUnassignedApplied
from rebalance_check.properties.verdict import STEP, Because


class _FollowsReads(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusQueried: self._queried, StatusIgnored: self._ignored})

    def _queried(self, event: StatusQueried) -> None:
        item = item_of(event.key)
        if topic_named(event.key) is not None:
            return
        value = None if item is None else self.memory.of(event.worker).value(item)
        expected = ("", "", -1) if value is None else (value.status, value.status_worker, value.generation)
        answer = (event.status, event.status_worker, event.generation)
        if answer == expected:
            return
        said = (
            f"{event.status} of {event.status_worker} in generation {event.generation}" if event.status else "nothing"
        )
        self.broken(
            f"{event.worker} holds {said} for {event.key}, its reads say {described(value)}",
            [
                Because(
                    f"the last record of {event.key} that {event.worker} took is {described(value)} ({STEP}).", value
                ),
                Because(f"asked at {STEP}, it answered {said}: contradiction.", event),
            ],
        )

    def _ignored(self, event: StatusIgnored) -> None:
        """Only the stale rule may leave a readable record out."""
        item, cached = self.memory.item, self.memory.cached
        if item is not None and not is_stale(cached, event, item):
            self.broken(
                f"{event.worker} left out {described(event)} of {event.key}, which is not stale",
                [
                    Because(f"{event.worker} holds {described(cached)} for {event.key} ({STEP}).", cached),
                    Because(f"it left {described(event)} out at {STEP}: contradiction.", event),
                ],
            )


class _StaleIgnored(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusRead: self._read})

    def _read(self, event: StatusRead) -> None:
        item, cached = self.memory.item, self.memory.cached
        if item is None or is_removal(event) or not is_stale(cached, event, item):
            return
        self.broken(
            f"{event.worker} let {described(event)} replace {described(cached)} for {event.key}",
            [
                Because(f"{event.worker} read {described(cached)} at {STEP}.", cached),
                Because(f"it took {described(event)} at {STEP}, of no higher generation: contradiction.", event),
            ],
        )


CacheFollowsReads: Final = Invariant(
    name="safe_status_writes.cache_follows_reads",
    family="safe_status_writes",
    claim="a store answers with the last record it read, and leaves out no record but a stale UNASSIGNED",
    source="KafkaStatusBackingStore.read, CacheEntry; KAFKA-12525",
    premises=("every read of a store is recorded, from its start",),
    exempted_by=(StatusRead,),
    violation=CacheDoesNotFollowReads,
    fold=_FollowsReads,
)
"""S1: the cache is a function of reads; a write is not seen before it is read back. A connector's tombstone removes the
statuses of its tasks from the cache, too. The smallest history that breaks it::

    StatusQueried(worker="w0", key="status-task-c-0", status="RUNNING", status_worker="w0:8083", generation=1)
"""

StaleUnassignedIgnored: Final = Invariant(
    name="safe_status_writes.stale_unassigned_ignored",
    family="safe_status_writes",
    claim="a task's RUNNING is not replaced in a cache by an UNASSIGNED of its own or a lower generation",
    source="KAFKA-12525; KafkaStatusBackingStore.readTaskStatus",
    premises=("every read of a store is recorded, from its start",),
    violation=StaleUnassignedApplied,
    fold=_StaleIgnored,
)
"""P6: tasks only; connectors have no such rule. The smallest history that breaks it::

    StatusRead(worker="w0", key="status-task-c-0", partition=0, offset=0, status="RUNNING", generation=6, ...)
    StatusRead(worker="w0", key="status-task-c-0", partition=0, offset=1, status="UNASSIGNED", generation=5, ...)
"""
