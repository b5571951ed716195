"""How long a revocation takes: until its work has stopped and the statuses are flushed, and no longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConnectorStarted,
    ConnectorStopped,
    CoordinatorLost,
    Event,
    MemberCrashed,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    RunEnded,
    RunStarted,
    StatusFlushed,
    StatusFlushStarted,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "revocations_go_on_at_once"

RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(member="w0")
WORKER: Final = WorkerConfigured(member="w0", mode="sessioned", store="w0")
ONCE: Final = replace(WORKER, exactly_once=True)
CONNECTOR: Final = ConnectorStarted(member="w0", generation=1, connector="c")
TASK: Final = TaskStarted(member="w0", generation=1, task="c-0")
BEGIN: Final = WorkRevocationStarted(member="w0", generation=1, work=("c", "c-0"), reason="revoked", time_ms=1_000)
RUNS: Final = (RUN, STARTED, WORKER, CONNECTOR, TASK)
LOST: Final = CoordinatorLost(member="w0", time_ms=1_000)
AWAY: Final = ApplicationBusy(member="w0", polled_ms=1_000, busy_ms=7_000, time_ms=1_000)
PAUSED: Final = (MemberPaused(member="w0", time_ms=1_000), MemberResumed(member="w0", time_ms=8_000))
CRASHED: Final = MemberCrashed(member="w0", time_ms=3_000)


def stopped(at_ms: int = 2_000) -> tuple[Event, Event]:
    return (
        ConnectorStopped(member="w0", generation=1, connector="c", time_ms=1_000),
        TaskStopped(member="w0", generation=1, task="c-0", time_ms=at_ms),
    )


def flush(at_ms: int, ended_ms: int | None = None) -> tuple[Event, ...]:
    begun = StatusFlushStarted(worker="w0", time_ms=at_ms)
    return (begun,) if ended_ms is None else (begun, StatusFlushed(worker="w0", time_ms=ended_ms))


def ends(at_ms: int) -> Event:
    return WorkRevocationEnded(member="w0", generation=1, work=("c", "c-0"), time_ms=at_ms)


CANCELLED: Final = WorkCancelled(member="w0", generation=1, work="c-0", time_ms=6_000)
SLOW: Final = (*RUNS, BEGIN, stopped()[0])
END: Final = RunEnded(time_ms=9_000)

HELD: Final[dict[str, tuple[Event, ...]]] = {
    "each step at once": (*RUNS, BEGIN, *stopped(), *flush(2_000, 3_000), ends(3_000)),
    "a timer is late": (*RUNS, BEGIN, *stopped(), *flush(2_005, 3_000), ends(3_005)),
    "without a coordinator": (*RUNS, BEGIN, LOST, *stopped(), *flush(2_000, 3_000), ends(3_000)),
    "a task is cancelled": (*SLOW, CANCELLED, *flush(6_000, 6_500), ends(6_500)),
    "nothing runs": (RUN, STARTED, WORKER, BEGIN, ends(1_000)),
    "its application was away": (*RUNS, BEGIN, AWAY, *stopped(), *flush(8_000, 8_001), ends(8_001)),
    "it was paused": (*RUNS, BEGIN, *PAUSED, *stopped(), *flush(8_000, 8_001), ends(8_001)),
    "its statuses are on their way at the end": (*RUNS, BEGIN, *stopped(), *flush(2_000), END),
}

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "it flushes late": (*RUNS, BEGIN, *stopped(), *flush(2_006, 3_000), ends(3_000)),
    "it ends late": (*RUNS, BEGIN, *stopped(), *flush(2_000, 3_000), ends(3_006)),
    "it waits for a coordinator": (*RUNS, BEGIN, LOST, *stopped(), *flush(2_000, 3_000), ends(8_000)),
    "it flushes long after it cancelled": (*SLOW, CANCELLED, *flush(7_000, 7_000), ends(7_000)),
    "other work stops": (
        *RUNS, replace(BEGIN, work=("c",)), *stopped(2_000), *flush(2_000, 2_000), ends(2_000)
    ),
    "it is away, and back": (*RUNS, BEGIN, AWAY, *stopped(), *flush(9_000, 9_000), ends(9_000)),
    "with exactly-once support": (
        RUN, STARTED, ONCE, CONNECTOR, TASK, BEGIN, *stopped(), *flush(2_006, 2_006), ends(2_006)
    ),
    "it never ends": (*RUNS, BEGIN, *stopped(), *flush(2_000, 3_000), END),
}  # fmt: skip

SILENT: Final[dict[str, tuple[Event, ...]]] = {
    "not the simulator's": (replace(RUN, subject="virtual"), *RUNS[1:], BEGIN, *flush(5_000, 5_000), ends(9_000)),
    "its settings are not known": (RUN, STARTED, BEGIN, ends(9_000)),
    "it crashed": (*RUNS, BEGIN, *stopped(), CRASHED, STARTED, *flush(5_000, 5_000), ends(9_000)),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_a_revocation_that_goes_on_is_right(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_one_that_waits_for_nothing_is_not(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_what_is_not_known_is_not_judged(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.UNTESTED


def test_a_task_that_is_not_fenced_yet_may_end_unrecorded(outcome: Judged) -> None:
    unfenced = (RUN, STARTED, ONCE, CONNECTOR, BEGIN, stopped()[0])
    assert outcome(CLAIM, (*unfenced, *flush(4_000, 4_500), ends(4_500))) is Outcome.HELD
    assert outcome(CLAIM, (*unfenced, *flush(4_000, 4_500), ends(4_506))) is Outcome.VIOLATED
