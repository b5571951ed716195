"""What callbacks a coordinator may call, and when: histories that hold, and some that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
COMPLETES: Final = "completes_as_a_member"


def called(callback: str, generation: int = 1, member_id: str = "a", assignment: str = "") -> CallbackStarted:
    return CallbackStarted(
        member="m0", callback=callback, generation=generation, member_id=member_id, assignment=assignment
    )


def back(callback: str, outcome: str = "finished") -> CallbackEnded:
    return CallbackEnded(member="m0", callback=callback, outcome=outcome)


def joined(generation: int = 1, member_id: str = "a") -> MemberJoined:
    return MemberJoined(member="m0", generation=generation, member_id=member_id)


def answered(api: str, error: str = "NONE", generation: int = 1, leader: str = "a") -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=0, error=error, generation=generation, leader=leader)


STARTED: Final = MemberStarted(member="m0")
LEAVE: Final = RequestSent(member="m0", api="LeaveGroup", request=0)
LOST: Final = MembershipLost(member="m0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
SYNCED: Final = (STARTED, joined(), answered("SyncGroup"))
COMPLETE, DONE = called("onJoinComplete"), back("onJoinComplete")

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it was synced": (COMPLETES, (*SYNCED, COMPLETE, DONE)),
    "it raised before": (COMPLETES, (*SYNCED, COMPLETE, back("onJoinComplete", "raised"), COMPLETE)),
    "it goes on after the membership": (
        COMPLETES, (*SYNCED, COMPLETE, back("onJoinComplete", "unfinished"), LOST, COMPLETE)
    ),
    "the same generation after another join": (
        COMPLETES, (*SYNCED, COMPLETE, DONE, joined(), answered("SyncGroup"), COMPLETE)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "another generation": (COMPLETES, (*SYNCED, called("onJoinComplete", 2))),
    "no answer to its SyncGroup": (COMPLETES, (STARTED, joined(), COMPLETE)),
    "an answer to the SyncGroup before": (COMPLETES, (*SYNCED, joined(), COMPLETE)),
    "it left": (COMPLETES, (*SYNCED, LEAVE, COMPLETE)),
    "completed before": (COMPLETES, (*SYNCED, COMPLETE, DONE, COMPLETE)),
    "another assignment": (
        COMPLETES, (*SYNCED, COMPLETE, back("onJoinComplete", "unfinished"), LOST,
                    called("onJoinComplete", assignment="x"))
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HELD)
def test_a_callback_that_may_come__is_none_to_complain_of(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_a_callback_that_may_not_come__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED
