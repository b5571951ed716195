"""When a worker that finds no coordinator gives its work up: one heartbeat interval after its first poll in vain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigReadEnded,
    CoordinatorAwaited,
    CoordinatorFound,
    Event,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    RunStarted,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "work_is_given_up_after_a_wait"

RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = (
    MemberStarted(member="w0"),
    WorkerConfigured(member="w0", mode="sessioned", heartbeat_interval_ms=3_000),
)
SETTLED: Final = (RUN, *STARTED)
FOUND: Final = CoordinatorFound(member="w0", node=0)
PAUSED: Final = (MemberPaused(member="w0"), MemberResumed(member="w0", time_ms=9_000))
BUSY: Final = ApplicationBusy(member="w0", polled_ms=1_000, busy_ms=7_000, time_ms=2_000)
READ: Final = ConfigReadEnded(member="w0", offset=3, outcome="timeout", time_ms=9_000)


def waits(at_ms: int) -> CoordinatorAwaited:
    return CoordinatorAwaited(member="w0", time_ms=at_ms)


def gives_up(at_ms: int, reason: str = "coordinator unknown") -> WorkRevocationStarted:
    return WorkRevocationStarted(member="w0", generation=1, work=("c",), reason=reason, time_ms=at_ms)


HELD: Final[dict[str, tuple[Event, ...]]] = {
    "to the millisecond": (*SETTLED, waits(1_000), gives_up(4_000)),
    "it was paused": (*SETTLED, waits(1_000), *PAUSED, gives_up(9_000)),
    "its application was away": (*SETTLED, waits(1_000), BUSY, gives_up(9_000)),
    "its herder read meanwhile": (*SETTLED, waits(1_000), READ, gives_up(9_000)),
    "a stop of other work came first": (*SETTLED, waits(1_000), gives_up(8_000, "revoked"), gives_up(8_001)),
    "found and lost between two polls": (*SETTLED, waits(1_000), FOUND, gives_up(4_000)),
    "found, and lost again": (*SETTLED, waits(1_000), FOUND, waits(2_000), gives_up(5_000)),
}

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "it never waited": (*SETTLED, gives_up(4_000)),
    "too early": (*SETTLED, waits(1_000), gives_up(3_999)),
    "too late": (*SETTLED, waits(1_000), gives_up(4_006)),
    "a new wait is too short": (*SETTLED, waits(1_000), FOUND, waits(2_000), gives_up(4_000)),
    "each time it waits anew": (*SETTLED, waits(1_000), gives_up(4_000), gives_up(7_000)),
    "another process waited": (*SETTLED, waits(1_000), *STARTED, gives_up(4_000)),
}

SILENT: Final[dict[str, tuple[Event, ...]]] = {
    "another reason": (*SETTLED, gives_up(4_000, "revoked")),
    "not the simulator's": (replace(RUN, subject="virtual"), *STARTED, gives_up(4_000)),
    "its settings are not known": (RUN, STARTED[0], gives_up(4_000)),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_waiting_for_a_heartbeat_interval_is_right(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_waiting_for_another_time_is_not(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_what_is_not_known_is_not_judged(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.UNTESTED
