"""A segment of a partition as a broker stores it (``00000000000000000000.log``), to facts.

Sources: ``FileRecords``, ``DefaultRecordBatch``. Records of ``__consumer_offsets`` and of Connect's status and config
topics are known by their keys. A damaged batch is passed over; the messages of formats 0 and 1, before Kafka 0.11, are
noted once. The end of a file that a broker preallocated is zeros, which a copy may have lost.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Final

from rebalance_check.pipeline.diagnose.dumps.batches import (
    HEAD,
    LOG_OVERHEAD,
    MAGIC_AT,
    BadBatch,
    Batch,
    batch_of,
    committed,
    records_of,
)
from rebalance_check.pipeline.diagnose.dumps.compression import LARGEST
from rebalance_check.pipeline.diagnose.dumps.connect_topics import is_connect_key
from rebalance_check.pipeline.diagnose.dumps.records import Read, RecordKind, kind_of, record_facts
from rebalance_check.pipeline.diagnose.dumps.transactions import OpenTransactions
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, Place

PARTITION: Final = re.compile(r"__consumer_offsets-(\d{1,9})(?!\d)")
_OVERHEAD: Final = struct.Struct(">qi")
_CURRENT_MAGIC: Final = 2
_SHORTEST: Final = {0: 14, 1: 22, 2: HEAD - LOG_OVERHEAD}
"""The lengths of the shortest message or batch, by its format."""
_ZEROS: Final = 256
"""The most zeros that a batch is completed with."""
STRANGE_KEYS: Final = 100
"""After so many records without a known key, and none with one, the segment is of another topic."""


def partition_of(name: str) -> int | None:
    """The partition of ``__consumer_offsets`` that a path names; None where it names none."""
    found = PARTITION.search(name)
    return int(found[1]) if found is not None else None


def log_of(name: str) -> str:
    """The partition of ``__consumer_offsets`` as a path names it; empty where it names none."""
    found = PARTITION.search(name)
    return found[0] if found is not None else ""


def is_segment(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a segment: of any topic, but with a sound first batch."""
    if len(head) <= MAGIC_AT:
        return False
    base, length = _OVERHEAD.unpack_from(head)
    magic = head[MAGIC_AT]
    if base < 0 or magic not in _SHORTEST or not _SHORTEST[magic] <= length <= LARGEST:
        return False
    if magic != _CURRENT_MAGIC or LOG_OVERHEAD + length > len(head):
        return True
    try:
        batch_of(head[: LOG_OVERHEAD + length])
    except BadBatch:
        return False
    return True


def read_segment(file: IO[bytes], source: str) -> Iterator[Fact | NotUnderstood]:
    """The facts of a segment. Their places have the offsets of their records.

    Commits of a transaction come where its marker stands, and not at all if it is aborted.
    """
    return SegmentReading(source, partition_of(source)).rest(file, 0)


def _completed(data: bytes, length: int) -> bytes | None:
    """The bytes of a batch; None where the end of the file cuts more of them off than zeros.

    Zeros at the end of a preallocated file may be left out with those of its last batch, whose checksum shows it.
    """
    if len(data) == length:
        return data
    padded = data.ljust(length, b"\x00")
    return padded if length - len(data) <= _ZEROS and is_segment(padded) else None


def _end_of(head: bytes, position: int, place: Place) -> Read | None:
    """The notes at the end of the batches; None where another batch begins."""
    if not head.strip(b"\x00"):
        return ()
    if len(head) <= MAGIC_AT:
        return (NotUnderstood(place, f"the file ends within the batch at its byte {position}"),)
    _, length = _OVERHEAD.unpack_from(head)
    magic = head[MAGIC_AT]
    if magic not in _SHORTEST or not _SHORTEST[magic] <= length <= LARGEST:
        why = f"at byte {position} begins no record batch (length {length}, format {magic}): the rest is not read"
        return (NotUnderstood(place, why),)
    return None


@dataclass(slots=True)
class SegmentReading:
    """The state of one reading."""

    source: str
    partition: int | None
    open: OpenTransactions = field(default_factory=OpenTransactions)
    last_offset: int = 0
    old_noted: bool = False
    known: bool = False
    unknown: int = 0

    @property
    def strange(self) -> bool:
        """Whether the segment is of another topic."""
        return not self.known and self.unknown >= STRANGE_KEYS

    def rest(self, file: IO[bytes], position: int) -> Iterator[Fact | NotUnderstood]:
        """The facts from a batch at this byte of the file to its end."""
        source = self.source
        file.seek(position)
        while not self.strange:
            head = file.read(MAGIC_AT + 1)
            end = _end_of(head, position, Place(source, self.last_offset))
            if end is not None:
                yield from end
                break
            base, length = _OVERHEAD.unpack_from(head)
            data = _completed(head + file.read(LOG_OVERHEAD + length - len(head)), LOG_OVERHEAD + length)
            if data is None:
                yield NotUnderstood(Place(source, base), f"the file ends within the batch at its byte {position}")
                break
            yield from self.on_batch(base, data)
            position += len(data)
        yield from self.left()

    def left(self) -> Iterator[Fact | NotUnderstood]:
        """The notes at the end of the reading."""
        place = Place(self.source, self.last_offset)
        if self.strange:
            yield NotUnderstood(place, f"the first {STRANGE_KEYS} keys are of no known topic: the rest is not read")
        yield from self.open.left(place)

    def on_batch(self, base: int, data: bytes) -> Iterator[Fact | NotUnderstood]:
        """The facts of the bytes of one batch."""
        if data[MAGIC_AT] != _CURRENT_MAGIC:
            if not self.old_noted:
                self.old_noted = True
                why = f"messages of format {data[MAGIC_AT]}, older than Kafka 0.11, are not read"
                yield NotUnderstood(Place(self.source, base), why)
            return
        try:
            batch = batch_of(data)
            self.last_offset = batch.last_offset
            if batch.control:
                yield from self._on_marker(batch)
            else:
                yield from self._on_records(batch)
        except BadBatch as error:
            yield NotUnderstood(Place(self.source, base), str(error))

    def _on_marker(self, batch: Batch) -> Iterator[Fact | NotUnderstood]:
        for record in records_of(batch):
            yield from self.open.end(batch.producer, committed=committed(record))

    def _on_records(self, batch: Batch) -> Iterator[Fact | NotUnderstood]:
        for offset, time_ms, key, value in records_of(batch):
            if not self.known and not self._is_known(key):
                continue
            facts = record_facts(
                key, value, source=self.source, offset=offset, time_ms=time_ms, partition=self.partition
            )
            if batch.transactional:
                self.open.hold(batch.producer, facts)
            else:
                yield from facts

    def _is_known(self, key: bytes | None) -> bool:
        """Whether the key is of a known topic; until the first that is, others are counted and passed over."""
        self.known = key is not None and (
            kind_of(key) is not RecordKind.OTHER or is_connect_key(key.decode("utf-8", "replace"))
        )
        self.unknown += not self.known
        return self.known
