"""Observations of requests and replies: decoded messages become RequestObserved and ReplyObserved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from rebalance_check.impl.protocol import consumer_protocol
from rebalance_check.impl.protocol import messages as msg
from rebalance_check.impl.protocol.digest import metadata_digest
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.integration.exchange.seen import BATCHED_LOOK_UP_VERSION, Seen
from rebalance_check.integration.wire.messages import KEY_OF, error_name
from rebalance_check.model.vocabulary.events import ReplyObserved, RequestObserved
from rebalance_check.model.vocabulary.ids import NO_GENERATION, partition

Fields = dict[str, Any]
"""Fields of an event, by name."""

VERSION_BYTES: Final = 2

SHOWN_BYTES: Final = 256
"""So many bytes of malformed metadata are recorded."""


# ------------------------------------------------------------------------------------------------ requests


class NumberedRequest(NamedTuple):
    """A request that passes: its number, that of its connection, and the protocol type of its group ("": unknown)."""

    seen: Seen
    number: int
    connection: int
    protocol_type: str


def request_observed(numbered: NumberedRequest) -> RequestObserved:
    """The event of a request that passes."""
    seen = numbered.seen
    return RequestObserved(
        request=numbered.number,
        connection=numbered.connection,
        process=seen.process,
        api=seen.api,
        version=seen.prefix.api_version,
        client_id=seen.client_id,
        member_id=seen.member_id,
        instance_id=seen.instance_id,
        **_request_fields(seen, numbered.protocol_type),
    )


def _request_fields(seen: Seen, protocol_type: str) -> Fields:
    match seen.part:
        case msg.JoinGroupRequest() as join:
            return _join(join)
        case msg.SyncGroupRequest() as sync:
            return _sync(sync, protocol_type)
        case msg.HeartbeatRequest() as heartbeat:
            return {"request_generation": heartbeat.generation_id}
        case msg.LeaveGroupRequest() as leave:
            return _leave(leave)
        case msg.OffsetCommitRequest() | msg.TxnOffsetCommitRequest() as commit:
            return _commit(commit)
        case msg.OffsetDeleteRequest() as deleted:
            return {"partitions": tuple(partition(*key) for key in deleted.partitions)}
    named = _NAMED.get(seen.prefix.api_key)
    return named(seen.request) if named is not None and seen.request is not None else {}


def _join(join: msg.JoinGroupRequest) -> Fields:
    offered = join.protocols if join.protocol_type == consumer_protocol.PROTOCOL_TYPE else ()
    return {
        "metadata": metadata_digest(join.protocols),
        "session_timeout_ms": join.session_timeout_ms,
        "rebalance_timeout_ms": join.rebalance_timeout_ms,
        "protocol_type": join.protocol_type,
        "protocols": tuple(protocol.name for protocol in join.protocols),
        "reason": join.reason or "",
        "malformed": tuple(
            (each.name, shown(each.metadata)) for each in offered
            if not _is_readable(consumer_protocol.read_subscription, each.metadata)
        ),
        **(_subscription(offered[0].metadata) if offered else {}),
    }  # fmt: skip


def _is_readable(read: Callable[[bytes], object], data: bytes) -> bool:
    try:
        read(data)
    except MalformedBytes:
        return False
    return True


def shown(data: bytes) -> str:
    """Bytes in hex, cut off behind `SHOWN_BYTES`."""
    return data[:SHOWN_BYTES].hex() + ("..." if len(data) > SHOWN_BYTES else "")


def _subscription(data: bytes) -> Fields:
    """Of one that is malformed, the topics alone, if they can be read: a coordinator reads no more, either."""
    try:
        subscription = consumer_protocol.read_subscription(data)
    except MalformedBytes:
        is_cut = _is_readable(consumer_protocol.read_topics, data)
        return {"topics": consumer_protocol.read_topics(data)} if is_cut else {}
    generation = subscription.generation
    return {
        "subscription_version": int.from_bytes(data[:VERSION_BYTES], "big", signed=True),
        "topics": subscription.topics,
        "owned": _names(subscription.owned),
        "owned_generation": NO_GENERATION if generation is None else generation,
    }


def _sync(sync: msg.SyncGroupRequest, protocol_type: str) -> Fields:
    given = tuple((each.member_id, assigned(each.assignment, protocol_type)) for each in sync.assignments)
    return {
        "request_generation": sync.generation_id,
        "protocol_type": sync.protocol_type or "",
        "protocols": (sync.protocol_name,) if sync.protocol_name else (),
        "assignments": given,
        "malformed": tuple(
            (each.member_id, shown(each.assignment)) for each in sync.assignments
            if (sync.protocol_type or protocol_type) == consumer_protocol.PROTOCOL_TYPE
            and not _is_readable(consumer_protocol.read_assignment, each.assignment)
        ),
    }  # fmt: skip


def _leave(leave: msg.LeaveGroupRequest) -> Fields:
    return {
        "leaving": tuple((member.member_id, member.group_instance_id or "") for member in leave.members),
        "reason": next((member.reason for member in leave.members if member.reason), ""),
    }


def _commit(commit: msg.OffsetCommitRequest | msg.TxnOffsetCommitRequest) -> Fields:
    offsets = tuple((partition(offset.topic, offset.partition), offset.offset) for offset in commit.offsets)
    return {"request_generation": commit.generation_id, "offsets": offsets}


def _fetched_offsets(request: Any) -> Fields:
    topics = [topic for group in request.groups or () for topic in group.topics or ()] or request.topics or ()
    return {"partitions": tuple(partition(topic.name, index) for topic in topics for index in topic.partition_indexes)}


def _fetched(request: Any) -> Fields:
    """Topics that a request names by id alone stand for nothing that a reader could know."""
    named = [topic for topic in request.topics if topic.topic]
    return {"partitions": tuple(partition(topic.topic, p.partition) for topic in named for p in topic.partitions)}


def _looked_at(request: Any) -> Fields:
    return {"topics": tuple(topic.name for topic in request.topics or () if topic.name)}


_NAMED: Final[dict[int, Callable[[Any], Fields]]] = {
    KEY_OF["OffsetFetch"]: _fetched_offsets,
    KEY_OF["Fetch"]: _fetched,
    KEY_OF["Metadata"]: _looked_at,
}


def assigned(data: bytes, protocol_type: str) -> tuple[str, ...]:
    """The partitions of an assignment; none where it is no consumer's, or unreadable."""
    if protocol_type not in ("", consumer_protocol.PROTOCOL_TYPE):
        return ()
    try:
        return _names(consumer_protocol.read_assignment(data).partitions)
    except MalformedBytes:
        return ()


