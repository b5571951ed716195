"""Requests of the group protocol: from kafka-python's classes to `impl.protocol.messages`, and back.

The embedded broker reads with `requests_from_wire`, the raw driver writes with `request_to_wire`; a test holds that one
undoes the other in every version. Fields that a version cannot carry are lost on the way, as on a real wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.kafka_python import ApiMessage, producer
from rebalance_check.integration.wire.kafka_python import consumer as wire

T = TypeVar("T")

OFFSET_FETCH_BATCH_VERSION: Final = 8
"""From this version one OffsetFetch asks for many groups (KIP-709)."""

LEAVE_BATCH_VERSION: Final = 3
"""From this version one LeaveGroup removes many members (KIP-345)."""


def requests_from_wire(request: Any, *, client_host: str) -> tuple[msg.GroupRequest, ...]:
    """The group requests inside a decoded message: one, or one for each group of a batched OffsetFetch.

    ``client_host`` is the peer as Kafka prints it (``/127.0.0.1``). ``KeyError`` for a message of another kind.
    """
    common = {
        "version": int(request.API_VERSION),
        "client_id": request.header.client_id or "",
        "client_host": client_host,
    }
    if isinstance(request, wire.OffsetFetchRequest):
        return _offset_fetches(request, common)
    return (_FROM_WIRE[request.API_KEY](request, {"group_id": request.group_id, **common}),)


def _join_group(request: Any, common: dict[str, Any]) -> msg.JoinGroupRequest:
    # v0 has no rebalance timeout: the session timeout stands in (JoinGroupRequest.json).
    has_rebalance_timeout = common["version"] >= 1
    return msg.JoinGroupRequest(
        **common,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms if has_rebalance_timeout else request.session_timeout_ms,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocols=tuple(msg.JoinProtocol(p.name, bytes(p.metadata)) for p in request.protocols),
        reason=request.reason,
    )


def _sync_group(request: Any, common: dict[str, Any]) -> msg.SyncGroupRequest:
    return msg.SyncGroupRequest(
        **common,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments=tuple(msg.SyncAssignment(a.member_id, bytes(a.assignment)) for a in request.assignments),
    )


def _heartbeat(request: Any, common: dict[str, Any]) -> msg.HeartbeatRequest:
    return msg.HeartbeatRequest(
        **common,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
    )


def _leave_group(request: Any, common: dict[str, Any]) -> msg.LeaveGroupRequest:
    if common["version"] < LEAVE_BATCH_VERSION:
        return msg.LeaveGroupRequest(**common, members=(msg.MemberIdentity(request.member_id),))
    members = tuple(msg.MemberIdentity(m.member_id, m.group_instance_id, m.reason) for m in request.members)
    return msg.LeaveGroupRequest(**common, members=members)


def _offset_commit(request: Any, common: dict[str, Any]) -> msg.OffsetCommitRequest:
    return msg.OffsetCommitRequest(
        **common,
        generation_id=request.generation_id_or_member_epoch,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        offsets=_committed_in(request),
        retention_time_ms=request.retention_time_ms,
    )


def _txn_offset_commit(request: Any, common: dict[str, Any]) -> msg.TxnOffsetCommitRequest:
    return msg.TxnOffsetCommitRequest(
        **common,
        transactional_id=request.transactional_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        offsets=_committed_in(request),
    )


def _offset_delete(request: Any, common: dict[str, Any]) -> msg.OffsetDeleteRequest:
    partitions = tuple((topic.name, p.partition_index) for topic in request.topics for p in topic.partitions)
    return msg.OffsetDeleteRequest(**common, partitions=partitions)


def _committed_in(request: Any) -> tuple[msg.CommittedOffset, ...]:
    return tuple(
        msg.CommittedOffset(
            topic.name, p.partition_index, p.committed_offset, p.committed_metadata or "", p.committed_leader_epoch
        )
        for topic in request.topics
        for p in topic.partitions
    )


def _offset_fetches(request: Any, common: dict[str, Any]) -> tuple[msg.OffsetFetchRequest, ...]:
    groups = request.groups if common["version"] >= OFFSET_FETCH_BATCH_VERSION else [request]
    return tuple(
        msg.OffsetFetchRequest(
            **common,
            group_id=group.group_id,
            partitions=_partitions(group.topics),
            require_stable=request.require_stable,
        )
        for group in groups
    )


def _partitions(topics: Sequence[Any] | None) -> tuple[tuple[str, int], ...] | None:
    if topics is None:
        return None
    return tuple((topic.name, index) for topic in topics for index in topic.partition_indexes)


_FROM_WIRE: Final[dict[int, Any]] = {
    wire.JoinGroupRequest.API_KEY: _join_group,
    wire.SyncGroupRequest.API_KEY: _sync_group,
    wire.HeartbeatRequest.API_KEY: _heartbeat,
    wire.LeaveGroupRequest.API_KEY: _leave_group,
    wire.OffsetCommitRequest.API_KEY: _offset_commit,
    producer.TxnOffsetCommitRequest.API_KEY: _txn_offset_commit,
    wire.OffsetDeleteRequest.API_KEY: _offset_delete,
}

GROUP_API_KEYS: Final = frozenset({*_FROM_WIRE, wire.OffsetFetchRequest.API_KEY})
"""The APIs that the group coordinator answers."""


def request_to_wire(request: msg.GroupRequest) -> ApiMessage:
    """The message that carries ``request``, at the request's version, ready for a header."""
    message = _TO_WIRE[type(request)](request)
    message.API_VERSION = request.version
    return message


