"""Bytes to replies, each translated once: runs repeat themselves, and so do the answers that they get.

Requests are written by templates (`rebalance_check.integration.wire.templates`). Messages carry the number of a
request, so the correlation id in its header is always 0, equal requests have equal bytes, and most answers are known
already. Those that are not are translated as `rebalance_check.integration.wire` does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from rebalance_check.impl.protocol.messages import (
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
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.integration.wire.described import described_group
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, consumer, producer
from rebalance_check.integration.wire.replies import error_from_wire, reply_from_wire
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.group_status import GroupStatus

REMEMBERED: Final = 1 << 16
DESCRIBE_VERSION: Final = 5
DELETE_VERSION: Final = 2
LIST_VERSION: Final = 5

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

_replies: dict[tuple[type, int, bytes], GroupReply] = {}


def decoded(request: GroupRequest, body: bytes) -> GroupReply:
    """The reply to a request; ``body`` is header and message."""
    key = (type(request), request.version, body)
    reply = _replies.get(key)
    if reply is None:
        response = _message(_RESPONSES[type(request)], request.version, body)
        if len(_replies) >= REMEMBERED:
            _replies.clear()
        reply = _replies[key] = reply_from_wire(response, request)
    return reply


@lru_cache(REMEMBERED)
def observed(inspected: tuple[int, str, bytes] | None, *, scala: bool) -> Observation:
    """A group by its inspection: as DescribeGroups shows it, with generation and leader from inside.

    The coordinator in Scala shows assignments only of a group that is Stable.
    """
    assert inspected is not None, "the answer to an inspection"
    generation, leader, body = inspected
    group = described_group(_message(admin.DescribeGroupsResponse, DESCRIBE_VERSION, body).groups[0])
    shows = not scala or group.state == GroupStatus.STABLE
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
    """The error in the answer to DeleteGroups of one group."""
    response = _message(admin.DeleteGroupsResponse, DELETE_VERSION, body)
    return error_from_wire(response.results[0].error_code)


@lru_cache(REMEMBERED)
def list_request(states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> bytes:
    """ListGroups, filtered by states and types where some are given."""
    message = admin.ListGroupsRequest(states_filter=list(states), types_filter=list(types))
    message.API_VERSION = LIST_VERSION
    return _bytes_of(message, "")


def listed(body: bytes | None) -> tuple[ListedGroup, ...]:
    """The answer to ListGroups, by group id. Raises `RebalanceCheckError` when there is no answer."""
    if body is None:
        raise RebalanceCheckError("virtual Kafka left a ListGroups unanswered: this is a defect of its glue")
    response = _message(admin.ListGroupsResponse, LIST_VERSION, body)
    return tuple(sorted(
        (ListedGroup(g.group_id, g.protocol_type, g.group_state) for g in response.groups), key=lambda g: g.group_id
    ))  # fmt: skip


def _message(cls: Any, version: int, body: bytes) -> Any:
    """The response behind its header, which is skipped where it says nothing: reading it takes longer than the rest."""
    header = _empty_header(cls, version)
    if body[: len(header)] == header:
        return cls.decode(memoryview(body)[len(header) :], version=version)
    return cls.decode(body, version=version, header=True)


@lru_cache(REMEMBERED)
def _empty_header(cls: Any, version: int) -> bytes:
    """The header of every answer here: correlation id 0 and, in flexible versions, no tagged fields."""
    return bytes(cls.header_class(correlation_id=0).encode(flexible=cls.flexible_version_q(version)))


def _bytes_of(message: ApiMessage, client_id: str) -> bytes:
    message.with_header(correlation_id=0, client_id=client_id)
    return bytes(message.encode(header=True))
