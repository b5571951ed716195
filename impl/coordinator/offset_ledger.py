"""The offsets of one group: committed ones, and those of open transactions (``OffsetMetadataManager``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance_check.impl.coordinator.records import NO_PRODUCER, OffsetRecord
from rebalance_check.impl.protocol.messages import CommittedOffset

TopicIndex = tuple[str, int]


class StoredOffset(NamedTuple):
    """An offset, and where in the log it stands: of two commits of a partition the later *record* counts.

    ``commit_ms`` is the time of the commit; ``expire_ms`` is when it ends, if the commit said so itself.
    """

    committed: CommittedOffset
    at: int
    commit_ms: int
    expire_ms: int | None


@dataclass(slots=True)
class OffsetLedger:
    """The sum of a group's offset records; each method takes in one more record."""

    committed: dict[TopicIndex, StoredOffset] = field(default_factory=dict)
    open: dict[int, dict[TopicIndex, StoredOffset]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.committed or self.open)

    def keep(self, record: OffsetRecord, at: int) -> None:
        """A commit, the record at position ``at`` of the log; inside a transaction it does not count yet."""
        target = self.committed if record.producer_id == NO_PRODUCER else self.open.setdefault(record.producer_id, {})
        stored = StoredOffset(record.committed, at, record.commit_ms, record.expire_ms)
        target[record.committed.topic, record.committed.partition] = stored

    def drop(self, key: TopicIndex) -> None:
        """A tombstone: the offset of this partition is forgotten, in open transactions, too."""
        self.committed.pop(key, None)
        for producer_id in list(self.open):
            self.open[producer_id].pop(key, None)
            if not self.open[producer_id]:
                del self.open[producer_id]

    def end(self, producer_id: int, *, is_committed: bool) -> None:
        """The transaction of a producer ends; its offsets replace those that were committed before *them*."""
        for key, stored in self.open.pop(producer_id, {}).items():
            present = self.committed.get(key)
            if is_committed and (present is None or stored.at > present.at):
                self.committed[key] = stored

    def is_pending(self, key: TopicIndex) -> bool:
        """Whether an open transaction may still change the offset of this partition."""
        return any(key in offsets for offsets in self.open.values())

    def partitions(self) -> list[TopicIndex]:
        """Every partition that has an offset, be it a pending one; in order."""
        return sorted(set(self.committed).union(*self.open.values()))
