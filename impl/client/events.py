"""The events of requests and their answers."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.impl.protocol.digest import metadata_digest
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    GroupReply,
    GroupRequest,
    JoinGroupReply,
    JoinGroupRequest,
    OffsetCommitReply,
    SyncGroupReply,
)
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import LookUpAnswered, RequestAnswered, RequestSent
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Describe = Callable[[bytes], tuple[str, ...]]
"""Reads embedded bytes as names of partitions or of work; empty where there are none or the bytes cannot be read."""


def api_of(request: GroupRequest) -> str:
    """Kafka's name of the API: ``JoinGroup``."""
    return type(request).__name__.removesuffix("Request")


DescribeGeneration = Callable[[bytes], int | None]
"""Reads embedded bytes as the generation of their claims; None where they have no place for one."""


def request_sent(
    member: str, correlation_id: int, request: GroupRequest, *, claims_in: Describe, claimed_in: DescribeGeneration
) -> RequestSent:
    """The event of a request that leaves the member, as its bytes have it."""
    if isinstance(request, JoinGroupRequest):
        return RequestSent(
            member=member,
            api=api_of(request),
            request=correlation_id,
            metadata=metadata_digest(request.protocols),
            owned=claims_in(request.protocols[0].metadata) if request.protocols else (),
            protocols=tuple(protocol.name for protocol in request.protocols),
            member_id=request.member_id,
            claimed_generation=claimed_in(request.protocols[0].metadata) if request.protocols else None,
            version=request.version,
        )
    return RequestSent(
        member=member,
        api=api_of(request),
        request=correlation_id,
        generation=getattr(request, "generation_id", NO_GENERATION),
        member_id=getattr(request, "member_id", ""),
        version=request.version,
    )


def request_answered(
    member: str,
    correlation_id: int,
    request: GroupRequest,
    reply: GroupReply | None,
    *,
    claims_in: Describe,
    work_in: Describe,
) -> RequestAnswered:
    """The event of an answer, or of none (``reply`` None: the outcome is unknown)."""
    api = api_of(request)
    if reply is None:
        return RequestAnswered(member=member, api=api, request=correlation_id, error=None)
    error = _error_of(reply).name
    if isinstance(reply, JoinGroupReply):
        return RequestAnswered(
            member=member,
            api=api,
            request=correlation_id,
            error=error,
            generation=reply.generation_id,
            leader=reply.leader,
            protocol=reply.protocol_name or "",
            assigned_member_id=reply.member_id,
            members=tuple((joined.member_id, claims_in(joined.metadata)) for joined in reply.members),
        )
    work = work_in(reply.assignment) if isinstance(reply, SyncGroupReply) and reply.assignment else ()
    return RequestAnswered(member=member, api=api, request=correlation_id, error=error, assignment=work)


def look_up_answered(member: str, correlation_id: int, reply: FindCoordinatorReply | None) -> LookUpAnswered:
    """The event of the answer to a FindCoordinator, or of none (``reply`` None)."""
    if reply is None:
        return LookUpAnswered(member=member, request=correlation_id, error=None)
    return LookUpAnswered(member=member, request=correlation_id, error=reply.error.name, node=reply.node_id)


def _error_of(reply: GroupReply) -> Error:
    """The error of the whole, else the first error of a partition."""
    if reply.error is Error.NONE and isinstance(reply, OffsetCommitReply):
        return next((error for _, _, error in reply.partitions if error is not Error.NONE), Error.NONE)
    return reply.error
