"""What is told of requests and answers at the coordinator's door."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, TypedDict
from zlib import crc32

from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    OffsetCommitReply,
    SyncGroupReply,
)
from rebalance_check.model.vocabulary import events
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.ids import NO_GENERATION

NO_GROUP: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request on its way through the coordinator: its number there, and whom its answer goes to."""

    number: int
    token: Hashable
    request: GroupRequest


class RequestFields(TypedDict):
    """Where a request meets the group, and what it says about its sender, as events carry it."""

    incarnation: int
    generation: int
    request: int
    member_id: str
    instance_id: str
    request_generation: int


def asked(ticket: Ticket, incarnation: int, generation: int) -> RequestFields:
    """Who asks, and for which generation; of a LeaveGroup, its first entry."""
    request = ticket.request
    who = request.members[0] if isinstance(request, LeaveGroupRequest) and request.members else request
    return {
        "incarnation": incarnation,
        "generation": generation,
        "request": ticket.number,
        "member_id": getattr(who, "member_id", ""),
        "instance_id": getattr(who, "group_instance_id", None) or "",
        "request_generation": getattr(request, "generation_id", NO_GENERATION),
    }


def text_of(assignment: bytes) -> str:
    """A text that stands for an assignment; empty for none."""
    return f"{crc32(assignment):08x}" if assignment else ""


def parked(ticket: Ticket, member_id: str, incarnation: int, generation: int) -> events.RequestParked:
    """The event of a request that is kept for ``member_id``."""
    request = ticket.request
    who = asked(ticket, incarnation, generation)
    who["member_id"] = member_id
    api = type(request).__name__.removesuffix("Request")
    if not isinstance(request, JoinGroupRequest):
        return events.RequestParked(**who, api=api)
    return events.RequestParked(
        **who,
        api=api,
        protocols=tuple(protocol.name for protocol in request.protocols),
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
    )


def replied(ticket: Ticket, reply: GroupReply, incarnation: int, generation: int) -> events.ReplyEvent | None:
    """The event of an answer; None for an OffsetFetch, which nobody is fenced from."""
    who, error = asked(ticket, incarnation, generation), reply.error.name
    match reply:
        case HeartbeatReply():
            return events.HeartbeatReplied(**who, error=error)
        case JoinGroupReply():
            return _joined(ticket.request, reply, who)
        case SyncGroupReply():
            return events.SyncGroupReplied(**who, error=error, assignment=text_of(reply.assignment))
        case LeaveGroupReply():
            return events.LeaveGroupReplied(**who, error=error)
        case OffsetCommitReply():
            failed = (each for _, _, each in reply.partitions if each is not Error.NONE)
            told = reply.error if reply.error is not Error.NONE else next(failed, Error.NONE)
            return events.OffsetCommitReplied(**who, error=told.name)
        case _:
            return None


def _joined(request: GroupRequest, reply: JoinGroupReply, who: RequestFields) -> events.JoinGroupReplied:
    offered = request.protocols if isinstance(request, JoinGroupRequest) else ()
    return events.JoinGroupReplied(
        **who,
        error=reply.error.name,
        reply_generation=reply.generation_id,
        assigned_member_id=reply.member_id,
        leader=reply.leader,
        protocol=reply.protocol_name or "",
        listed_members=tuple(member.member_id for member in reply.members),
        skip_assignment=reply.skip_assignment,
        protocols=tuple(protocol.name for protocol in offered),
    )
