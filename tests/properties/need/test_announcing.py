"""What asks a worker of Connect for a status, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberCrashed,
    MemberStarted,
    PluginDrawn,
    RestartPlanned,
    RunStarted,
    StatusAttempted,
    StatusRead,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
CLAIM: Final = "status_write_has_a_cause"


def writes(status: str, key: str = "status-task-c-0") -> StatusAttempted:
    return StatusAttempted(worker="w0", key=key, attempt=0, status=status, generation=1, safe=False)


def reads(status: str, *, literal: bool = False) -> StatusRead:
    return StatusRead(worker="w0", key="status-task-c-0", partition=0, offset=0, status=status, literal=literal)


def becomes(state: str) -> WorkStateChanged:
    return WorkStateChanged(member="w0", generation=1, work="c-0", state=state)


def worker(*, exactly_once: bool = False) -> WorkerConfigured:
    return WorkerConfigured(member="w0", mode="compatible", store="w0", exactly_once=exactly_once)


RUN: Final = RunStarted(subject="simulator", punctual=True)
RUNS: Final = (RUN, worker())
STARTED: Final = TaskStarted(member="w0", generation=1, task="c-0")
STOPPED: Final = TaskStopped(member="w0", generation=1, task="c-0")
ACCEPTED: Final = AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c-0",))
RESTART: Final = RestartPlanned(member="w0", generation=1, connector="c", work=("c-0",))
DRAWN: Final = PluginDrawn(member="w0", work="c-0")
CONNECTOR: Final = (
    ConnectorStarted(member="w0", generation=1, connector="c"),
    ConnectorStopped(member="w0", generation=1, connector="c"),
)
CANCELLED: Final = WorkCancelled(member="w0", generation=1, work="c-0")

HELD: Final[dict[str, tuple[Event, ...]]] = {
    "it runs": (*RUNS, STARTED, becomes("RUNNING"), writes("RUNNING")),
    "it runs and pauses": (*RUNS, becomes("RUNNING"), writes("RUNNING"), becomes("PAUSED"), writes("PAUSED")),
    "it fails": (*RUNS, becomes("FAILED"), writes("FAILED")),
    "it ends": (*RUNS, STARTED, STOPPED, writes("UNASSIGNED")),
    "a connector ends": (*RUNS, *CONNECTOR, writes("UNASSIGNED", "status-connector-c")),
    "it is cancelled": (*RUNS, CANCELLED, writes("UNASSIGNED")),
    "it starts after it was cancelled": (*RUNS, CANCELLED, writes("RUNNING")),
    "it starts after it was cancelled and started anew": (
        *RUNS, CANCELLED, STARTED, becomes("RUNNING"), writes("RUNNING"), writes("RUNNING")
    ),
    "it is assigned what it runs": (*RUNS, ACCEPTED, writes("FAILED")),
    "a restart stops it": (*RUNS, RESTART, writes("RESTARTING")),
    "a restart cannot stop it in time": (*RUNS, RESTART, writes("FAILED")),
    "a task ends before it is fenced, and so does the next one": (
        RUN, worker(exactly_once=True), ACCEPTED, DRAWN, RESTART, writes("UNASSIGNED"), writes("RESTARTING"), DRAWN,
        writes("UNASSIGNED"),
    ),
    "a task ends before it is fenced": (RUN, worker(exactly_once=True), ACCEPTED, writes("UNASSIGNED")),
    "a restarted task ends, and once more before it is fenced": (
        RUN, worker(exactly_once=True), RESTART, STOPPED, writes("UNASSIGNED"), writes("RESTARTING"),
        writes("UNASSIGNED"),
    ),
    "it removes what it has read": (*RUNS, reads("RUNNING"), writes("DESTROYED"), writes("DESTROYED")),
    "it removes what is no tombstone": (*RUNS, reads("DESTROYED", literal=True), writes("DESTROYED")),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "nothing": (*RUNS, STARTED, writes("RUNNING")),
    "twice": (*RUNS, becomes("RUNNING"), writes("RUNNING"), writes("RUNNING")),
    "it starts twice after it was cancelled": (*RUNS, CANCELLED, writes("RUNNING"), writes("RUNNING")),
    "another state": (*RUNS, becomes("PAUSED"), writes("RUNNING")),
    "an end that no end caused": (*RUNS, STARTED, ACCEPTED, writes("UNASSIGNED")),
    "a task ends after it was fenced": (RUN, worker(exactly_once=True), ACCEPTED, STARTED, writes("UNASSIGNED")),
    "a restarted task ends twice before it is fenced": (
        RUN, worker(exactly_once=True), RESTART, writes("UNASSIGNED"), writes("UNASSIGNED")
    ),
    "a restart that was not planned": (*RUNS, STARTED, STOPPED, writes("RESTARTING")),
    "a restart announced twice": (*RUNS, RESTART, writes("RESTARTING"), writes("RESTARTING")),
    "a state of the process before": (
        *RUNS, becomes("RUNNING"), MemberCrashed(member="w0"), MemberStarted(member="w0"), worker(), writes("RUNNING")
    ),
    "a removal of what it has not read": (*RUNS, writes("DESTROYED")),
    "a removal of what is removed": (*RUNS, reads("RUNNING"), reads("DESTROYED"), writes("DESTROYED")),
}  # fmt: skip


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_what_has_a_cause_is_excused(history: History, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([CLAIM])).verdict(CLAIM).outcome is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_what_has_no_cause_is_not(history: History, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([CLAIM])).verdict(CLAIM).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_in_real_time_nothing_is_claimed(history: History, events: tuple[Event, ...]) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([CLAIM])).verdict(CLAIM).outcome is Outcome.UNTESTED
