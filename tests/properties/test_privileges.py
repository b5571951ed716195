"""What asks a worker of Connect to claim the write privileges of the config topic, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ConfigCallEnded,
    ConfigCallStarted,
    ConnectAssignmentReceived,
    Event,
    MemberStarted,
    RunStarted,
    WorkerConfigured,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "privilege_claim_has_a_cause"

RUN: Final = RunStarted(subject="simulator", punctual=True)
WORKER: Final = WorkerConfigured(member="w0", mode="sessioned", store="w0", exactly_once=True)
RUNS: Final = (RUN, MemberStarted(member="w0"), WORKER)


def received(leader: str = "w0-1") -> ConnectAssignmentReceived:
    return ConnectAssignmentReceived(
        member="w0",
        generation=1,
        member_id="w0-1",
        protocol="sessioned",
        leader=leader,
        leader_url="u",
        config_offset=4,
    )


def call(number: int, method: str = "claimWritePrivileges", error: str = "") -> tuple[Event, ...]:
    return (
        ConfigCallStarted(member="w0", call=number, method=method),
        ConfigCallEnded(member="w0", call=number, method=method, error=error),
    )


def write(number: int, error: str = "") -> tuple[Event, ...]:
    return call(number, "putSessionKey", error)


LEADS: Final = (*RUNS, received(), *call(0))

HELD: Final = {
    "an assignment as the leader": LEADS,
    "another assignment as the leader": (*LEADS, received(), *call(1)),
    "a transaction failed": (*LEADS, *write(1, "PrivilegedWriteException"), *call(2)),
    "a claim failed": (*RUNS, received(), *call(0, error="ConnectException"), *call(1)),
    "a transaction failed before an assignment": (
        *LEADS, *write(1, "PrivilegedWriteException"), received(), *call(2), *call(3)
    ),
}  # fmt: skip

VIOLATED: Final = {
    "a worker that has joined nothing": (*RUNS, *call(0)),
    "a follower": (*RUNS, received("w1-1"), *call(0)),
    "a write that succeeded": (*LEADS, *write(1), *call(2)),
    "a write whose time was over": (*LEADS, *write(1, "TimeoutException"), *call(2)),
    "a second claim for one failure": (*LEADS, *write(1, "PrivilegedWriteException"), *call(2), *call(3)),
    "another process": (*RUNS, received(), MemberStarted(member="w0"), WORKER, *call(0)),
}

SILENT: Final = {
    "a live run": (RunStarted(subject="live"), *RUNS[1:], *call(0)),
    "a store without a worker": (RUN, *call(0)),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_a_claim_with_a_cause_is_right(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_a_claim_without_one_is_not(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_what_is_not_known_is_not_judged(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.UNTESTED
