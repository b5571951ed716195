"""Requests and replies of the classic group protocol, as values.

Field names are Kafka's (``JoinGroupRequest.json`` and its siblings), in snake case; times are milliseconds; a
"null" of the wire is None. ``version`` is the API version that the request came in: it decides behaviour (KIP-394 from
JoinGroup v4, KIP-559 from v7), so it travels with the request. The wire broker, the raw driver, the simulator and the
client coordinators all speak in these values; encoding is theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from rebalance_check.impl.protocol.values import Value
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.ids import NO_GENERATION

UNKNOWN_MEMBER_ID: Final = ""
"""The member id of a member that has none yet (``JoinGroupRequest.UNKNOWN_MEMBER_ID``; not the error of that name)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Value):
    """The fields of every group request; ``client_id`` and ``client_host`` come from the connection."""

    group_id: str
    version: int = 5
    client_id: str = ""
    client_host: str = "/127.0.0.1"


@dataclass(frozen=True, slots=True)
class JoinProtocol(Value):
    """One protocol (assignor) that a member offers, with the metadata bytes it would join with."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupRequest(Request):
    """JoinGroup (11): ``protocols`` in order of preference, times in ms."""

    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    protocol_type: str
    protocols: tuple[JoinProtocol, ...]
    group_instance_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SyncAssignment(Value):
    """The assignment bytes that the leader gives to one member id."""

    member_id: str
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupRequest(Request):
    """SyncGroup (14): ``assignments`` is empty unless the sender leads the generation."""

    generation_id: int
    member_id: str
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: tuple[SyncAssignment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatRequest(Request):
    """Heartbeat (12)."""

    generation_id: int
    member_id: str
    group_instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemberIdentity(Value):
    """A member to remove; an empty ``member_id`` removes the member of the instance id (KIP-345)."""

    member_id: str
    group_instance_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupRequest(Request):
    """LeaveGroup (13), always as the list of v3 and later."""

    members: tuple[MemberIdentity, ...]


@dataclass(frozen=True, slots=True)
class CommittedOffset(Value):
    """An offset to commit, or one that was fetched (-1: none), with its metadata."""

    topic: str
    partition: int
    offset: int
    metadata: str = ""
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitRequest(Request):
    """OffsetCommit (8). Up to v4 a commit may say how long it holds, in ms (-1: as long as the broker is set to)."""

    generation_id: int = NO_GENERATION
    member_id: str = ""
    group_instance_id: str | None = None
    offsets: tuple[CommittedOffset, ...] = ()
    retention_time_ms: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnOffsetCommitRequest(Request):
    """TxnOffsetCommit (28): offsets that count once the producer's transaction is committed (KIP-98, KIP-447)."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    generation_id: int = NO_GENERATION
    member_id: str = ""
    group_instance_id: str | None = None
    offsets: tuple[CommittedOffset, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDeleteRequest(Request):
    """OffsetDelete (47): forget the offsets of these partitions (KIP-496)."""

    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchRequest(Request):
    """OffsetFetch (9); ``partitions=None`` requests all."""

    partitions: tuple[tuple[str, int], ...] | None = None
    require_stable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Value):
    """The fields of every reply."""

    error: Error = Error.NONE


@dataclass(frozen=True, slots=True)
class JoinedMember(Value):
    """A member as the leader sees it."""

    member_id: str
    metadata: bytes
    group_instance_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupReply(Reply):
    """``members`` is filled for the leader only; ``leader`` and ``member_id`` are member ids."""

    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    member_id: str = ""
    members: tuple[JoinedMember, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupReply(Reply):
    """``assignment`` is empty on errors, and for a member that the leader forgot."""

    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatReply(Reply):
    """The error alone says it all."""


@dataclass(frozen=True, slots=True)
class LeftMember(Value):
    """The fate of one entry of a LeaveGroup."""

    member_id: str
    group_instance_id: str | None
    error: Error


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupReply(Reply):
    """``error`` concerns the whole request, ``members`` each entry."""

    members: tuple[LeftMember, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitReply(Reply):
    """One error for each partition of the request, in its order."""

    partitions: tuple[tuple[str, int, Error], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchReply(Reply):
    """The committed offsets; -1 where there is none, and for a partition that stands in ``errors``, too."""

    offsets: tuple[CommittedOffset, ...] = ()
    errors: tuple[tuple[str, int, Error], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnOffsetCommitReply(Reply):
    """One error for each partition of the request, in its order."""

    partitions: tuple[tuple[str, int, Error], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDeleteReply(Reply):
    """``error`` concerns the whole request; else one for each partition, in its order."""

    partitions: tuple[tuple[str, int, Error], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedMember(Value):
    """A member as DescribeGroups shows it."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup(Reply):
    """A group as DescribeGroups shows it; ``state`` is Kafka's name (``Dead`` for a group that does not exist)."""

    group_id: str
    state: str
    protocol_type: str
    protocol_name: str
    members: tuple[DescribedMember, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedGroup(Value):
    """A group as ListGroups shows it."""

    group_id: str
    protocol_type: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinatorRequest(Request):
    """FindCoordinator (10) for a group, which any node answers: who coordinates it?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinatorReply(Reply):
    """The node that coordinates the group, and where clients reach it; without a node (-1) on errors."""

    node_id: int = -1
    host: str = ""
    port: int = -1


GroupRequest: TypeAlias = (
    JoinGroupRequest
    | SyncGroupRequest
    | HeartbeatRequest
    | LeaveGroupRequest
    | OffsetCommitRequest
    | TxnOffsetCommitRequest
    | OffsetFetchRequest
    | OffsetDeleteRequest
)
GroupReply: TypeAlias = (
    JoinGroupReply
    | SyncGroupReply
    | HeartbeatReply
    | LeaveGroupReply
    | OffsetCommitReply
    | TxnOffsetCommitReply
    | OffsetFetchReply
    | OffsetDeleteReply
)

MemberRequest: TypeAlias = GroupRequest | FindCoordinatorRequest
"""A request of a member: to its coordinator, or (FindCoordinator) to any node."""
MemberReply: TypeAlias = GroupReply | FindCoordinatorReply

REPLY_OF: Final[Mapping[type[MemberRequest], type[MemberReply]]] = {
    JoinGroupRequest: JoinGroupReply,
    SyncGroupRequest: SyncGroupReply,
    HeartbeatRequest: HeartbeatReply,
    LeaveGroupRequest: LeaveGroupReply,
    OffsetCommitRequest: OffsetCommitReply,
    TxnOffsetCommitRequest: TxnOffsetCommitReply,
    OffsetFetchRequest: OffsetFetchReply,
    OffsetDeleteRequest: OffsetDeleteReply,
    FindCoordinatorRequest: FindCoordinatorReply,
}
"""The type of the reply to each request: on a connection the reader of a reply takes its type from the request."""
