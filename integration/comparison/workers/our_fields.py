"""Requests, replies and assignments of our worker, as the steps of both workers show and carry them."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectorTask
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.integration.comparison.workers.steps import Seen, Step
from rebalance_check.model.vocabulary.errors import Error

_EXCEPTIONS: Final = {
    Error.INCONSISTENT_GROUP_PROTOCOL: "InconsistentGroupProtocolException",
    Error.GROUP_MAX_SIZE_REACHED: "GroupMaxSizeReachedException",
}


def work_named(name: str) -> str | ConnectorTask:
    """The connector or task that a step names."""
    connector, dash, number = name.rpartition("-")
    return ConnectorTask(connector, int(number)) if dash else name


def java_name(problem: Exception) -> str:
    """The simple name of the class that Java throws where ours raises this."""
    if isinstance(problem, GroupError):
        return _EXCEPTIONS.get(problem.error, "KafkaException")
    return "SchemaException" if isinstance(problem, MalformedBytes) else "IllegalStateException"


def described_assignment(assignment: ConnectAssignment) -> Seen:
    """An assignment as JSON."""
    return {
        "version": assignment.version,
        "error": assignment.error,
        "leader": assignment.leader,
        "leader_url": assignment.leader_url,
        "offset": assignment.config_offset,
        "delay": assignment.delay_ms,
        "connectors": list(assignment.connectors),
        "tasks": [task.name for task in assignment.tasks],
        "revoked_connectors": list(assignment.revoked_connectors),
        "revoked_tasks": [task.name for task in assignment.revoked_tasks],
    }


def described_request(request: GroupRequest) -> Seen:
    """The fields of a request that both workers fill."""
    if isinstance(request, JoinGroupRequest):
        return {
            "api": "JOIN_GROUP",
            "member": request.member_id,
            "session": request.session_timeout_ms,
            "rebalance": request.rebalance_timeout_ms,
            "type": request.protocol_type,
            "protocols": [[offer.name, offer.metadata.hex()] for offer in request.protocols],
            "reason": request.reason or "",
        }
    if isinstance(request, SyncGroupRequest):
        return {
            "api": "SYNC_GROUP",
            "member": request.member_id,
            "generation": request.generation_id,
            "type": request.protocol_type,
            "protocol": request.protocol_name,
            "assignments": {one.member_id: one.assignment.hex() for one in request.assignments},
        }
    if isinstance(request, LeaveGroupRequest):
        return {"api": "LEAVE_GROUP", "member": request.members[0].member_id, "reason": request.members[0].reason}
    assert isinstance(request, HeartbeatRequest)
    return {"api": "HEARTBEAT", "member": request.member_id, "generation": request.generation_id}


def reply_in(step: Step) -> GroupReply:
    """The answer that a step carries."""
    error = Error(step["error"])
    if step["api"] == "JOIN_GROUP":
        return JoinGroupReply(
            error=error,
            generation_id=step.get("generation", -1),
            protocol_type="connect",
            protocol_name=step.get("protocol", ""),
            leader=step.get("leader", ""),
            member_id=step.get("member", ""),
            members=tuple(
                JoinedMember(each["id"], bytes.fromhex(each["metadata"])) for each in step.get("members", [])
            ),
        )
    if step["api"] == "SYNC_GROUP":
        return SyncGroupReply(error=error, assignment=bytes.fromhex(step.get("assignment", "")))
    return HeartbeatReply(error=error) if step["api"] == "HEARTBEAT" else LeaveGroupReply(error=error)
