"""S4 and P4: a safe write yields to a newer status of another worker that was read, and to nothing else."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusRead,
    StatusSent,
    StatusSuppressed,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import Item, Seen, StatusFold, Write, described, is_newer, item_of
from rebalance_check.properties.status.violations import SuppressedWithoutReason, WronglySuppressed
from rebalance_check.properties.verdict import STEP, Because


def check(write: Write) -> list[Because]:
    """What the write is, and what the cache held when it was checked."""
    attempted = write.attempted
    return [
        Because(
            f"{attempted.worker} last read {described(write.checked)} for {attempted.key} ({STEP}).", write.checked
        ),
        Because(
            f"at {STEP} it was asked to write {attempted.status} of {attempted.status_worker} in generation "
            f"{attempted.generation}, {'safely' if attempted.safe else 'whatever is cached'}.",
            attempted,
        ),
    ]


class _IffCached(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusSuppressed: self._suppressed, StatusSent: self._sent})

    def _suppressed(self, event: StatusSuppressed) -> None:
        write = self.memory.write
        if write is not None and not (write.attempted.safe and is_newer(write.checked, write.attempted)):
            self.broken(
                f"{event.worker} suppressed {write.attempted.status} of {event.key}, though {described(write.checked)}",
                [*check(write), Because(f"it suppressed the write at {STEP}: contradiction.", event)],
            )

    def _sent(self, event: StatusSent) -> None:
        write = self.memory.write
        if event.send == 1 and write is not None and write.attempted.safe and is_newer(write.checked, write.attempted):
            self.broken(
                f"{event.worker} sent {write.attempted.status} of {event.key} over {described(write.checked)}",
                [*check(write), Because(f"it sent the write at {STEP}: contradiction.", event)],
            )


class _OnceRead(StatusFold):
    """Remembers, per store and item, the highest generation that was read of each worker, and where."""

    bookkeeping = frozenset({StatusRead})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusRead: self._read, StatusSuppressed: self._suppressed})
        self._highest: dict[tuple[str, Item | None], dict[str, Seen]] = {}

    def _read(self, event: StatusRead) -> None:
        item = self.memory.item
        if item is None:
            return
        highest = self._highest.setdefault((event.worker, item), {})
        known = highest.get(event.status_worker)
        if known is None or known.generation < event.generation:
            highest[event.status_worker] = event

    def _suppressed(self, event: StatusSuppressed) -> None:
        write = self.memory.write
        if write is None:
            return
        attempted = write.attempted
        read = self._highest.get((event.worker, item_of(event.key)), {})
        if not any(is_newer(seen, attempted) for seen in read.values()):
            self.broken(
                f"{event.worker} suppressed {attempted.status} of {event.key} and had read nothing newer",
                [
                    Because(f"{event.worker} was asked to write it at {STEP}.", attempted),
                    Because(
                        f"it suppressed the write at {STEP}, though no status of another worker above generation "
                        f"{attempted.generation} had been read: contradiction.",
                        event,
                    ),
                ],
            )


SuppressedIffNewerCached: Final = Invariant(
    name="safe_status_writes.suppressed_iff_newer_cached",
    family="safe_status_writes",
    claim="putSafe is suppressed exactly when another worker's status of a higher generation is cached; put never is",
    source="KafkaStatusBackingStore, CacheEntry.canWriteSafely",
    premises=("every read of a store is recorded, from its start",),
    exempted_by=(StatusRead,),
    violation=WronglySuppressed,
    fold=_IffCached,
)
"""S4. The smallest history that breaks it::

    StatusRead(worker="w0", key="status-task-c-0", status="RUNNING", status_worker="w1:8083", generation=2, ...)
    StatusAttempted(worker="w0", key="status-task-c-0", status="UNASSIGNED", status_worker="w0:8083", generation=1,
                    attempt=0, safe=True)
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{}")
"""

SuppressionWasRead: Final = Invariant(
    name="safe_status_writes.suppression_was_read",
    family="safe_status_writes",
    claim="a write is suppressed only after a newer status of another worker was read for its key",
    source="KafkaStatusBackingStore, CacheEntry.canWriteSafely",
    premises=(
        "it need not be the last record of the key: a suppression may be wrong in truth, and right by the cache",
    ),
    exempted_by=(StatusRead,),
    violation=SuppressedWithoutReason,
    fold=_OnceRead,
)
"""P4. The smallest history that breaks it::

    StatusAttempted(worker="w0", key="status-task-c-0", status="UNASSIGNED", generation=1, attempt=0, safe=True)
    StatusSuppressed(worker="w0", key="status-task-c-0", attempt=0)
"""