def _join_group_to_wire(request: msg.JoinGroupRequest) -> ApiMessage:
    protocol = wire.JoinGroupRequest.JoinGroupRequestProtocol
    return wire.JoinGroupRequest(
        group_id=request.group_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocols=[protocol(name=p.name, metadata=p.metadata) for p in request.protocols],
        reason=request.reason,
    )


def _sync_group_to_wire(request: msg.SyncGroupRequest) -> ApiMessage:
    entry = wire.SyncGroupRequest.SyncGroupRequestAssignment
    return wire.SyncGroupRequest(
        group_id=request.group_id,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments=[entry(member_id=a.member_id, assignment=a.assignment) for a in request.assignments],
    )


def _heartbeat_to_wire(request: msg.HeartbeatRequest) -> ApiMessage:
    return wire.HeartbeatRequest(
        group_id=request.group_id,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
    )


def _leave_group_to_wire(request: msg.LeaveGroupRequest) -> ApiMessage:
    if request.version < LEAVE_BATCH_VERSION:
        if len(request.members) != 1:
            raise ValueError(f"LeaveGroup v{request.version} removes one member, not {len(request.members)}: use v3")
        return wire.LeaveGroupRequest(group_id=request.group_id, member_id=request.members[0].member_id)
    entry = wire.LeaveGroupRequest.MemberIdentity
    return wire.LeaveGroupRequest(
        group_id=request.group_id,
        members=[
            entry(member_id=m.member_id, group_instance_id=m.group_instance_id, reason=m.reason)
            for m in request.members
        ],
    )


def _offset_commit_to_wire(request: msg.OffsetCommitRequest) -> ApiMessage:
    topic_of = wire.OffsetCommitRequest.OffsetCommitRequestTopic
    return wire.OffsetCommitRequest(
        group_id=request.group_id,
        generation_id_or_member_epoch=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        retention_time_ms=request.retention_time_ms,
        topics=_committed_topics(topic_of, topic_of.OffsetCommitRequestPartition, request.offsets),
    )


def _committed_topics(topic_of: Any, partition_of: Any, offsets: Sequence[msg.CommittedOffset]) -> list[Any]:
    def partition(offset: msg.CommittedOffset) -> Any:
        return partition_of(
            partition_index=offset.partition,
            committed_offset=offset.offset,
            committed_leader_epoch=offset.leader_epoch,
            committed_metadata=offset.metadata,
        )

    by_topic = _by_topic((offset.topic, partition(offset)) for offset in offsets)
    return [topic_of(name=name, partitions=partitions) for name, partitions in by_topic.items()]


def _by_topic(entries: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """The entries of each topic, both in the order of their first mention."""
    found: dict[str, list[T]] = {}
    for topic, entry in entries:
        found.setdefault(topic, []).append(entry)
    return found


def _offset_fetch_to_wire(request: msg.OffsetFetchRequest) -> ApiMessage:
    by_topic = None if request.partitions is None else _by_topic(request.partitions)
    group_of = wire.OffsetFetchRequest.OffsetFetchRequestGroup
    if request.version >= OFFSET_FETCH_BATCH_VERSION:
        group = group_of(group_id=request.group_id, topics=_fetch_topics(group_of.OffsetFetchRequestTopics, by_topic))
        return wire.OffsetFetchRequest(groups=[group], require_stable=request.require_stable)
    return wire.OffsetFetchRequest(
        group_id=request.group_id,
        topics=_fetch_topics(wire.OffsetFetchRequest.OffsetFetchRequestTopic, by_topic),
        require_stable=request.require_stable,
    )


def _fetch_topics(topic_of: Any, by_topic: dict[str, list[int]] | None) -> list[Any] | None:
    if by_topic is None:
        return None
    return [topic_of(name=name, partition_indexes=indexes) for name, indexes in by_topic.items()]


def _txn_offset_commit_to_wire(request: msg.TxnOffsetCommitRequest) -> ApiMessage:
    topic_of = producer.TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
    return producer.TxnOffsetCommitRequest(
        transactional_id=request.transactional_id,
        group_id=request.group_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        topics=_committed_topics(topic_of, topic_of.TxnOffsetCommitRequestPartition, request.offsets),
    )


def _offset_delete_to_wire(request: msg.OffsetDeleteRequest) -> ApiMessage:
    topic_of = wire.OffsetDeleteRequest.OffsetDeleteRequestTopic
    partition_of = topic_of.OffsetDeleteRequestPartition
    by_topic = _by_topic((topic, partition_of(partition_index=index)) for topic, index in request.partitions)
    return wire.OffsetDeleteRequest(
        group_id=request.group_id,
        topics=[topic_of(name=name, partitions=partitions) for name, partitions in by_topic.items()],
    )


_TO_WIRE: Final[dict[type, Any]] = {
    msg.JoinGroupRequest: _join_group_to_wire,
    msg.SyncGroupRequest: _sync_group_to_wire,
    msg.HeartbeatRequest: _heartbeat_to_wire,
    msg.LeaveGroupRequest: _leave_group_to_wire,
    msg.OffsetCommitRequest: _offset_commit_to_wire,
    msg.OffsetFetchRequest: _offset_fetch_to_wire,
    msg.TxnOffsetCommitRequest: _txn_offset_commit_to_wire,
    msg.OffsetDeleteRequest: _offset_delete_to_wire,
}
