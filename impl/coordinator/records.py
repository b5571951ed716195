"""The records that a coordinator writes to its log (``GroupMetadataKey`` and siblings)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from rebalance_check.impl.protocol.messages import CommittedOffset
from rebalance_check.impl.protocol.values import Value

NO_PRODUCER: Final = -1
"""The producer id of a record outside transactions (``RecordBatch.NO_PRODUCER_ID``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecord(Value):
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
class GroupRecord(Value):
    """The value of a GroupMetadata record; ``protocol_type`` is empty where the group has none."""

    group_id: str
    generation: int
    protocol_type: str
    protocol_name: str | None
    leader: str | None
    timestamp_ms: int
    members: tuple[MemberRecord, ...]


@dataclass(frozen=True, slots=True)
class GroupTombstone(Value):
    """The group was deleted."""

    group_id: str


@dataclass(frozen=True, slots=True)
class OffsetRecord(Value):
    """A committed offset; with a ``producer_id`` it is part of a transaction, and counts when that is committed.

    ``commit_ms`` is the time of the commit, ``expire_ms`` when it stops to hold if the commit itself said so.
    """

    group_id: str
    committed: CommittedOffset
    commit_ms: int = 0
    expire_ms: int | None = None
    producer_id: int = NO_PRODUCER


@dataclass(frozen=True, slots=True)
class OffsetTombstone(Value):
    """A committed offset was deleted."""

    group_id: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class TransactionMarker(Value):
    """The transaction of a producer ended, and with it what it committed in whichever group."""

    producer_id: int
    is_committed: bool


Record: TypeAlias = GroupRecord | GroupTombstone | OffsetRecord | OffsetTombstone | TransactionMarker
