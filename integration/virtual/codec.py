"""Requests to bytes and bytes to replies, each translated once: runs repeat themselves, and so do their messages.

The translation is that of `rebalance_check.integration.wire`. Frames carry the number of a request, so the correlation
id in its header is always 0, equal requests have equal bytes, and a lookup stands for an encoder.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, Final

from rebalance_check.impl.lockstep.transport import Observation
from rebalance_check.impl.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListedGroup,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from rebalance_check.integration.wire.described import described_group
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, consumer, producer
from rebalance_check.integration.wire.replies import error_from_wire, reply_from_wire
from rebalance_check.integration.wire.requests import request_to_wire
from rebalance_check.model.errors import Error, RebalanceCheckError

REMEMBERED: Final = 1 << 16
DESCRIBE_VERSION: Final = 5
DELETE_VERSION: Final = 2
LIST_VERSION: Final = 5
STABLE: Final = "Stable"

_RESPONSES: Final[dict[type, Any]] = {
    JoinGroupRequest: consumer.JoinGroupResponse,
    SyncGroupRequest: consumer.SyncGroupResponse,
    HeartbeatRequest: consumer.HeartbeatResponse,
    LeaveGroupRequest: consumer.LeaveGroupResponse,
    OffsetCommitRequest: consumer.OffsetCommitResponse,
    OffsetFetchRequest: consumer.OffsetFetchResponse,
    TxnOffsetCommitRequest: producer.TxnOffsetCommitResponse,
    OffsetDeleteRequest: consumer.OffsetDeleteResponse,
}

_INSIDE: Final = struct.Struct(">ih")
_replies: dict[tuple[type, int, bytes], GroupReply] = {}


@lru_cache(REMEMBERED)
def encoded(request: GroupRequest) -> bytes:
    """A request with its header, as it stands behind the length on a wire."""
    return _bytes_of(request_to_wire(request), request.client_id)


def decoded(request: GroupRequest, body: bytes) -> GroupReply:
    """The reply to a request; ``body`` is header and message."""
    key = (type(request), request.version, body)
    reply = _replies.get(key)
    if reply is None:
        response = _RESPONSES[type(request)].decode(body, version=request.version, header=True)
        if len(_replies) >= REMEMBERED:
            _replies.clear()
        reply = _replies[key] = reply_from_wire(response, request)
    return reply


@lru_cache(REMEMBERED)
def observed(body: bytes, *, scala: bool) -> Observation:
    """What an inspection told: the group as DescribeGroups shows it, with generation and leader from inside.

    The coordinator in Scala shows assignments only of a group that is Stable.
    """
    generation, length = _INSIDE.unpack_from(body)
    leader = body[_INSIDE.size : _INSIDE.size + length].decode()
    described = admin.DescribeGroupsResponse.decode(
        body[_INSIDE.size + length :], version=DESCRIBE_VERSION, header=True
    )
    group = described_group(described.groups[0])
    shows = not scala or group.state == STABLE
    if generation < 0:
        return Observation(group, shows_assignments=shows)
    return Observation(group, generation, leader, shows_assignments=shows)


@lru_cache(REMEMBERED)
def delete_request(group: str) -> bytes:
    """DeleteGroups of one group."""
    message = admin.DeleteGroupsRequest(groups_names=[group])
    message.API_VERSION = DELETE_VERSION
    return _bytes_of(message, "")


def delete_error(body: bytes) -> Error:
    """What DeleteGroups of one group was answered."""
    response = admin.DeleteGroupsResponse.decode(body, version=DELETE_VERSION, header=True)
    return error_from_wire(response.results[0].error_code)


@lru_cache(REMEMBERED)
def list_request(states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> bytes:
    """ListGroups, filtered by states and types where some are given."""
    message = admin.ListGroupsRequest(states_filter=list(states), types_filter=list(types))
    message.API_VERSION = LIST_VERSION
    return _bytes_of(message, "")


def listed(body: bytes | None) -> tuple[ListedGroup, ...]:
    """What ListGroups was answered, by group id."""
    if body is None:
        raise RebalanceCheckError("virtual Kafka left a ListGroups unanswered: this is a defect of its glue")
    response = admin.ListGroupsResponse.decode(body, version=LIST_VERSION, header=True)
    return tuple(sorted(
        (ListedGroup(g.group_id, g.protocol_type, g.group_state) for g in response.groups), key=lambda g: g.group_id
    ))  # fmt: skip


def _bytes_of(message: ApiMessage, client_id: str) -> bytes:
    message.with_header(correlation_id=0, client_id=client_id)
    return bytes(message.encode(header=True))