def _names(partitions: Sequence[TopicPartition]) -> tuple[str, ...]:
    return tuple(partition(topic, index) for topic, index in partitions)


# ------------------------------------------------------------------------------------------------ replies


def reply_observed(numbered: NumberedRequest, response: Any | None, fault: str) -> ReplyObserved:
    """The event of the reply to a request (None: none, or unreadable) and of the ``fault`` in between."""
    seen = numbered.seen
    fields = _reply_fields(seen, response, numbered.protocol_type) if response is not None else {}
    return ReplyObserved(
        request=numbered.number,
        connection=numbered.connection,
        process=seen.process,
        api=seen.api,
        error="NONE" if response is None else first_error(response),
        fault=fault,
        **fields,
    )


def first_error(message: Any) -> str:
    """The name of the first error code that is not NONE: the message's own, or that of its first item with one."""
    return error_name(next((code for code in _error_codes(message) if code), 0))


def _error_codes(message: Any) -> Iterator[int]:
    yield getattr(message, "error_code", 0) or 0
    for field in message._struct._fields:
        if field.is_struct_array():
            for item in getattr(message, field.name, None) or ():
                yield from _error_codes(item)


def _reply_fields(seen: Seen, response: Any, protocol_type: str) -> Fields:
    shown = _SHOWN.get(seen.prefix.api_key)
    if shown is not None:
        return shown(response)
    return {"assignment": assigned(bytes(response.assignment), protocol_type)} if seen.api == "SyncGroup" else {}


def _joined(response: Any) -> Fields:
    return {
        "reply_generation": response.generation_id,
        "assigned_member_id": response.member_id,
        "leader": response.leader,
        "protocol": response.protocol_name or "",
        "members": tuple((member.member_id, member.group_instance_id or "") for member in response.members),
        "skip_assignment": bool(response.skip_assignment),
    }


def _partition_errors(response: Any) -> Fields:
    return {
        "partition_errors": tuple(
            (partition(topic.name, p.partition_index), error_name(p.error_code))
            for topic in response.topics
            for p in topic.partitions
        )
    }


def _found(response: Any) -> Fields:
    is_batched = response.API_VERSION >= BATCHED_LOOK_UP_VERSION
    nodes = [found.node_id for found in response.coordinators] if is_batched else [response.node_id]
    return {"node": nodes[0] if nodes else -1}


def _listed(response: Any) -> Fields:
    topics = [topic for topic in response.topics if topic.name]
    return {"partitions": tuple(partition(topic.name, p.partition_index) for topic in topics for p in topic.partitions)}


_SHOWN: Final[dict[int, Callable[[Any], Fields]]] = {
    KEY_OF["JoinGroup"]: _joined,
    KEY_OF["OffsetCommit"]: _partition_errors,
    KEY_OF["TxnOffsetCommit"]: _partition_errors,
    KEY_OF["OffsetDelete"]: _partition_errors,
    KEY_OF["FindCoordinator"]: _found,
    KEY_OF["Metadata"]: _listed,
}
