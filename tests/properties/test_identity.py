"""What a member makes of answers: histories that hold, and the smallest changes that break them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge


def sent(api: str, request: int, generation: int = -1) -> RequestSent:
    return RequestSent(member="m0", api=api, request=request, generation=generation)


def answered(api: str, request: int, error: str) -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=request, error=error)


def lost(reason: str, generation: int = 1) -> MembershipLost:
    return MembershipLost(member="m0", generation=generation, reason=reason)


def joined(generation: int, member_id: str) -> MemberJoined:
    return MemberJoined(member="m0", generation=generation, member_id=member_id)


def refusal(error: str, *, generation: int = 1, api: str = "Heartbeat") -> list[Event]:
    return [sent(api, 0, generation), answered(api, 0, error)]


UNKNOWN = refusal("UNKNOWN_MEMBER_ID")
SYNCED = refusal("NONE", generation=1, api="SyncGroup")
COMPLETED = AssignmentCompleted(member="m0", generation=1, member_id="a", owned=())

HOLD: dict[str, list[Sequence[Event]]] = {
    "membership_ends_for_a_reason": [
        [*UNKNOWN, lost("UNKNOWN_MEMBER_ID")],
        [*refusal("ILLEGAL_GENERATION", generation=-1, api="JoinGroup"), lost("ILLEGAL_GENERATION")],
        [*refusal("ILLEGAL_GENERATION", generation=1, api="OffsetCommit"), lost("ILLEGAL_GENERATION", generation=2)],
        [lost("poll timeout expired")],
    ],
    "member_id_is_kept": [
        [joined(1, "a"), joined(2, "a")],
        [joined(1, "a"), *UNKNOWN, joined(2, "b")],
        [joined(1, "a"), sent("LeaveGroup", 0), joined(2, "b")],
        [joined(1, "a"), lost("poll timeout expired"), joined(2, "b")],
        [joined(1, "a"), MemberStarted(member="m0"), joined(2, "b")],
        [joined(1, ""), joined(2, "b")],
        [joined(1, "a"), *SYNCED, *refusal("ILLEGAL_GENERATION"), lost("ILLEGAL_GENERATION"), joined(2, "b")],
    ],
    "heartbeat_names_a_member": [[sent("Heartbeat", 0, 0)], [sent("JoinGroup", 0)]],
    "leave_is_last": [
        [sent("OffsetCommit", 0, 1), sent("LeaveGroup", 1)],
        [sent("LeaveGroup", 0), sent("JoinGroup", 1), sent("Heartbeat", 2, 1)],
        [sent("LeaveGroup", 0), MemberStarted(member="m0"), sent("Heartbeat", 0, 1)],
    ],
}

BREAK: dict[str, list[Sequence[Event]]] = {
    "membership_ends_for_a_reason": [
        [lost("REBALANCE_IN_PROGRESS")],
        [lost("NOT_COORDINATOR")],
        [*refusal("ILLEGAL_GENERATION", generation=1), lost("ILLEGAL_GENERATION", generation=2)],
    ],
    "member_id_is_kept": [
        [joined(1, "a"), joined(2, "b")],
        [joined(1, "a"), *refusal("ILLEGAL_GENERATION"), lost("ILLEGAL_GENERATION"), joined(2, "b")],
        [joined(1, "a"), lost("some timer of its own"), joined(2, "b")],
        [joined(1, "a"), *SYNCED, lost("some timer of its own"), joined(2, "b")],
        [
            joined(1, "a"),
            *SYNCED,
            COMPLETED,
            *refusal("ILLEGAL_GENERATION"),
            lost("ILLEGAL_GENERATION"),
            joined(2, "b"),
        ],
    ],
    "heartbeat_names_a_member": [[sent("Heartbeat", 0)]],
    "leave_is_last": [
        [sent("LeaveGroup", 0), sent("OffsetCommit", 1, 1)],
        [sent("LeaveGroup", 0), sent("Heartbeat", 1, 1)],
    ],
}


def cases(histories: dict[str, list[Sequence[Event]]]) -> list[tuple[str, Sequence[Event]]]:
    return [(name, history) for name, each in histories.items() for history in each]


@pytest.mark.parametrize(("name", "history"), cases(HOLD))
def test_the_claim_holds(name: str, history: Sequence[Event]) -> None:
    assert list(judge(history, select([name])).counterexamples) == []


@pytest.mark.parametrize(("name", "history"), cases(BREAK))
def test_the_claim_breaks(name: str, history: Sequence[Event]) -> None:
    (found,) = judge(history, select([name])).counterexamples
    assert found.invariant == name
