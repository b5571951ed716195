"""The config topic in memory: its records, transactions, compaction, and the readers' view of its end.

Nothing happens by itself: all sends and reads are done by the `ConfigChannel` of each store.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple

from rebalance_check.impl.connect.config.compaction import compacted
from rebalance_check.impl.connect.config.values import ConfigRecord
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigTransactionEnded,
    ProducerInitialised,
)

TRANSACTIONAL_ID: Final = "connect-cluster-{group}"


class TransactionState(StrEnum):
    """The outcome of a transaction."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(slots=True, eq=False)
class Transaction:
    """Records that are committed or aborted together: the ``epoch`` of their producer, and their ``first`` offset."""

    epoch: int
    state: TransactionState = TransactionState.OPEN
    first: int | None = None


class TopicRecord(NamedTuple):
    """A record of the topic; ``transaction`` None was written by a plain producer."""

    offset: int
    key: str | None
    value: bytes | None
    transaction: Transaction | None = None


@dataclass(slots=True, eq=False)
class SharedConfigLog:
    """The topic; ``recorder`` records appends and compactions when they happen.

    ``partitions`` is 1 in every topic that a store accepts.
    """

    recorder: Recorder
    group: str = "connect"
    partitions: int = 1
    records: list[TopicRecord] = field(default_factory=list)
    end: int = 0
    _open: list[Transaction] = field(default_factory=list)
    _epoch: int = -1

    @property
    def transactional_id(self) -> str:
        """The transactional id of the leaders of the cluster."""
        return TRANSACTIONAL_ID.format(group=self.group)

    @property
    def stable_end(self) -> int:
        """The first offset of an open transaction, or the end: where readers of committed records stop."""
        return min((one.first for one in self._open if one.first is not None), default=self.end)

    def append(self, writer: str, record: ConfigRecord, transaction: Transaction | None = None) -> int:
        """Append a record; its offset."""
        offset, self.end = self.end, self.end + 1
        self.records.append(TopicRecord(offset, *record, transaction))
        if transaction is not None and transaction.first is None:
            transaction.first = offset
            self._open.append(transaction)
        self.recorder.emit(
            ConfigAppended(
                writer=writer,
                offset=offset,
                key=record.key,
                value=None if record.value is None else record.value.decode(errors="backslashreplace"),
                transactional_id="" if transaction is None else self.transactional_id,
                epoch=-1 if transaction is None else transaction.epoch,
            )
        )
        return offset

    def read(self, position: int, *, committed: bool) -> TopicRecord | None:
        """The next record at or behind a position; with ``committed`` no open or aborted one."""
        end = self.stable_end if committed else self.end
        at = bisect_left(self.records, position, key=lambda record: record.offset)
        for record in islice(self.records, at, None):
            if record.offset >= end:
                break
            if not (committed and _is_aborted(record)):
                return record
        return None

    def readable(self, *, committed: bool) -> Iterator[TopicRecord]:
        """The records that a reader passes that begins now; with ``committed`` no open or aborted record."""
        position = 0
        while (record := self.read(position, committed=committed)) is not None:
            yield record
            position = record.offset + 1

    # -------------------------------------------------------------------------------------------- transactions

    def init_transactions(self, member: str) -> int:
        """A new epoch of the transactional id: an earlier one's uncommitted records are aborted, and it is fenced."""
        self._epoch += 1
        for transaction in list(self._open):
            self.abort(transaction)
        self.recorder.emit(
            ProducerInitialised(member=member, transactional_id=self.transactional_id, epoch=self._epoch)
        )
        return self._epoch

    def is_fenced(self, epoch: int) -> bool:
        """Whether a younger producer of the same transactional id exists."""
        return epoch != self._epoch

    def commit(self, transaction: Transaction) -> None:
        """Make the records of a transaction visible to readers of committed records."""
        self._end(transaction, TransactionState.COMMITTED)

    def abort(self, transaction: Transaction) -> None:
        """Take the records of a transaction back, for readers of committed records only."""
        self._end(transaction, TransactionState.ABORTED)

    def _end(self, transaction: Transaction, state: TransactionState) -> None:
        """A transaction with records ends with a marker, which takes an offset and is no record."""
        transaction.state = state
        if transaction in self._open:
            self._open.remove(transaction)
            marker, self.end = self.end, self.end + 1
            self.recorder.emit(
                ConfigTransactionEnded(
                    transactional_id=self.transactional_id,
                    epoch=transaction.epoch,
                    offset=marker,
                    outcome=state.value,
                )
            )

    # -------------------------------------------------------------------------------------------- compaction

    def compact(self, below: int | None = None, *, tombstones: bool = True) -> None:
        """Compact the records below an offset (None: everything that no open transaction holds back).

        ``tombstones`` says whether they stay, as they do for ``delete.retention.ms``.
        """
        limit = min(self.stable_end, self.end if below is None else below)
        live = [record for record in self.records if not _is_aborted(record)]
        kept = compacted(live, limit)
        if not tombstones:
            kept = [record for record in kept if record.value is not None or record.offset >= limit]
        left = {record.offset for record in kept}
        removed = tuple(record.offset for record in self.records if record.offset not in left)
        self.records = kept
        if removed:
            self.recorder.emit(ConfigCompacted(removed=removed))


def _is_aborted(record: TopicRecord) -> bool:
    return record.transaction is not None and record.transaction.state is TransactionState.ABORTED
