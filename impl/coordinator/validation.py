"""Requests that are refused before a group is looked up, in Kafka's order of priority (``GroupCoordinatorService``)."""

from __future__ import annotations

from enum import Enum, auto

from rebalance_check.impl.coordinator.config import GroupConfig
from rebalance_check.impl.coordinator.offsets import commit_reply
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetDeleteReply,
    OffsetDeleteRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
    SyncGroupReply,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from rebalance_check.model.vocabulary.errors import Error

PROTOCOL_REQUIRED_SINCE = 5
"""The first SyncGroup version that must name protocol type and protocol (KIP-559)."""


class Phase(Enum):
    """Whether this coordinator is the one: it reads the log, it serves, or another one does."""

    LOADING = auto()
    ACTIVE = auto()
    CLOSED = auto()


def refusal(config: GroupConfig, phase: Phase, request: GroupRequest) -> GroupReply | None:
    """The reply to a request that goes no further, or None. While loading, heartbeats are believed unread."""
    error = malformed(config, request)
    if error is not Error.NONE:
        return refused(request, error)
    error = phase_error(phase)
    if error is Error.NONE:
        return None
    if phase is Phase.LOADING and isinstance(request, HeartbeatRequest):
        return HeartbeatReply()
    if phase is Phase.LOADING and isinstance(request, SyncGroupRequest):
        error = config.sync_while_loading
    return without_member_id(refused(request, error))


def phase_error(phase: Phase) -> Error:
    """The error that a coordinator answers to everything while it does not serve."""
    if phase is Phase.LOADING:
        return Error.COORDINATOR_LOAD_IN_PROGRESS
    return Error.NOT_COORDINATOR if phase is Phase.CLOSED else Error.NONE


def malformed(config: GroupConfig, request: GroupRequest) -> Error:
    """The error of a request by itself."""
    match request:
        case SyncGroupRequest() if request.version >= PROTOCOL_REQUIRED_SINCE and (
            request.protocol_type is None or request.protocol_name is None
        ):
            return Error.INCONSISTENT_GROUP_PROTOCOL
        case OffsetCommitRequest() | OffsetFetchRequest():
            return Error.NONE
    if not request.group_id:
        return Error.INVALID_GROUP_ID
    if isinstance(request, JoinGroupRequest):
        low, high = config.min_session_timeout_ms, config.max_session_timeout_ms
        return Error.NONE if low <= request.session_timeout_ms <= high else Error.INVALID_SESSION_TIMEOUT
    return Error.NONE


def refused(request: GroupRequest, error: Error) -> GroupReply:
    """``error`` as the reply to ``request``; a JoinGroup gets its own member id back."""
    match request:
        case JoinGroupRequest():
            return JoinGroupReply(error=error, member_id=request.member_id)
        case SyncGroupRequest():
            return SyncGroupReply(error=error)
        case HeartbeatRequest():
            return HeartbeatReply(error=error)
        case LeaveGroupRequest():
            return LeaveGroupReply(error=error)
        case OffsetCommitRequest() | TxnOffsetCommitRequest():
            return commit_reply(request, error)
        case OffsetDeleteRequest():
            return OffsetDeleteReply(error=error)
        case OffsetFetchRequest():
            return OffsetFetchReply(error=error)


def without_member_id(reply: GroupReply) -> GroupReply:
    """A coordinator that does not serve echoes no member id."""
    return JoinGroupReply(error=reply.error) if isinstance(reply, JoinGroupReply) else reply
