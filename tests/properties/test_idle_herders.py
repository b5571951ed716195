"""When a herder that was asked for something acts: at once, unless it may have waited for something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    AssignmentAccepted,
    ConfigAppended,
    ConfigCallbackCalled,
    ConfigSnapshotTaken,
    Event,
    HerderAnswered,
    HerderAsked,
    HerderRequestStarted,
    InternalRequestChecked,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    RunStarted,
    StatusFlushed,
    TaskConfigsGenerated,
    TaskStopped,
    WorkerConfigured,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "idle_herder_acts_at_once"


def asked(request: int = 0, operation: str = "pause") -> HerderAsked:
    return HerderAsked(member="w0", request=request, operation=operation, work="c")


def answered(at_ms: int = 0, answer: int = 409, request: int = 0) -> HerderAnswered:
    return HerderAnswered(member="w0", request=request, answer=answer, time_ms=at_ms)


def begun(at_ms: int) -> HerderRequestStarted:
    return HerderRequestStarted(member="w0", number=0, time_ms=at_ms)


def written(key: str, at_ms: int) -> ConfigAppended:
    return ConfigAppended(writer="w0", offset=0, key=key, value=None, time_ms=at_ms)


def beat(error: str) -> tuple[Event, Event]:
    return (
        RequestSent(member="w0", api="Heartbeat", request=9, generation=1),
        RequestAnswered(member="w0", api="Heartbeat", request=9, error=error),
    )


RUN: Final = RunStarted(subject="simulator", punctual=True)
SETTLED: Final = (
    RUN,
    MemberStarted(member="w0"),
    WorkerConfigured(member="w0", mode="sessioned"),
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=()),
)
GENERATED: Final = TaskConfigsGenerated(
    member="w0", generation=1, connector="c", connector_config="x", tasks=(), published=True, config_offset=3
)
CHECKED: Final = InternalRequestChecked(member="w0", mode="eager", algorithm="", key="", known_key="", refusal=0)
LOOKED: Final = ConfigSnapshotTaken(member="w0", offset=3, connectors=(), target_states=(), tasks=())
REJOINS: Final = RejoinRequested(member="w0", reason="why")
READ: Final = ConfigCallbackCalled(member="w0", callback="onConnectorTargetStateChange", connector="c")
LOST: Final = MembershipLost(member="w0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
STOPPED: Final = TaskStopped(member="w0", generation=1, task="c-0")
AWAY: Final = (MemberPaused(member="w0"), asked(), MemberResumed(member="w0", time_ms=900))


def later(event: Event, at_ms: int = 900) -> Event:
    return replace(event, time_ms=at_ms)


HELD: Final[dict[str, tuple[Event, ...]]] = {
    "at once": (*SETTLED, asked(), answered(5)),
    "a record takes its time": (*SETTLED, asked(), written("target-state-c", 5_000)),
    "it begins at once": (*SETTLED, asked(), begun(5), written("target-state-c", 4_000)),
    "it read, and looks": (*SETTLED, READ, LOOKED),
    "its application was away": (
        *SETTLED, ApplicationBusy(member="w0", polled_ms=0, busy_ms=895), asked(), answered(900)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "it refuses late": (*SETTLED, asked(), answered(6)),
    "heartbeats go on": (*SETTLED, asked(), *beat("NONE"), answered(900)),
    "it writes late": (*SETTLED, asked(), written("target-state-c", 5_001)),
    "it begins late": (*SETTLED, asked(), begun(6), written("target-state-c", 4_000)),
    "it looks late": (*SETTLED, READ, later(LOOKED)),
    "it joins late": (*SETTLED, READ, later(REJOINS)),
    "it was away, and back": (
        *SETTLED, ApplicationBusy(member="w0", polled_ms=0, busy_ms=500), asked(), answered(900)
    ),
    "the second request, after the first was served": (*SETTLED, asked(), answered(), asked(1), answered(900, 404, 1)),
    "it has written what it generated": (*SETTLED, GENERATED, LOOKED, asked(), answered(900)),
}  # fmt: skip

SILENT: Final[dict[str, tuple[Event, ...]]] = {
    "it has not joined": (*SETTLED[:3], asked(), answered(900)),
    "it has to join": (*SETTLED, REJOINS, asked(), answered(900)),
    "it fell out of its group": (*SETTLED, LOST, asked(), answered(900)),
    "its group rebalances": (*SETTLED, *beat("REBALANCE_IN_PROGRESS"), asked(), answered(900)),
    "a task stops meanwhile": (*SETTLED, asked(), STOPPED, answered(900)),
    "its statuses are flushed meanwhile": (*SETTLED, asked(), StatusFlushed(worker="w0/2"), answered(900)),
    "it writes task configs": (*SETTLED, GENERATED, asked(), answered(900)),
    "it writes for another worker": (*SETTLED, CHECKED, READ, later(LOOKED)),
    "another request is open": (*SETTLED, asked(), asked(1), answered(900)),
    "it writes something else": (*SETTLED, asked(), written("task-d-0", 6_000)),
    "it stops": (*SETTLED, asked(), answered(900, 500)),
    "it was paused": (*SETTLED, *AWAY, answered(905)),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_what_acts_at_once_is_right(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_what_acts_late_and_waits_for_nothing_is_not(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_what_may_wait_is_not_judged(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.UNTESTED


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_in_real_time_nothing_is_claimed(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, (RunStarted(subject="live"), *events[1:])) is Outcome.UNTESTED
