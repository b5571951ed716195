"""Documented exceptions of Connect: violations in a recording, and excused by the events that show the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.model.vocabulary import events as e
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws import connect
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[e.Event]]


def runs(worker: str, generation: int = 1, member_id: str = "") -> e.TaskStarted:
    return e.TaskStarted(member=worker, generation=generation, member_id=member_id, task="c-0")


def assigned(worker: str, generation: int, protocol: str, *work: str, member_id: str = "") -> e.Event:
    return e.ConnectAssignmentReceived(
        member=worker, generation=generation, member_id=member_id, protocol=protocol, leader="a", leader_url="u",
        config_offset=1, assigned=work,
    )  # fmt: skip


def accepted(worker: str, generation: int, *work: str) -> e.Event:
    return e.AssignmentAccepted(member=worker, generation=generation, config_offset=1, work=work)


DOWNGRADE: list[e.Event] = [
    assigned("w0", 1, "compatible", "c-0"), accepted("w0", 1, "c-0"), runs("w0"),
    assigned("w0", 2, "default"), accepted("w0", 2),
    assigned("w1", 2, "default", "c-0"), accepted("w1", 2, "c-0"), runs("w1", 2),
]  # fmt: skip
"""KAFKA-13816: an eager assignment replaces the claim of a worker, which goes on."""

CANCELLED: list[e.Event] = [
    runs("w0"), e.WorkCancelled(member="w0", generation=1, work="c-0"), runs("w1", 2),
    e.CancelledWorkEnded(member="w0", generation=2, work="c-0"),
]  # fmt: skip
"""A task did not stop in time."""

LEFT_BY_POLL_TIMEOUT: list[e.Event] = [
    runs("w0"), e.MembershipLost(member="w0", generation=1, reason="poll timeout"), runs("w1", 2),
]  # fmt: skip
"""KAFKA-16056: the heartbeat thread left the group, the tasks go on."""

RESTARTED_BEFORE_THE_NEXT_POLL: list[e.Event] = [
    assigned("w0", 1, "compatible", "c-0"), accepted("w0", 1, "c-0"), runs("w0"),
    e.MembershipLost(member="w0", generation=1, reason="poll timeout"),
    runs("w1", 2), e.TaskStopped(member="w0", generation=-1, task="c-0"), runs("w0", -1),
]  # fmt: skip
"""KAFKA-16056, too: the herder looks at its membership only when it polls, and until then restarts what it claims."""

REMOVED: list[e.Event] = [
    e.IncarnationStarted(incarnation=0, generation=0, status="Empty"),
    e.MemberAdded(incarnation=0, generation=0, member_id="a"),
    e.WorkerClaimed(member="w0", generation=-1, member_id="a", url="u", config_offset=1, claim=None),
    runs("w0", member_id="a"),
    e.MemberRemoved(incarnation=0, generation=1, member_id="a", reason="session expired"),
    e.MemberAdded(incarnation=0, generation=1, member_id="b"),
    runs("w1", 2, member_id="b"),
]
"""A worker that was cut off does not know that it was removed."""

PAUSED: list[e.Event] = [runs("w0"), e.MemberPaused(member="w0"), runs("w1", 2), e.MemberResumed(member="w0")]
"""A worker that was suspended, where the coordinator records nothing."""

EXCUSED = {
    "an eager worker joins": DOWNGRADE,
    "a task does not stop": CANCELLED,
    "a poll timeout": LEFT_BY_POLL_TIMEOUT,
    "a restart before the next poll": RESTARTED_BEFORE_THE_NEXT_POLL,
    "a removed worker": REMOVED,
    "a paused worker": PAUSED,
}


@pytest.mark.parametrize("name", EXCUSED)
def test_the_events_that_show_the_reason__excuse_a_second_runner(history: History, name: str) -> None:
    assert judge(history(*EXCUSED[name]), connect.LAWS).counterexamples == ()


@pytest.mark.parametrize("name", EXCUSED)
def test_a_recording_of_what_starts_and_stops__is_accused(history: History, name: str) -> None:
    seen = [event for event in EXCUSED[name] if isinstance(event, e.TaskStarted | e.TaskStopped)]
    assert judge(history(*seen), connect.LAWS).verdict("work_runs_once").outcome is Outcome.VIOLATED


def test_the_excuse_ends_with_the_next_assignment(history: History) -> None:
    events = [*LEFT_BY_POLL_TIMEOUT, assigned("w0", 3, "compatible"), runs("w2", 3)]
    again = [*LEFT_BY_POLL_TIMEOUT[:2], assigned("w0", 3, "compatible", "c-0"), runs("w1", 4)]
    for each in (events, again):
        assert judge(history(*each)).verdict("work_runs_once").outcome is Outcome.VIOLATED


def test_a_task_that_is_started_again_elsewhere__while_its_worker_is_no_member__is_no_excuse(history: History) -> None:
    events = [*LEFT_BY_POLL_TIMEOUT, e.TaskStopped(member="w0", generation=1, task="c-0"), runs("w0")]
    assert judge(history(*events)).verdict("work_runs_once").outcome is Outcome.VIOLATED


def test_a_worker_that_joins_again__knows_that_it_was_no_member(history: History) -> None:
    *before, again = RESTARTED_BEFORE_THE_NEXT_POLL
    joins = e.WorkerClaimed(member="w0", generation=1, url="u", config_offset=1, claim=("c-0",))
    assert judge(history(*before, joins, again)).verdict("work_runs_once").outcome is Outcome.VIOLATED


def test_a_worker_that_gave_work_up__does_not_restart_it(history: History) -> None:
    *before, again = RESTARTED_BEFORE_THE_NEXT_POLL
    gave_up = e.WorkRevocationStarted(member="w0", generation=1, work=("c-0",), reason="coordinator unknown")
    assert judge(history(*before, gave_up, again)).verdict("work_runs_once").outcome is Outcome.VIOLATED


def test_a_worker_that_ended__runs_nothing(history: History) -> None:
    for end in (e.MemberCrashed(member="w0"), e.MemberLeft(member="w0"), e.MemberStarted(member="w0")):
        assert judge(history(runs("w0"), end, runs("w1", 2)), connect.LAWS).counterexamples == ()


def test_work_that_failed__runs_no_more(history: History) -> None:
    failed = e.WorkStateChanged(member="w0", generation=1, work="c-0", state="FAILED")
    assert judge(history(runs("w0"), failed, runs("w1", 2)), connect.LAWS).counterexamples == ()
