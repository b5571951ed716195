"""What callbacks a coordinator may call, and when: histories that hold, and some that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberCrashed,
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
NESTED, ENDED = "callbacks_are_not_nested", "no_callback_after_the_end"
PREPARES, WITH, ASSIGNS = "prepares_before_joining", "prepares_with_what_it_had", "only_the_leader_assigns"


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
JOIN: Final = RequestSent(member="m0", api="JoinGroup", request=0)
LEAVE: Final = RequestSent(member="m0", api="LeaveGroup", request=0)
LOST: Final = MembershipLost(member="m0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
SYNCED: Final = (STARTED, joined(), answered("SyncGroup"))
COMPLETE, DONE = called("onJoinComplete"), back("onJoinComplete")
PREPARE, PREPARED = called("onJoinPrepare", -1, ""), back("onJoinPrepare")
ASSIGN, ASSIGNED = called("performAssignment"), back("performAssignment")
FOREIGN: Final = (MemberStarted(member="m1"), RequestSent(member="m1", api="JoinGroup", request=1))

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it was synced": (COMPLETES, (*SYNCED, COMPLETE, DONE)),
    "it raised before": (COMPLETES, (*SYNCED, COMPLETE, back("onJoinComplete", "raised"), COMPLETE)),
    "it goes on after the membership": (
        COMPLETES, (*SYNCED, COMPLETE, back("onJoinComplete", "unfinished"), LOST, COMPLETE)
    ),
    "the same generation after another join": (
        COMPLETES, (*SYNCED, COMPLETE, DONE, joined(), answered("SyncGroup"), COMPLETE)
    ),
    "one after the other": (NESTED, (PREPARE, PREPARED, ASSIGN, ASSIGNED)),
    "a process that died inside": (NESTED, (PREPARE, STARTED, PREPARE)),
    "another process": (ENDED, (MemberCrashed(member="m0"), STARTED, PREPARE)),
    "prepared first": (PREPARES, (STARTED, PREPARE, PREPARED, JOIN)),
    "a retry": (PREPARES, (STARTED, PREPARE, PREPARED, JOIN, JOIN)),
    "a call that raised": (PREPARES, (STARTED, PREPARE, back("onJoinPrepare", "raised"), JOIN)),
    "lost inside of the call": (PREPARES, (STARTED, PREPARE, LOST, PREPARED, JOIN)),
    "one whose callbacks are not recorded, next to one": (PREPARES, (STARTED, PREPARE, PREPARED, JOIN, *FOREIGN)),
    "the first join": (WITH, (STARTED, PREPARE)),
    "an id without a generation": (WITH, (STARTED, called("onJoinPrepare", -1, "a"))),
    "the generation it has": (WITH, (*SYNCED, called("onJoinPrepare"))),
    "a generation that is lost": (WITH, (*SYNCED, LOST, PREPARE)),
    "the leader": (ASSIGNS, (answered("JoinGroup"), ASSIGN)),
    "a second reply": (ASSIGNS, (answered("JoinGroup"), ASSIGN, answered("JoinGroup"), ASSIGN)),
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
    "inside of another": (NESTED, (PREPARE, ASSIGN)),
    "after a crash": (ENDED, (STARTED, MemberCrashed(member="m0"), PREPARE)),
    "not prepared for the first join": (PREPARES, (STARTED, COMPLETE, JOIN)),
    "called back only after it joined": (PREPARES, (STARTED, JOIN, PREPARE)),
    "a call that is to be repeated": (PREPARES, (STARTED, PREPARE, back("onJoinPrepare", "unfinished"), JOIN)),
    "not prepared after a loss": (PREPARES, (STARTED, PREPARE, PREPARED, JOIN, LOST, JOIN)),
    "a generation before the first": (WITH, (STARTED, called("onJoinPrepare"))),
    "a generation that was lost": (WITH, (*SYNCED, LOST, called("onJoinPrepare"))),
    "another id": (WITH, (*SYNCED, called("onJoinPrepare", 1, "b"))),
    "a reply to another join": (ASSIGNS, (answered("JoinGroup", generation=2), ASSIGN)),
    "a refusal": (ASSIGNS, (STARTED, answered("JoinGroup", "UNKNOWN_MEMBER_ID"), ASSIGN)),
    "twice": (ASSIGNS, (answered("JoinGroup"), ASSIGN, ASSIGNED, ASSIGN)),
}  # fmt: skip


@pytest.mark.parametrize("case", HELD)
def test_a_callback_that_may_come__is_none_to_complain_of(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_a_callback_that_may_not_come__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED
