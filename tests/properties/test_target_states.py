"""What a settled worker's connectors and tasks may be, by the target states that it has read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    RejoinRequested,
    RunEnded,
    RunSettled,
    RunStarted,
    TaskStarted,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "target_states_are_reached"


def read(target: str) -> ConfigSnapshotTaken:
    targets = (("c", target),) if target else ()
    return ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), target_states=targets, tasks=("c-0",))


def becomes(work: str, state: str) -> WorkStateChanged:
    return WorkStateChanged(member="w0", generation=1, work=work, state=state)


RUN: Final = RunStarted(subject="simulator", punctual=True)
ASSIGNED: Final = (
    WorkerConfigured(member="w0", mode="compatible"),
    ConnectAssignmentReceived(
        member="w0", generation=1, protocol="compatible", leader="a", leader_url="u", config_offset=3,
        assigned=("c", "c-0"),
    ),
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c", "c-0")),
)  # fmt: skip
RUNS: Final = (RUN, *ASSIGNED, becomes("c", "RUNNING"), becomes("c-0", "RUNNING"))
STARTED: Final = (
    ConnectorStarted(member="w0", generation=1, connector="c"),
    TaskStarted(member="w0", generation=1, task="c-0"),
)
FAILED: Final = becomes("c-0", "FAILED")
WANTS: Final = RejoinRequested(member="w0", reason="why")
CANCELLED: Final = WorkCancelled(member="w0", generation=1, work="c-0")

HELD: Final[dict[str, tuple[Event, ...]]] = {
    "it runs": (*RUNS, read("STARTED"), RunSettled()),
    "it runs, and no target state is known": (*RUNS, read(""), RunSettled()),
    "it is paused": (*RUNS, read("PAUSED"), becomes("c", "PAUSED"), becomes("c-0", "PAUSED"), RunSettled()),
    "it is stopped, and its task on its way out": (*RUNS, read("STOPPED"), becomes("c", "STOPPED"), RunSettled()),
    "its task failed": (*RUNS, FAILED, read("STARTED"), RunSettled()),
    "its task was cancelled": (*RUNS, CANCELLED, read("STARTED"), RunSettled()),
    "no state of what runs is known": (RUN, *ASSIGNED, *STARTED, becomes("d", "RUNNING"), read("PAUSED"), RunSettled()),
    "a simulated run that ends": (*RUNS, read("STARTED"), RunEnded()),
}

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "it should be paused": (*RUNS, read("PAUSED"), RunSettled()),
    "its task should be paused": (*RUNS, read("PAUSED"), becomes("c", "PAUSED"), RunSettled()),
    "it should be stopped": (*RUNS, read("STOPPED"), RunSettled()),
    "it should run": (*RUNS, becomes("c", "PAUSED"), read("STARTED"), RunSettled()),
    "its task is not there": (RUN, *ASSIGNED, becomes("c", "RUNNING"), read("STARTED"), RunSettled()),
    "a simulated run ends with it": (*RUNS, read("PAUSED"), RunEnded()),
}

UNTESTED: Final[dict[str, tuple[Event, ...]]] = {
    "another round is due": (*RUNS, read("PAUSED"), WANTS, RunSettled()),
    "a live run ends": (RunStarted(subject="live"), *RUNS[1:], read("PAUSED"), RunEnded()),
    "something is pending": (*RUNS, read("PAUSED"), RunEnded(pending=("w0",))),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_what_has_the_state_that_is_asked_for_is_right(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_what_has_another_is_not(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", UNTESTED.values(), ids=UNTESTED)
def test_where_nothing_says_that_the_group_is_settled_nothing_is_claimed(
    outcome: Judged, events: tuple[Event, ...]
) -> None:
    assert outcome(CLAIM, events) is Outcome.UNTESTED
