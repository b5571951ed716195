"""What excuses a worker of Connect for a start or a stop, and what does not; and how often a store starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    RestartPlanned,
    RunStarted,
    TaskConfigsApplied,
    TaskStarted,
    TaskStopped,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
START: Final = "work_start_has_a_cause"


def accepted(*work: str) -> AssignmentAccepted:
    return AssignmentAccepted(member="w0", generation=1, config_offset=3, work=work)


def revoking(*work: str) -> WorkRevocationStarted:
    return WorkRevocationStarted(member="w0", generation=1, work=work, reason="revoked")


RUN: Final = RunStarted(subject="simulator", punctual=True)
CONFIGURED: Final = WorkerConfigured(member="w0", mode="compatible")
TASK: Final = TaskStarted(member="w0", generation=1, task="c-0")
TASK_STOPPED: Final = TaskStopped(member="w0", generation=1, task="c-0")
CONNECTOR: Final = ConnectorStarted(member="w0", generation=1, connector="c")
CONNECTOR_STOPPED: Final = ConnectorStopped(member="w0", generation=1, connector="c")
APPLIED: Final = TaskConfigsApplied(member="w0", generation=1, connector="c", tasks=("c-0",))
RESTART: Final = RestartPlanned(member="w0", generation=1, connector="c", work=("c", "c-0"))
UPDATE: Final = ConfigCallbackCalled(member="w0", callback="onConnectorConfigUpdate", connector="c")
TARGET: Final = ConfigCallbackCalled(member="w0", callback="onConnectorTargetStateChange", connector="c")
RUNS: Final = (RUN, CONFIGURED, accepted("c", "c-0"), CONNECTOR, TASK)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "an assignment starts": (START, RUNS),
    "an assignment starts again": (START, (*RUNS, revoking("c-0"), TASK_STOPPED, accepted("c-0"), TASK)),
    "a restart stops and starts": (START, (*RUNS, RESTART, TASK_STOPPED, TASK)),
    "a configuration starts": (START, (*RUNS, UPDATE, CONNECTOR_STOPPED, CONNECTOR)),
    "two configurations start twice": (
        START, (*RUNS, UPDATE, UPDATE, CONNECTOR_STOPPED, CONNECTOR, CONNECTOR_STOPPED, CONNECTOR)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "an assignment starts twice": (START, (*RUNS, TASK)),
    "other task configs start": (START, (*RUNS, APPLIED, TASK_STOPPED, TASK)),
    "a target state starts": (START, (*RUNS, TARGET, CONNECTOR_STOPPED, CONNECTOR)),
    "a configuration starts twice": (START, (*RUNS, UPDATE, CONNECTOR, CONNECTOR)),
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
