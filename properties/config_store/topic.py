"""The config topic as its broker recorded it, and how far each reader is: a second account of its transactions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigRead,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    RunStarted,
    WorkerConfigured,
)
from rebalance_check.properties.between import between
from rebalance_check.properties.kinds import Fold, Handler, Memories, Memory
from rebalance_check.properties.views.simulated import SIMULATOR

ABORTED: Final = "aborted"
OUTCOMES: Final = ("committed", ABORTED)
"""How a transaction ends."""

READ_COMMITTED: Final = "read_committed"
READ_UNCOMMITTED: Final = "read_uncommitted"

Producer = tuple[str, int]
"""Transactional id and epoch."""


@dataclass(slots=True, eq=False)
class TopicReader:
    """The reader of one process: its ``isolation``, its next offset, and where it was before the record at hand."""

    isolation: str = ""
    position: int = 0
    before: int = 0

    @property
    def sees_all(self) -> bool:
        """Whether it returns records that are not committed, or never will be."""
        return self.isolation == READ_UNCOMMITTED


class ConfigTopic(Memory):
    """The records that stand in the topic, its open transactions, and its readers, after the events so far.

    ``end_before`` was the end before the event at hand. ``ended`` gives the offset of each record of a transaction the
    marker that ended it.
    """

    def __init__(self) -> None:
        gone: tuple[type[Event], ...] = (MemberCrashed, MemberLeft, WorkerConfigured)
        handlers: dict[type[Event], Handler] = {
            RunStarted: self._on_run,
            ConfigAppended: self._on_appended,
            ConfigTransactionEnded: self._on_transaction,
            ConfigCompacted: self._on_compacted,
            ConfigReadStarted: self._on_started,
            ConfigRead: self._on_read,
            **dict.fromkeys(gone, self._on_gone),
        }
        super().__init__(handlers)
        self._is_simulated = False
        self._names_isolation = False
        self._is_from_the_first = False
        self.records: dict[int, ConfigAppended] = {}
        self.end = 0
        self.end_before = 0
        self.ended: dict[int, ConfigTransactionEnded] = {}
        self.open: dict[Producer, list[int]] = {}
        self._readers: dict[str, TopicReader] = {}

    @property
    def is_whole(self) -> bool:
        """Whether the simulator recorded the topic from its first record on, with the ends of transactions."""
        return self._is_simulated and self._is_from_the_first and self._names_isolation

    @property
    def stable_end(self) -> int:
        """The first offset of an open transaction, or the end."""
        return min((offsets[0] for offsets in self.open.values()), default=self.end)

    @property
    def readers(self) -> Iterator[tuple[str, TopicReader]]:
        """The readers of the processes that run."""
        return iter(sorted(self._readers.items()))

    def of(self, member: str) -> TopicReader:
        """The reader of a process."""
        reader = self._readers.get(member)
        if reader is None:
            reader = self._readers[member] = TopicReader()
        return reader

    def end_for(self, reader: TopicReader) -> int:
        """Where a reader stops."""
        return self.end if reader.sees_all else self.stable_end

    def unread(self, reader: TopicReader, first: int, end: int) -> Iterator[ConfigAppended]:
        """The records from ``first`` up to ``end`` that the reader would return now."""
        for offset in between(self.records, first, min(end, self.end_for(reader))):
            if reader.sees_all or not self.is_aborted(offset):
                yield self.records[offset]

    def is_aborted(self, offset: int) -> bool:
        """Whether the transaction of a record was aborted."""
        ended = self.ended.get(offset)
        return ended is not None and ended.outcome == ABORTED

    def _on_run(self, event: RunStarted) -> None:
        self._is_simulated = event.subject == SIMULATOR

    def _on_appended(self, event: ConfigAppended) -> None:
        """A first one at another offset than 0 says that some before it are not recorded."""
        self.end_before, self.end = self.end, event.offset + 1
        self._is_from_the_first = self._is_from_the_first or event.offset == self.end_before == 0
        self.records[event.offset] = event
        if event.transactional_id:
            self.open.setdefault((event.transactional_id, event.epoch), []).append(event.offset)

    def _on_transaction(self, event: ConfigTransactionEnded) -> None:
        """All that its producer has appended since the one before."""
        self.end_before, self.end = self.end, event.offset + 1
        for offset in self.open.pop((event.transactional_id, event.epoch), ()):
            self.ended[offset] = event

    def _on_compacted(self, event: ConfigCompacted) -> None:
        """No reader that gets there finds them."""
        for offset in event.removed:
            self.records.pop(offset, None)

    def _on_started(self, event: ConfigReadStarted) -> None:
        """Older histories name no isolation, and no ends of transactions."""
        self._names_isolation = self._names_isolation or bool(event.isolation)
        self.of(event.member).isolation = event.isolation

    def _on_read(self, event: ConfigRead) -> None:
        reader = self.of(event.member)
        reader.before, reader.position = reader.position, event.offset + 1

    def _on_gone(self, event: MemberEvent) -> None:
        """The next process begins at the beginning."""
        self._readers.pop(event.member, None)


class TopicFold(Fold):
    """A fold that looks at the topic; ``topic`` took the event at hand before."""

    topic: ConfigTopic

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same topic."""
        self.topic = ConfigTopic.among(memories)
        self.memories = (self.topic,)
