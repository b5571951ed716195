"""The last status of what runs: it is that of its state, and what may stand behind it is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConnectAssignmentReceived,
    Event,
    RunEnded,
    RunSettled,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusRead,
    StatusSent,
    TaskStarted,
    TaskStopped,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "last_status_says_what_runs"
KEY = "status-task-c-0"


def configured(member: str) -> Event:
    return WorkerConfigured(member=member, mode="compatible", store=member)


def assigned(member: str, generation: int, *work: str) -> Event:
    return ConnectAssignmentReceived(
        member=member, generation=generation, protocol="compatible", leader="a", leader_url="u", config_offset=9,
        assigned=work,
    )  # fmt: skip


def runs(member: str, generation: int) -> tuple[Event, ...]:
    return (
        assigned(member, generation, "c-0"),
        TaskStarted(member=member, generation=generation, task="c-0"),
    )


def called(store: str, attempt: int, status: str, generation: int = 1) -> Event:
    return StatusAttempted(
        worker=store, key=KEY, attempt=attempt, status=status, generation=generation, safe=status == "UNASSIGNED",
        status_worker=f"{store}:8083",
    )  # fmt: skip


def sent(store: str, attempt: int, send: int = 1) -> Event:
    return StatusSent(worker=store, key=KEY, attempt=attempt, send=send, value="{}")


def appended(store: str, attempt: int, offset: int, send: int = 1) -> Event:
    return StatusAppended(worker=store, key=KEY, attempt=attempt, send=send, partition=0, offset=offset)


def answered(store: str, attempt: int, send: int = 1, outcome: str = "ok") -> Event:
    return StatusAnswered(worker=store, key=KEY, attempt=attempt, send=send, outcome=outcome)


def read(store: str, status: str, by: str, generation: int, offset: int) -> Event:
    return StatusRead(
        worker=store, key=KEY, partition=0, offset=offset, status=status, status_worker=f"{by}:8083",
        generation=generation,
    )  # fmt: skip


def written(store: str, attempt: int, status: str, offset: int, generation: int = 1) -> tuple[Event, ...]:
    return (
        called(store, attempt, status, generation),
        sent(store, attempt),
        appended(store, attempt, offset),
        answered(store, attempt),
    )


END = (RunSettled(), RunEnded())
ALONE = (configured("w0"), *runs("w0", 1))
TAKEN_OVER = (configured("w0"), *runs("w0", 1), *written("w0", 0, "RUNNING", 0))
"""The next event is the start of the task at w1, in generation 2."""
AT_W1 = (TaskStopped(member="w0", generation=1, task="c-0"), configured("w1"), assigned("w0", 2), *runs("w1", 2))


def test_the_last_status_is_the_state(outcome: Judged) -> None:
    assert outcome(CLAIM, (*ALONE, *written("w0", 0, "RUNNING", 0), *END)) is Outcome.HELD


def target(state: str, offset: int) -> Event:
    return ConfigAppended(writer="w0", offset=offset, key="target-state-c", value=f'{{"state.v2":"{state}"}}')


CREATED = ConfigAppended(writer="w0", offset=0, key="connector-c", value="{}")
PAUSE = (CREATED, target("PAUSED", 1))


@pytest.mark.parametrize(
    ("records", "status", "expected"),
    [
        (PAUSE, "PAUSED", Outcome.HELD),
        (PAUSE, "RUNNING", Outcome.VIOLATED),
        ((*PAUSE, target("STARTED", 2)), "PAUSED", Outcome.VIOLATED),
        ((CREATED,), "PAUSED", Outcome.VIOLATED),
        ((), "PAUSED", Outcome.HELD),
        (PAUSE, "FAILED", Outcome.HELD),
    ],
)
def test_the_last_status_is_the_target_state_that_the_config_topic_says(
    outcome: Judged, records: tuple[Event, ...], status: str, expected: Outcome
) -> None:
    assert outcome(CLAIM, (*records, *ALONE, *written("w0", 0, status, 0), *END)) is expected


def test_a_failed_task_that_is_assigned_again_and_paused__has_not_failed(outcome: Judged) -> None:
    failed, paused = (
        WorkStateChanged(member="w0", generation=1, work="c-0", state=state) for state in ("FAILED", "PAUSED")
    )
    again = (assigned("w0", 2, "c-0"), paused, *written("w0", 1, "PAUSED", 1, 2))
    assert outcome(CLAIM, (*PAUSE, *ALONE, failed, *written("w0", 0, "FAILED", 0), *again, *END)) is Outcome.UNTESTED


def test_the_record_of_an_acknowledged_write_is_missing(outcome: Judged) -> None:
    assert outcome(CLAIM, (*ALONE, called("w0", 0, "RUNNING"), sent("w0", 0), answered("w0", 0), *END)) is (
        Outcome.VIOLATED
    )


def test_nothing_is_said_of_a_write_that_failed(outcome: Judged) -> None:
    failed = (called("w0", 0, "RUNNING"), sent("w0", 0), answered("w0", 0, outcome="failed"))
    assert outcome(CLAIM, (*ALONE, *failed, *END)) is Outcome.UNTESTED


def test_an_unsafe_retry_may_come_behind_a_younger_write(outcome: Judged) -> None:
    """``put`` asks for the generation alone when it is tried again (KafkaStatusBackingStore.send)."""
    first = (called("w0", 0, "RUNNING"), sent("w0", 0), answered("w0", 0, outcome="retriable"))
    again = (sent("w0", 0, 2), appended("w0", 0, 1, 2), answered("w0", 0, 2))
    assert outcome(CLAIM, (*PAUSE, *ALONE, *first, *written("w0", 1, "PAUSED", 0), *again, *END)) is Outcome.UNTESTED


def test_a_safe_write_of_another_worker_may_come_behind_it(outcome: Judged) -> None:
    """The owner before wrote UNASSIGNED safely: it could not know of the newer status."""
    failed = WorkStateChanged(member="w1", generation=2, work="c-0", state="FAILED")
    events = (*TAKEN_OVER, *AT_W1, failed, *written("w1", 0, "FAILED", 1, 2), *written("w0", 1, "UNASSIGNED", 2))
    assert outcome(CLAIM, (*events, *END)) is Outcome.UNTESTED


def test_another_worker_wrote_without_care(outcome: Judged) -> None:
    """Nothing keeps ``put`` of a worker that does not know of the takeover from being the last."""
    events = (CREATED, *TAKEN_OVER, *AT_W1, *written("w1", 0, "RUNNING", 1, 2), *written("w0", 1, "PAUSED", 2))
    assert outcome(CLAIM, (*events, *END)) is Outcome.UNTESTED


def test_a_worker_that_lost_its_membership_removes_nothing_for_an_assignment_that_comes_late() -> None:
    """It joins anew in the place of acting on the assignment."""
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT, steps=30)
    assert judge(simulate(3915, options), "removed_work_loses_its_status").outcome is Outcome.HELD
