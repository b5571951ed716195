"""Group requests and replies survive the way to bytes and back, in every version that the broker serves."""

from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.apis import APIS
from rebalance_check.integration.wire.frames import decode_request, read_prefix
from rebalance_check.integration.wire.replies import error_from_wire, replies_to_wire, reply_from_wire
from rebalance_check.integration.wire.requests import request_to_wire, requests_from_wire
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

COMMON: dict[str, Any] = {"group_id": "g", "client_id": "m0", "client_host": "/127.0.0.1"}
JOIN = msg.JoinGroupRequest(
    **COMMON, session_timeout_ms=6_000, rebalance_timeout_ms=7_000, member_id="m0-1", protocol_type="consumer",
    protocols=(msg.JoinProtocol("range", b"\x00\x01"), msg.JoinProtocol("sticky", b"")), group_instance_id="i",
    reason="because",
)  # fmt: skip
SYNC = msg.SyncGroupRequest(
    **COMMON, generation_id=3, member_id="m0-1", group_instance_id="i", protocol_type="consumer", protocol_name="range",
    assignments=(msg.SyncAssignment("m0-1", b"\x01"), msg.SyncAssignment("m1-1", b"")),
)  # fmt: skip
HEARTBEAT = msg.HeartbeatRequest(**COMMON, generation_id=3, member_id="m0-1", group_instance_id="i")
LEAVE = msg.LeaveGroupRequest(**COMMON, members=(msg.MemberIdentity("m0-1", "i", "because"),))
COMMIT = msg.OffsetCommitRequest(
    **COMMON, generation_id=3, member_id="m0-1", group_instance_id="i",
    offsets=(msg.CommittedOffset("t", 0, 7, "note", 2), msg.CommittedOffset("t", 1, 8)), retention_time_ms=5_000,
)  # fmt: skip
FETCH = msg.OffsetFetchRequest(**COMMON, partitions=(("t", 0), ("t", 1), ("u", 0)), require_stable=True)
TXN_COMMIT = msg.TxnOffsetCommitRequest(
    **COMMON, transactional_id="x", producer_id=7, producer_epoch=1, generation_id=3, member_id="m0-1",
    group_instance_id="i", offsets=(msg.CommittedOffset("t", 0, 7, "note", 2),),
)  # fmt: skip
DELETE = msg.OffsetDeleteRequest(**COMMON, partitions=(("t", 0), ("t", 1), ("u", 0)))

REPLIES: dict[type, msg.GroupReply] = {
    msg.JoinGroupRequest: msg.JoinGroupReply(
        generation_id=3, protocol_type="consumer", protocol_name="range", leader="m0-1", skip_assignment=True,
        member_id="m0-1", members=(msg.JoinedMember("m0-1", b"\x01", "i"),),
    ),
    msg.SyncGroupRequest: msg.SyncGroupReply(protocol_type="consumer", protocol_name="range", assignment=b"\x01"),
    msg.HeartbeatRequest: msg.HeartbeatReply(error=Error.REBALANCE_IN_PROGRESS),
    msg.LeaveGroupRequest: msg.LeaveGroupReply(members=(msg.LeftMember("m0-1", "i", Error.FENCED_INSTANCE_ID),)),
    msg.OffsetCommitRequest: msg.OffsetCommitReply(
        partitions=(("t", 0, Error.NONE), ("t", 1, Error.ILLEGAL_GENERATION))
    ),
    msg.OffsetFetchRequest: msg.OffsetFetchReply(
        offsets=(msg.CommittedOffset("t", 0, 7, "note", 2), msg.CommittedOffset("t", 1, -1)),
        errors=(("t", 1, Error.UNSTABLE_OFFSET_COMMIT),),
    ),
    msg.TxnOffsetCommitRequest: msg.TxnOffsetCommitReply(partitions=(("t", 0, Error.ILLEGAL_GENERATION),)),
    msg.OffsetDeleteRequest: msg.OffsetDeleteReply(partitions=(("t", 0, Error.GROUP_SUBSCRIBED_TO_TOPIC),)),
}  # fmt: skip


def apis_of(request: msg.GroupRequest) -> range:
    api = APIS[
        request_to_wire(replace(request, version=0 if isinstance(request, msg.OffsetDeleteRequest) else 4)).API_KEY
    ]
    return range(api.low, api.high + 1)


CASES = [
    pytest.param(request, version, id=f"{type(request).__name__}-v{version}")
    for request in (JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT, FETCH, TXN_COMMIT, DELETE)
    for version in apis_of(request)
]


def over_the_wire(request: msg.GroupRequest) -> tuple[msg.GroupRequest, ...]:
    message = request_to_wire(request)
    message.with_header(correlation_id=7, client_id=request.client_id)
    frame = bytes(message.encode(header=True))
    prefix = read_prefix(frame)
    assert (prefix.api_version, prefix.correlation_id) == (request.version, 7)
    decoded = decode_request(APIS[prefix.api_key].request, prefix, frame)
    return requests_from_wire(decoded, client_host="/127.0.0.1")


