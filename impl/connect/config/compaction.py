"""Compaction of a log: of each key only the last record stays, at the place where it was written.

The rest is read in the order of *last* writes, which is not the order in which anything happened: a connector's
configuration may come after the commit of its tasks (KAFKA-17719).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar


class HasKey(Protocol):
    """A record of any log, as far as compaction looks at it."""

    @property
    def offset(self) -> int:
        """Its place in the log."""
        ...

    @property
    def key(self) -> str | None:
        """The subject of a record."""
        ...


_Record = TypeVar("_Record", bound=HasKey)


def compacted(records: Sequence[_Record], below: int | None = None) -> list[_Record]:
    """The remains of a compaction below an offset (None: of all): of each key the last record, at its place.

    Records without a key are removed; those from the offset on, the active segment, stay and remove nothing.
    """
    cleaned = [record for record in records if below is None or record.offset < below]
    last = {record.key: record.offset for record in cleaned}
    kept = [record for record in cleaned if record.key is not None and last[record.key] == record.offset]
    return kept + [record for record in records if below is not None and record.offset >= below]
