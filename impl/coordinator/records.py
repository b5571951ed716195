"""What a coordinator writes to its log, and the port through which it writes (``GroupMetadataKey`` and siblings)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rebalance_check.impl.messages import CommittedOffset
from rebalance_check.model.errors import Error


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecord:
    """A member inside a group record; only the subscription under the selected protocol is kept."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecord:
    """The value of a GroupMetadata record; ``protocol_type`` is empty where the group has none."""

    group_id: str
    generation: int
    protocol_type: str
    protocol_name: str | None
    leader: str | None
    timestamp_ms: int
    members: tuple[MemberRecord, ...]


@dataclass(frozen=True, slots=True)
class GroupTombstone:
    """The group was deleted."""

    group_id: str


@dataclass(frozen=True, slots=True)
class OffsetRecord:
    """A committed offset."""

    group_id: str
    committed: CommittedOffset


@dataclass(frozen=True, slots=True)
class OffsetTombstone:
    """A committed offset was deleted."""

    group_id: str
    topic: str
    partition: int


Record: TypeAlias = GroupRecord | GroupTombstone | OffsetRecord | OffsetTombstone

OnOutcome = Callable[[Error, int], None]
"""Called once per append with NONE and the offset of its last record, or with the error of the write and -1."""


class GroupLog(Protocol):
    """Where records go. An outcome may come at once or later; outcomes come in the order of the appends."""

    def append(self, records: tuple[Record, ...], on_outcome: OnOutcome) -> None:
        """Write ``records`` as one unit."""

    def barrier(self, on_outcome: OnOutcome) -> None:
        """Report when everything appended before has its outcome: replies that wait for earlier writes hang on it."""


class ImmediateLog:
    """A log in memory that commits at once; ``records`` is all that was ever written, in order."""

    __slots__ = ("records",)

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, records: tuple[Record, ...], on_outcome: OnOutcome) -> None:
        """Keep ``records`` and report success."""
        self.records.extend(records)
        on_outcome(Error.NONE, len(self.records) - 1)

    def barrier(self, on_outcome: OnOutcome) -> None:
        """Report at once: nothing is ever pending."""
        on_outcome(Error.NONE, len(self.records) - 1)
