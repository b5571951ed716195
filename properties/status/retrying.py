"""S5, P3 and P5: what may be sent again after a retriable failure, and what may not."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusGivenUp,
    StatusRead,
    StatusSent,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import StatusFold, Write
from rebalance_check.properties.status.violations import ResurrectedByRetry, SelfReordered, WronglyRetried
from rebalance_check.properties.verdict import STEP, Because


def retry(write: Write, event: StatusSent, why: Because) -> list[Because]:
    """The reasons against a retry: the write, what speaks against it, the answer that decided, the send."""
    return [
        Because(f"{event.worker} wrote {write.attempted.status} of {event.key} at {STEP}.", write.attempted),
        why,
        Because(f"the send failed retriably at {STEP}: this is when a retry is admitted or not.", write.answered),
        Because(f"it was sent again at {STEP}: contradiction.", event),
    ]


class _Admitted(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusSent: self._sent, StatusGivenUp: self._given_up})

    def _sent(self, event: StatusSent) -> None:
        """A retry follows only where nothing spoke against it."""
        write = self.memory.write
        if event.send > 1 and write is not None and write.against:
            why = Because(f"by then the retry was ruled out ({write.against}, since {STEP}).", write.evidence)
            self.broken(
                f"{event.worker} retried {write.attempted.status} of {event.key} ({write.against})",
                retry(write, event, why),
            )

    def _given_up(self, event: StatusGivenUp) -> None:
        """A write is given up only for the reason that holds."""
        write = self.memory.write
        if write is None:
            return
        answer = write.answered
        stopped = self.memory.of(event.worker).stopped
        justified = {
            "fatal": answer is not None and answer.outcome == "fatal",
            "stopped": stopped,
            "exhausted": not write.against and answer is not None and answer.outcome == "retriable",
            "exception": not write.attempted.status_worker or self._met_no_worker(write),
        }
        if not justified.get(event.reason, event.reason == write.against):
            holds = write.against or "nothing speaks against a retry"
            self.broken(
                f"{event.worker} gave up {write.attempted.status} of {event.key} ({event.reason}), but: {holds}",
                [
                    Because(f"the last answer came at {STEP}.", answer),
                    Because(f"it was given up as {event.reason} at {STEP}: contradiction.", event),
                ],
            )

    @staticmethod
    def _met_no_worker(write: Write) -> bool:
        """A cached value that names no worker makes the check of a safe write throw."""
        return write.attempted.safe and write.checked is not None and not write.checked.status_worker


class _NotReordered(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusSent: self._sent})

    def _sent(self, event: StatusSent) -> None:
        write = self.memory.write
        if event.send > 1 and write is not None and write.attempted.safe and write.overtaken is not None:
            why = Because(f"a younger write of the same entry was admitted at {STEP}.", write.overtaken)
            self.broken(f"{event.worker} retried {event.key} behind a younger write", retry(write, event, why))


class _NotResurrected(StatusFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusSent: self._sent})

    def _sent(self, event: StatusSent) -> None:
        write = self.memory.write
        if event.send > 1 and write is not None and write.against == "deleted":
            why = Because(f"the tombstone that ended its entry was read at {STEP}.", write.evidence)
            self.broken(f"{event.worker} resurrected {event.key} by a retry", retry(write, event, why))


RetriesAreAdmitted: Final = Invariant(
    name="safe_status_writes.retries_are_admitted",
    family="safe_status_writes",
    claim="a failed write is retried exactly when its entry still exists, the store's generation is its own and, if it "
    "is safe, the check still passes and no younger write of the entry was admitted",
    source="KafkaStatusBackingStore.send, the producer's callback; KAFKA-14902",
    premises=("the gate is judged at the failed answer: the retry thread may send much later without asking again",),
    exempted_by=(
        StatusAnswered,
        StatusRead,
    ),
    violation=WronglyRetried,
    fold=_Admitted,
)
"""S5, with its converse: a write is given up only for the reason that holds. The smallest history that breaks it::

    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{}")
    StatusAttempted(worker="w0", key="status-task-c-1", attempt=1, status="RUNNING", generation=2, safe=False)
    StatusAnswered(worker="w0", key="status-task-c-0", attempt=0, send=1, outcome="retriable")
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=2, value="{}")
"""

NoSelfReordering: Final = Invariant(
    name="safe_status_writes.no_self_reordering",
    family="safe_status_writes",
    claim="a safe write is not retried once a younger write of the same entry was admitted",
    source="KafkaStatusBackingStore.send, CacheEntry.sequence",
    premises=("a retry admitted before the younger write may still be appended behind it: one, at most",),
    violation=SelfReordered,
    fold=_NotReordered,
)
"""P3: unsafe writes have no such protection (catalogue: status-unguarded-retry-reorders). The smallest history that
breaks it::

    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="FAILED", generation=1, safe=True)
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{}")
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=1, status="RUNNING", generation=1, safe=False)
    StatusAnswered(worker="w0", key="status-task-c-0", attempt=0, send=1, outcome="retriable")
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=2, value="{}")
"""

NoResurrectionByRetry: Final = Invariant(
    name="safe_status_writes.no_resurrection_by_retry",
    family="safe_status_writes",
    claim="once the tombstone of an entry was read, no failed write of it is sent again",
    source="KafkaStatusBackingStore, CacheEntry.deleted",
    premises=("a new write may follow a tombstone freely: resurrection by a late safe write is a known race",),
    violation=ResurrectedByRetry,
    fold=_NotResurrected,
)
"""P5: the tombstone of a connector ends the entries of its tasks, too. The smallest history that breaks it::

    StatusAttempted(worker="w0", key="status-connector-c", attempt=0, status="RUNNING", generation=1, safe=False)
    StatusSent(worker="w0", key="status-connector-c", attempt=0, send=1, value="{}")
    StatusRead(worker="w0", key="status-connector-c", partition=0, offset=0, status="DESTROYED")
    StatusAnswered(worker="w0", key="status-connector-c", attempt=0, send=1, outcome="retriable")
    StatusSent(worker="w0", key="status-connector-c", attempt=0, send=2, value="{}")
"""
