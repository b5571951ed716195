"""A compacted topic in memory: partitions, one channel per store, and every step of a record done on its own.

Nothing happens by itself. The owner of the log decides when the head of a channel is appended, when and how it is
answered (also after the append, which is how an acknowledgement is lost), and when a store reads its next record.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple
from zlib import crc32

from rebalance_check.impl.connect.status.log import SendOutcome, StatusReader
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import StatusAppended


class StatusRecord(NamedTuple):
    """A record of the topic."""

    offset: int
    key: str
    value: bytes | None


@dataclass(slots=True)
class InFlight:
    """A send that was not answered yet."""

    key: str
    value: bytes | None
    attempt: int
    send: int
    appended: bool = False


class SharedLog:
    """The topic. ``recorder`` records each append when it happens."""

    def __init__(self, partitions: int, recorder: Recorder) -> None:
        self.partitions: list[list[StatusRecord]] = [[] for _ in range(partitions)]
        self._ends = [0] * partitions
        self._recorder = recorder

    def partition_of(self, key: str) -> int:
        """The partition of a key; any stable hash will do, as order exists per key only."""
        return crc32(key.encode()) % len(self.partitions)

    def end(self, partition: int) -> int:
        """The offset that the next record of a partition gets."""
        return self._ends[partition]

    @property
    def ends(self) -> tuple[int, ...]:
        """The ends of all partitions."""
        return tuple(self._ends)

    def append(self, worker: str, sent: InFlight) -> None:
        """Make the send of ``worker`` a record."""
        partition = self.partition_of(sent.key)
        offset = self._ends[partition]
        self._ends[partition] += 1
        self.partitions[partition].append(StatusRecord(offset, sent.key, sent.value))
        sent.appended = True
        self._recorder.emit(
            StatusAppended(
                worker=worker,
                key=sent.key,
                attempt=sent.attempt,
                send=sent.send,
                partition=partition,
                offset=offset,
            )
        )

    def compact(self) -> None:
        """Drop every record that a later one of its key replaces; tombstones stay, as they do for a day in Kafka."""
        for records in self.partitions:
            last = {record.key: record.offset for record in records}
            records[:] = [record for record in records if last[record.key] == record.offset]


@dataclass(slots=True)
class Channel:
    """One store's producer and reader over a `SharedLog` (the `StatusLog` that the store is made with).

    The producer sends in order and keeps one request in flight; the reader keeps its position per partition.
    """

    log: SharedLog
    worker: str
    store: StatusReader | None = None
    waiting: deque[InFlight] = field(default_factory=deque)
    positions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.positions = [0] * len(self.log.partitions)

    # -------------------------------------------------------------------------------------------- producer

    def send(self, key: str, value: bytes | None, attempt: int, send: int) -> None:
        """Queue a record behind those in flight."""
        self.waiting.append(InFlight(key, value, attempt, send))

    @property
    def head(self) -> InFlight | None:
        """The send that the broker works on."""
        return self.waiting[0] if self.waiting else None

    def append(self) -> None:
        """The broker appends the head, once.

        Raises: `RebalanceCheckError` when it is appended already, or nothing is in flight.
        """
        sent = self._head()
        if sent.appended:
            raise RebalanceCheckError(f"the send of {sent.key} by {self.worker} was appended already: answer it")
        self.log.append(self.worker, sent)

    def answer(self, outcome: SendOutcome) -> None:
        """The producer reports on the head; only appended records can be ok, and none of them fails fatally.

        Raises: `RebalanceCheckError` for an outcome that the head cannot have, or when nothing is in flight.
        """
        sent = self._head()
        if (outcome is SendOutcome.OK and not sent.appended) or (outcome is SendOutcome.FATAL and sent.appended):
            raise RebalanceCheckError(f"a send of {sent.key} cannot be {outcome}: appended is {sent.appended}")
        self.waiting.popleft()
        self._store().completed(sent.attempt, sent.send, outcome)

    def close(self) -> InFlight | None:
        """The process died: records not on the wire are gone. The head may still reach the broker; it is returned."""
        head = self.head
        self.waiting.clear()
        self.store = None
        return head

    def _head(self) -> InFlight:
        if not self.waiting:
            raise RebalanceCheckError(f"{self.worker} has nothing in flight")
        return self.waiting[0]

    def _store(self) -> StatusReader:
        if self.store is None:
            raise RebalanceCheckError(f"the channel of {self.worker} has no store: set it after making one")
        return self.store

    # -------------------------------------------------------------------------------------------- reader

    def next_record(self, partition: int) -> StatusRecord | None:
        """The next record that the store has not read, or None at the end."""
        records = self.log.partitions[partition]
        at = bisect_left(records, self.positions[partition], key=lambda record: record.offset)
        return records[at] if at < len(records) else None

    def unread(self) -> list[int]:
        """The partitions that hold a record which the store has not read."""
        return [p for p in range(len(self.positions)) if self.positions[p] < self.log.end(p)]

    def read(self, partition: int) -> bool:
        """Let the store read its next record of a partition; False when there is none."""
        record = self.next_record(partition)
        if record is None:
            self.positions[partition] = self.log.end(partition)
            if self.store is not None:
                self.store.reached(partition, self.positions[partition])
            return False
        self.positions[partition] = record.offset + 1
        self._store().read(partition, record.offset, record.key, record.value)
        return True
