"""Documented exceptions of Connect: violations in a recording, and excused by the events that show the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

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


def round_of(worker: str, generation: int, offset: int, protocol: str = "compatible", **fields: Any) -> e.Event:
    return e.ConnectAssignmentReceived(
        member=worker,
        generation=generation,
        protocol=protocol,
        leader="a",
        leader_url="u",
        config_offset=offset,
        **fields,
    )


def appended(offset: int, key: str, value: str = "{}") -> e.Event:
    return e.ConfigAppended(writer="w0", offset=offset, key=key, value=value)


@pytest.mark.parametrize(("before", "outcome"), [("default", Outcome.HELD), ("compatible", Outcome.VIOLATED)])
def test_a_worker_that_was_eager__acts_late_on_commits(history: History, before: str, outcome: Outcome) -> None:
    claims = e.WorkerClaimed(member="w0", generation=1, url="u", config_offset=1, claim=("c-0",))
    gives_up = e.WorkRevocationStarted(member="w0", generation=1, work=("c-0",), reason="eager join")
    stops = e.TaskStopped(member="w0", generation=1, task="c-0")
    rounds = [
        event
        for generation, protocol in enumerate((before, before, "compatible"), start=1)
        for event in (
            gives_up,
            stops,
            claims,
            round_of("w0", generation, 1, protocol, assigned=("c-0",)),
            runs("w0", generation),
        )
    ]
    late = [replace(event, time_ms=600_000) for event in (*rounds, stops, runs("w0", 3))]
    events = [appended(0, "commit-c"), *late]
    assert judge(history(*events)).verdict("work_starts_again_for_a_cause").outcome is outcome


@pytest.mark.parametrize(("resumed_ms", "outcome"), [(590_000, Outcome.HELD), (10_000, Outcome.VIOLATED)])
def test_a_worker_that_is_paused__is_not_away(history: History, resumed_ms: int, outcome: Outcome) -> None:
    configured = e.WorkerConfigured(member="w0", mode="compatible", scheduled_rebalance_max_delay_ms=20_000)
    lost = e.MembershipLost(member="w0", generation=1, reason="poll timeout", time_ms=9_000)
    events = [
        configured, assigned("w0", 1, "compatible", "c-0"), runs("w0"), e.MemberPaused(member="w0"), lost,
        e.MemberResumed(member="w0", time_ms=resumed_ms),
        e.WorkerClaimed(member="w0", generation=1, url="u", config_offset=1, claim=("c-0",), time_ms=600_000),
    ]  # fmt: skip
    assert judge(history(*events)).verdict("work_stops_while_away").outcome is outcome


@pytest.mark.parametrize(("revoked", "outcome"), [(("d",), Outcome.HELD), ((), Outcome.VIOLATED)])
def test_a_worker_that_must_join_again_at_once__acts_on_no_record_yet(
    history: History, revoked: tuple[str, ...], outcome: Outcome
) -> None:
    starts, stops = (
        kind(member="w0", generation=1, connector="c") for kind in (e.ConnectorStarted, e.ConnectorStopped)
    )
    claims = e.WorkerClaimed(member="w0", generation=1, url="u", config_offset=1, claim=("c",))
    rounds = (round_of("w0", generation, 1, revoked=revoked) for generation in (2, 3))
    late = (*rounds, stops, claims, round_of("w0", 4, 1, assigned=("c",)), starts, stops, starts)
    events = [
        round_of("w0", 1, 0, assigned=("c",)), starts, appended(0, "connector-c"),
        *(replace(event, time_ms=600_000) for event in late),
    ]  # fmt: skip
    assert judge(history(*events)).verdict("work_starts_again_for_a_cause").outcome is outcome


@pytest.mark.parametrize(("again", "outcome"), [("c-0", Outcome.VIOLATED), ("c-1", Outcome.UNTESTED)])
def test_a_worker_that_does_not_claim_a_task__no_longer_failed_at_it(
    history: History, again: str, outcome: Outcome
) -> None:
    failed = e.WorkStateChanged(member="w0", generation=1, work="c-0", state="FAILED")
    events = [
        e.WorkerConfigured(member="w0", mode="sessioned", exactly_once=True),
        round_of("w0", 1, 0, "default", assigned=("c-0",)), runs("w0"), failed,
        appended(0, "tasks-fencing-c"), appended(1, "task-c-0"), appended(2, "commit-c"),
        round_of("w0", 2, 3, "default", assigned=(again,)), e.RunSettled(),
    ]  # fmt: skip
    assert judge(history(*events)).verdict("earlier_tasks_are_fenced").outcome is outcome


def accepts(worker: str, generation: int, offset: int) -> e.Event:
    return e.AssignmentAccepted(member=worker, generation=generation, config_offset=offset, work=())


COUNTED_WHILE_ACCEPTING: list[e.Event] = [
    round_of("w0", 1, 0), accepts("w0", 1, 0),
    appended(0, "commit-c"), appended(1, "commit-d"), round_of("w0", 2, 2), round_of("w1", 2, 2), accepts("w0", 2, 2),
    appended(2, "tasks-fencing-c"), round_of("w0", 3, 3), round_of("w1", 3, 3),
    accepts("w0", 3, 3), accepts("w1", 3, 3),
    appended(3, "tasks-fencing-d"), round_of("w0", 4, 4),
]  # fmt: skip
"""w1 read further than the assignment of generation 2, and acts on the commits after generation 3."""

SETTLED_BEFORE: list[e.Event] = [*COUNTED_WHILE_ACCEPTING[:7], accepts("w1", 2, 2), *COUNTED_WHILE_ACCEPTING[7:]]

JOINS = e.RequestSent(member="w0", member_id="a", api="JoinGroup", request=1, version=9)
JOINED = e.RequestAnswered(
    member="w0", api="JoinGroup", request=1, error="NONE", generation=1, assigned_member_id="a", leader="a"
)
KEPT = e.RequestParked(incarnation=0, generation=1, api="JoinGroup", request=7, member_id="a")


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        (COUNTED_WHILE_ACCEPTING, Outcome.HELD),
        (SETTLED_BEFORE, Outcome.VIOLATED),
        ([JOINS, JOINED, round_of("w0", 1, 0), accepts("w0", 1, 0), KEPT, appended(0, "session-key"),
          round_of("w0", 2, 1)], Outcome.HELD),
        ([JOINS, KEPT, JOINED, round_of("w0", 1, 0), accepts("w0", 1, 0), appended(0, "session-key"),
          round_of("w0", 2, 1)], Outcome.VIOLATED),
    ],
    ids=["a worker read further", "all accepted what they got", "a JoinGroup comes twice", "no JoinGroup comes twice"],
)  # fmt: skip
def test_a_round_has_a_cause(history: History, events: list[e.Event], outcome: Outcome) -> None:
    assert judge(history(*events)).verdict("connect_round_has_a_cause").outcome is outcome
