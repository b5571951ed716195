"""Members on a bench: their coordinator is found before the test begins."""

from __future__ import annotations

from typing import TypeVar

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.protocol.messages import FindCoordinatorReply, FindCoordinatorRequest, MemberRequest
from rebalance_check.model.vocabulary.errors import Error

FOUND = FindCoordinatorReply(node_id=1, host="node1", port=9092)
NOT_FOUND = FindCoordinatorReply(error=Error.COORDINATOR_NOT_AVAILABLE)

Member = TypeVar("Member", bound=Coordinator)


def with_coordinator(member: Member) -> Member:
    """The member, which has sent a look-up and got its answer, all at time 0."""
    assert not member.ensure_coordinator_ready(0)
    ((number, request),) = member.take_requests()
    assert isinstance(request, FindCoordinatorRequest)
    member.receive(number, FOUND, 0)
    return member


def found_in(sent: list[tuple[int, MemberRequest]], member: Coordinator, now_ms: int, *, is_found: bool = True) -> bool:
    """Answer the look-up among the requests that a member sent, and take it out; whether there was one."""
    for number, request in sent:
        if isinstance(request, FindCoordinatorRequest):
            sent.remove((number, request))
            member.receive(number, FOUND if is_found else NOT_FOUND, now_ms)
            return True
    return False