def as_version_carries(request: msg.GroupRequest) -> msg.GroupRequest:
    """The rest of a request when fields that its version does not have are taken away (the message definitions)."""
    v = request.version
    match request:
        case msg.JoinGroupRequest():
            return replace(
                request,
                rebalance_timeout_ms=request.rebalance_timeout_ms if v >= 1 else request.session_timeout_ms,
                group_instance_id=request.group_instance_id if v >= 5 else None,
                reason=request.reason if v >= 8 else None,
            )
        case msg.SyncGroupRequest():
            return replace(
                request,
                group_instance_id=request.group_instance_id if v >= 3 else None,
                protocol_type=request.protocol_type if v >= 5 else None,
                protocol_name=request.protocol_name if v >= 5 else None,
            )
        case msg.HeartbeatRequest():
            return replace(request, group_instance_id=request.group_instance_id if v >= 3 else None)
        case msg.LeaveGroupRequest():
            (only,) = request.members
            kept = msg.MemberIdentity(
                only.member_id, only.group_instance_id if v >= 3 else None, only.reason if v >= 5 else None
            )
            return replace(request, members=(kept,))
        case msg.OffsetCommitRequest():
            offsets = tuple(replace(o, leader_epoch=o.leader_epoch if v >= 6 else -1) for o in request.offsets)
            return replace(
                request,
                offsets=offsets,
                group_instance_id=request.group_instance_id if v >= 7 else None,
                retention_time_ms=request.retention_time_ms if v <= 4 else -1,
            )
        case msg.TxnOffsetCommitRequest():
            offsets = tuple(replace(o, leader_epoch=o.leader_epoch if v >= 2 else -1) for o in request.offsets)
            instance = request.group_instance_id if v >= 3 else None
            known = (request.generation_id, request.member_id) if v >= 3 else (-1, "")
            return replace(
                request, offsets=offsets, group_instance_id=instance, generation_id=known[0], member_id=known[1]
            )
        case msg.OffsetDeleteRequest():
            return request
        case _:
            return replace(request, require_stable=request.require_stable if v >= 7 else False)


@pytest.mark.parametrize(("request_", "version"), CASES)
def test_a_request_survives_the_wire__but_for_what_its_version_cannot_carry(
    request_: msg.GroupRequest, version: int
) -> None:
    sent = replace(request_, version=version)
    assert over_the_wire(sent) == (as_version_carries(sent),)


@pytest.mark.parametrize(("request_", "version"), CASES)
def test_a_reply_survives_the_wire__with_its_errors(request_: msg.GroupRequest, version: int) -> None:
    request = replace(request_, version=version)
    reply = REPLIES[type(request)]
    message = replies_to_wire([(request, reply)])
    received = reply_from_wire(type(message).decode(message.encode(), version=version), request)
    if isinstance(reply, msg.LeaveGroupReply) and version < 3:
        assert received == msg.LeaveGroupReply(error=Error.FENCED_INSTANCE_ID)
    elif isinstance(reply, msg.OffsetFetchReply):
        assert received == replace(reply, offsets=tuple(
            replace(o, leader_epoch=o.leader_epoch if version >= 5 else -1) for o in reply.offsets
        ))  # fmt: skip
    elif isinstance(reply, msg.JoinGroupReply):
        members = tuple(
            replace(m, group_instance_id=m.group_instance_id if version >= 5 else None) for m in reply.members
        )
        assert received == replace(
            reply,
            members=members,
            protocol_type=reply.protocol_type if version >= 7 else None,
            skip_assignment=version >= 9,
        )
    elif isinstance(reply, msg.SyncGroupReply) and version < 5:
        assert received == replace(reply, protocol_type=None, protocol_name=None)
    else:
        assert received == reply


def test_one_offset_fetch_may_ask_for_many_groups__and_each_is_answered() -> None:
    first = replace(FETCH, version=8)
    message = request_to_wire(first)
    message.groups.append(type(message.groups[0])(group_id="h", topics=None))
    message.with_header(correlation_id=1, client_id="m0")
    frame = bytes(message.encode(header=True))
    decoded = decode_request(APIS[9].request, read_prefix(frame), frame)
    asked = requests_from_wire(decoded, client_host="/127.0.0.1")
    assert asked == (first, replace(first, group_id="h", partitions=None))
    replies = [(asked[0], REPLIES[msg.OffsetFetchRequest]), (asked[1], msg.OffsetFetchReply())]
    answered = replies_to_wire(replies)
    assert [g.group_id for g in answered.groups] == ["g", "h"]


def test_an_unknown_error_code_is_named__not_rounded() -> None:
    with pytest.raises(RebalanceCheckError, match="error code 9999"):
        error_from_wire(9999)
