"""One member of a group, as the coordinator keeps it (``ClassicGroupMember``)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from rebalance_check.impl.protocol.messages import JoinGroupRequest, JoinProtocol, SyncGroupRequest
from rebalance_check.impl.protocol.values import Value


@dataclass(frozen=True, slots=True)
class ParkedJoin(Value):
    """A JoinGroup that waits for the end of the join phase; ``token`` is whom to answer."""

    token: Hashable
    request: JoinGroupRequest


@dataclass(frozen=True, slots=True)
class ParkedSync(Value):
    """A SyncGroup that waits for the leader's."""

    token: Hashable
    request: SyncGroupRequest


@dataclass(slots=True, kw_only=True)
class GroupMember:
    """Times in ms. ``is_new`` holds from the first JoinGroup until the first join phase that it completes."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[JoinProtocol, ...]
    assignment: bytes = b""
    awaiting_join: ParkedJoin | None = None
    awaiting_sync: ParkedSync | None = None
    is_new: bool = False

    @property
    def is_static(self) -> bool:
        """Whether it has a group instance id (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_parked(self) -> bool:
        """Whether a request of it waits for an answer."""
        return self.awaiting_join is not None or self.awaiting_sync is not None

    @property
    def has_satisfied_heartbeat(self) -> bool:
        """Whether it is alive by waiting: parked, and not new (a new one may expire while it is parked)."""
        return not self.is_new and self.is_parked

    def protocol_names(self) -> tuple[str, ...]:
        """The names it lists, most preferred first."""
        return tuple(protocol.name for protocol in self.protocols)

    def metadata(self, protocol_name: str | None) -> bytes:
        """Its metadata under ``protocol_name``; empty where it does not list it."""
        return next((protocol.metadata for protocol in self.protocols if protocol.name == protocol_name), b"")


def new_member(member_id: str, request: JoinGroupRequest) -> GroupMember:
    """The member that ``request`` asks to add, under ``member_id``; nothing is parked yet."""
    return GroupMember(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=rebalance_timeout_ms(request),
        session_timeout_ms=request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=request.protocols,
        is_new=True,
    )


def rebalance_timeout_ms(request: JoinGroupRequest) -> int:
    """JoinGroup v0 has no rebalance timeout on the wire: the session timeout serves for it."""
    return request.rebalance_timeout_ms if request.version >= 1 else request.session_timeout_ms
