"""Replies of the group protocol, from and to kafka-python's classes: the counterpart of `requests`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.kafka_python import ApiMessage, producer
from rebalance_check.integration.wire.kafka_python import consumer as wire
from rebalance_check.integration.wire.requests import LEAVE_BATCH_VERSION, OFFSET_FETCH_BATCH_VERSION
from rebalance_check.integration.wire.shapes import Shape, by_topic
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

Answered = tuple[msg.GroupRequest, msg.GroupReply]
"""A request with its reply."""

PROTOCOL_TYPE_VERSION: Final = 7
"""From this version a JoinGroup reply carries the protocol type, and may carry no protocol name (KIP-559)."""


def replies_to_wire(answered: Sequence[Answered], shapes: Sequence[Shape | None] = ()) -> ApiMessage:
    """The message that answers one wire request: one pair, or one for each group of a batched OffsetFetch.

    It carries the version of the request and waits for a header. ``shapes`` (`topic_shapes`) has an entry for each
    pair (of commits and deletions `shape_of_commit`): as Kafka 4 does, a topic that the request names twice is answered
    twice. Without it, each topic stands once.
    """
    request, reply = answered[0]
    version = request.version
    message: ApiMessage
    if isinstance(request, msg.OffsetFetchRequest):
        message = _offset_fetch_to_wire(version, answered, shapes)
    elif isinstance(reply, msg.OffsetCommitReply | msg.TxnOffsetCommitReply | msg.OffsetDeleteReply):
        message = _TO_WIRE_IN_SHAPE[type(request)](reply, shapes[0] if shapes else None)
    else:
        message = _TO_WIRE[type(request)](version, reply)
    message.API_VERSION = version
    return message


def no_groups(request: Any) -> ApiMessage:
    """The message that answers an OffsetFetch of a list of no groups."""
    message: ApiMessage = wire.OffsetFetchResponse(groups=[])
    message.API_VERSION = request.API_VERSION
    return message


def _join_group_to_wire(version: int, reply: msg.JoinGroupReply) -> ApiMessage:
    member_of = wire.JoinGroupResponse.JoinGroupResponseMember
    # Below v7 a missing name travels as "", from v7 on an empty one as null (JoinGroupResponse's constructor).
    name = (reply.protocol_name or None) if version >= PROTOCOL_TYPE_VERSION else (reply.protocol_name or "")
    return wire.JoinGroupResponse(
        error_code=int(reply.error),
        generation_id=reply.generation_id,
        protocol_type=reply.protocol_type,
        protocol_name=name,
        leader=reply.leader,
        skip_assignment=reply.skip_assignment,
        member_id=reply.member_id,
        members=[
            member_of(member_id=m.member_id, group_instance_id=m.group_instance_id, metadata=m.metadata)
            for m in reply.members
        ],
    )


def _sync_group_to_wire(_version: int, reply: msg.SyncGroupReply) -> ApiMessage:
    return wire.SyncGroupResponse(
        error_code=int(reply.error),
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol_name,
        assignment=reply.assignment,
    )


def _heartbeat_to_wire(_version: int, reply: msg.HeartbeatReply) -> ApiMessage:
    return wire.HeartbeatResponse(error_code=int(reply.error))


def _leave_group_to_wire(version: int, reply: msg.LeaveGroupReply) -> ApiMessage:
    if version < LEAVE_BATCH_VERSION:
        first = reply.members[0].error if reply.members else Error.NONE
        return wire.LeaveGroupResponse(error_code=int(reply.error or first))
    member_of = wire.LeaveGroupResponse.MemberResponse
    return wire.LeaveGroupResponse(
        error_code=int(reply.error),
        members=[
            member_of(member_id=m.member_id, group_instance_id=m.group_instance_id, error_code=int(m.error))
            for m in reply.members
        ],
    )


def _offset_commit_to_wire(reply: Any, shape: Shape | None) -> ApiMessage:
    topic_of = wire.OffsetCommitResponse.OffsetCommitResponseTopic
    topics = _partition_errors(topic_of, topic_of.OffsetCommitResponsePartition, reply.partitions, shape)
    return wire.OffsetCommitResponse(topics=topics)


def _txn_offset_commit_to_wire(reply: Any, shape: Shape | None) -> ApiMessage:
    topic_of = producer.TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic
    topics = _partition_errors(topic_of, topic_of.TxnOffsetCommitResponsePartition, reply.partitions, shape)
    return producer.TxnOffsetCommitResponse(topics=topics)


def _offset_delete_to_wire(reply: Any, shape: Shape | None) -> ApiMessage:
    topic_of = wire.OffsetDeleteResponse.OffsetDeleteResponseTopic
    named = () if reply.error else shape
    topics = _partition_errors(topic_of, topic_of.OffsetDeleteResponsePartition, reply.partitions, named)
    return wire.OffsetDeleteResponse(error_code=int(reply.error), topics=topics)


def _partition_errors(
    topic_of: Any, partition_of: Any, partitions: Sequence[tuple[str, int, Error]], shape: Shape | None
) -> list[Any]:
    """The topics of a reply. Where one of them or a partition does not exist, Kafka merges all topics by name, those
    first that it has refused (``merge`` of the response's builder)."""
    found = [(topic, partition_of(partition_index=index, error_code=int(error))) for topic, index, error in partitions]
    merged: dict[str, list[Any]] = {name: [] for name, count in shape or () if not count}
    if not merged:
        return [topic_of(name=name, partitions=some) for name, some in by_topic(found, shape)]
    for name, one in found:
        merged.setdefault(name, []).append(one)
    return [topic_of(name=name, partitions=some) for name, some in merged.items()]


def _offset_fetch_to_wire(version: int, answered: Sequence[Answered], shapes: Sequence[Shape | None]) -> ApiMessage:
    response = wire.OffsetFetchResponse
    wanted: Sequence[Shape | None] = shapes or [None] * len(answered)
    if version < OFFSET_FETCH_BATCH_VERSION:
        _, reply = answered[0]
        topic_of = response.OffsetFetchResponseTopic
        topics = _fetched_topics(topic_of, topic_of.OffsetFetchResponsePartition, reply, wanted[0])
        return response(error_code=int(reply.error), topics=topics)
    group_of = response.OffsetFetchResponseGroup
    topic = group_of.OffsetFetchResponseTopics
    groups = [
        group_of(
            group_id=request.group_id,
            error_code=int(reply.error),
            topics=_fetched_topics(topic, topic.OffsetFetchResponsePartitions, reply, shape),
        )
        for (request, reply), shape in zip(answered, wanted, strict=True)
    ]
    return response(groups=groups)


def _fetched_topics(topic_of: Any, partition_of: Any, reply: Any, shape: Shape | None) -> list[Any]:
    errors = {(topic, partition): int(error) for topic, partition, error in reply.errors}
    found = [
        (
            o.topic,
            partition_of(
                partition_index=o.partition,
                committed_offset=o.offset,
                committed_leader_epoch=o.leader_epoch,
                metadata=o.metadata,
                error_code=errors.get((o.topic, o.partition), 0),
            ),
        )
        for o in reply.offsets
    ]
    return [topic_of(name=name, partitions=some) for name, some in by_topic(found, shape)]


_TO_WIRE: Final[dict[type, Any]] = {
    msg.JoinGroupRequest: _join_group_to_wire,
    msg.SyncGroupRequest: _sync_group_to_wire,
    msg.HeartbeatRequest: _heartbeat_to_wire,
    msg.LeaveGroupRequest: _leave_group_to_wire,
}

_TO_WIRE_IN_SHAPE: Final[dict[type, Any]] = {
    msg.OffsetCommitRequest: _offset_commit_to_wire,
    msg.TxnOffsetCommitRequest: _txn_offset_commit_to_wire,
    msg.OffsetDeleteRequest: _offset_delete_to_wire,
}


def reply_from_wire(response: Any, request: msg.GroupRequest) -> msg.GroupReply:
    """The reply to ``request`` inside a decoded message.

    `RebalanceCheckError` when the broker used an error code that no group API documents.
    """
    reply: msg.GroupReply = _FROM_WIRE[type(request)](response, request.version)
    return reply


def error_from_wire(code: int) -> Error:
    """Kafka's name of an error code; `RebalanceCheckError` for one that group APIs do not use."""
    try:
        return Error(code)
    except ValueError:
        raise RebalanceCheckError(
            f"the broker answered with error code {code}, which is none of the group protocol's: look it up in Kafka's "
            f"Errors class and extend rebalance_check.model.vocabulary.errors.Error"
        ) from None


def _join_group(response: Any, _version: int) -> msg.JoinGroupReply:
    return msg.JoinGroupReply(
        error=error_from_wire(response.error_code),
        generation_id=response.generation_id,
        protocol_type=response.protocol_type,
        protocol_name=response.protocol_name or None,
        leader=response.leader,
        skip_assignment=response.skip_assignment,
        member_id=response.member_id,
        members=tuple(msg.JoinedMember(m.member_id, bytes(m.metadata), m.group_instance_id) for m in response.members),
    )


def _sync_group(response: Any, _version: int) -> msg.SyncGroupReply:
    return msg.SyncGroupReply(
        error=error_from_wire(response.error_code),
        protocol_type=response.protocol_type,
        protocol_name=response.protocol_name,
        assignment=bytes(response.assignment),
    )


def _heartbeat(response: Any, _version: int) -> msg.HeartbeatReply:
    return msg.HeartbeatReply(error=error_from_wire(response.error_code))


def _leave_group(response: Any, version: int) -> msg.LeaveGroupReply:
    members: tuple[msg.LeftMember, ...] = ()
    if version >= LEAVE_BATCH_VERSION:
        members = tuple(
            msg.LeftMember(m.member_id, m.group_instance_id, error_from_wire(m.error_code)) for m in response.members
        )
    return msg.LeaveGroupReply(error=error_from_wire(response.error_code), members=members)


def _offset_commit(response: Any, _version: int) -> msg.OffsetCommitReply:
    return msg.OffsetCommitReply(partitions=_errors_in(response))


def _txn_offset_commit(response: Any, _version: int) -> msg.TxnOffsetCommitReply:
    return msg.TxnOffsetCommitReply(partitions=_errors_in(response))


def _offset_delete(response: Any, _version: int) -> msg.OffsetDeleteReply:
    return msg.OffsetDeleteReply(error=error_from_wire(response.error_code), partitions=_errors_in(response))


def _errors_in(response: Any) -> tuple[tuple[str, int, Error], ...]:
    return tuple(
        (topic.name, p.partition_index, error_from_wire(p.error_code))
        for topic in response.topics
        for p in topic.partitions
    )


def _offset_fetch(response: Any, version: int) -> msg.OffsetFetchReply:
    group = response.groups[0] if version >= OFFSET_FETCH_BATCH_VERSION else response
    offsets = tuple(
        msg.CommittedOffset(
            topic.name, p.partition_index, p.committed_offset, p.metadata or "", p.committed_leader_epoch
        )
        for topic in group.topics
        for p in topic.partitions
    )
    errors = tuple(refused for refused in _errors_in(group) if refused[2] is not Error.NONE)
    return msg.OffsetFetchReply(error=error_from_wire(group.error_code), offsets=offsets, errors=errors)


_FROM_WIRE: Final[dict[type, Any]] = {
    msg.JoinGroupRequest: _join_group,
    msg.SyncGroupRequest: _sync_group,
    msg.HeartbeatRequest: _heartbeat,
    msg.LeaveGroupRequest: _leave_group,
    msg.OffsetCommitRequest: _offset_commit,
    msg.OffsetFetchRequest: _offset_fetch,
    msg.TxnOffsetCommitRequest: _txn_offset_commit,
    msg.OffsetDeleteRequest: _offset_delete,
}
