"""A worker asks for a round for a rebalance that it was notified of, where it is a settled member of its group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    RunStarted,
    WorkerConfigured,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "only_settled_workers_are_notified"


def answered(api: str, error: str | None = "NONE") -> RequestAnswered:
    return RequestAnswered(member="w0", api=api, request=1, error=error)


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = (MemberStarted(member="w0"), WorkerConfigured(member="w0", mode="sessioned"))
JOINS: Final = RequestSent(member="w0", api="JoinGroup", request=1)
JOINED: Final = MemberJoined(member="w0", generation=1, member_id="a")
SYNCED: Final = answered("SyncGroup")
SETTLED: Final = (RUN, *STARTED, JOINS, JOINED, SYNCED)
LOST: Final = MembershipLost(member="w0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
NOTIFIED: Final = answered("Heartbeat", "REBALANCE_IN_PROGRESS")
REJOINS: Final = RejoinRequested(member="w0", reason="group is already rebalancing")

HELD: Final[dict[str, tuple[Event, ...]]] = {
    "it was notified": (*SETTLED, NOTIFIED, REJOINS),
    "it was notified again": (*SETTLED, NOTIFIED, REJOINS, JOINS, JOINED, SYNCED, NOTIFIED, REJOINS),
    "its group was found rebalancing first": (*SETTLED[:-1], answered("SyncGroup", "REBALANCE_IN_PROGRESS"), JOINED,
                                              SYNCED, NOTIFIED, REJOINS),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "it has left": (*SETTLED, LOST, NOTIFIED, REJOINS),
    "it joins": (*SETTLED, JOINS, NOTIFIED, REJOINS),
    "it has not synced": (*SETTLED[:-1], NOTIFIED, REJOINS),
    "its SyncGroup failed": (*SETTLED[:-1], answered("SyncGroup", "REBALANCE_IN_PROGRESS"), NOTIFIED, REJOINS),
    "a new process": (*SETTLED, *STARTED, NOTIFIED, REJOINS),
    "it lost what it has synced": (*SETTLED[:-1], LOST, SYNCED, NOTIFIED, REJOINS),
    "all is well": (*SETTLED, answered("Heartbeat"), REJOINS),
    "a commit was notified": (*SETTLED, answered("OffsetCommit", "REBALANCE_IN_PROGRESS"), REJOINS),
    "nothing was answered": (RUN, *STARTED, REJOINS),
}

SILENT: Final[dict[str, tuple[Event, ...]]] = {
    "another reason": (RUN, *STARTED, replace(REJOINS, reason="work was revoked")),
    "not the simulator's": (replace(RUN, subject="virtual"), *STARTED, REJOINS),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_a_settled_worker_that_is_notified_is_right(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_another_one_is_not(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_what_is_not_known_is_not_judged(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.UNTESTED
