"""What excuses a member for leaving its group, and for looking its coordinator up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigReadEnded,
    ConnectAssignmentReceived,
    Event,
    MemberClosing,
    MemberPaused,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
    WorkerConfigured,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
LEAVE: Final = "leave_group_has_a_cause"
POLL_MS, SESSION_MS = 30_000, 10_000


def sent(api: str, at_ms: int = 0) -> RequestSent:
    return RequestSent(
        member="m0", api=api, request=0, metadata="x" if api == "JoinGroup" else "", owned=("t-0",), time_ms=at_ms
    )


def answered(api: str, error: str | None = "NONE", at_ms: int = 0) -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=0, error=error, assignment=("t-0",), time_ms=at_ms)


def busy(polled_ms: int, busy_ms: int) -> ApplicationBusy:
    return ApplicationBusy(member="m0", polled_ms=polled_ms, busy_ms=busy_ms, time_ms=polled_ms)


def topics(*wanted: str) -> SubscriptionChanged:
    return SubscriptionChanged(member="m0", topics=wanted)


def configs(outcome: str) -> ConfigReadEnded:
    return ConfigReadEnded(member="m0", offset=3, outcome=outcome)


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(
    member="m0", protocol="eager", rebalance_timeout_ms=POLL_MS, session_timeout_ms=SESSION_MS
)
SETTLED: Final = (RUN, STARTED, sent("JoinGroup"), answered("JoinGroup"), answered("SyncGroup"))
WORKER: Final = WorkerConfigured(member="m0", mode="compatible")
RECEIVED: Final = ConnectAssignmentReceived(
    member="m0", generation=1, protocol="compatible", leader="a", leader_url="", config_offset=1, time_ms=5
)
JOINED_WORKER: Final = (RUN, STARTED, WORKER, sent("JoinGroup"), answered("JoinGroup"))
LEAVES: Final = sent("LeaveGroup", POLL_MS)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it closes": (LEAVE, (*SETTLED, MemberClosing(member="m0"), LEAVES)),
    "it unsubscribes": (LEAVE, (*SETTLED, topics(), LEAVES)),
    "its application did not poll": (LEAVE, (*SETTLED, busy(0, POLL_MS), LEAVES)),
    "it was paused": (LEAVE, (*SETTLED, MemberPaused(member="m0"), LEAVES)),
    "a worker could not read its configs": (LEAVE, (*SETTLED, configs("timeout"), LEAVES)),
    "a worker was busy with its assignment": (
        LEAVE, (*JOINED_WORKER, answered("SyncGroup"), RECEIVED, sent("LeaveGroup", 5 + POLL_MS))
    ),
    "a worker waited for its assignment": (LEAVE, (*JOINED_WORKER, LEAVES)),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "nothing": (LEAVE, (*SETTLED, LEAVES)),
    "a member that joins": (LEAVE, (*SETTLED[:3], LEAVES)),
    "a rebalance": (LEAVE, (*SETTLED, answered("Heartbeat", "REBALANCE_IN_PROGRESS"), LEAVES)),
    "other topics": (LEAVE, (*SETTLED, topics("u"), LEAVES)),
    "an absence that was short enough": (LEAVE, (*SETTLED, busy(0, POLL_MS - 1), LEAVES)),
    "an absence that is not long enough yet": (
        LEAVE, (*SETTLED, busy(0, POLL_MS), sent("LeaveGroup", POLL_MS - 1))
    ),
    "an absence before it joined": (LEAVE, (RUN, STARTED, busy(0, POLL_MS), *SETTLED[2:], LEAVES)),
    "configs that a worker read": (LEAVE, (*SETTLED, configs("ok"), LEAVES)),
    "a worker that was not busy for long": (
        LEAVE, (*JOINED_WORKER, answered("SyncGroup"), RECEIVED, sent("LeaveGroup", 4 + POLL_MS))
    ),
    "what it left for already": (LEAVE, (*SETTLED, topics(), LEAVES, sent("JoinGroup"), LEAVES)),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_has_a_cause_is_excused(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_has_no_cause_is_not(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_in_real_time_nothing_is_claimed(history: History, claim: str, events: tuple[Event, ...]) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
