"""What a member or a worker does is announced in its record; an effect without its announcement breaks a claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CallbackEnded,
    CallbackStarted,
    ConfigAppended,
    ConfigReadEnded,
    ConfigReadStarted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    Event,
    HerderAnswered,
    HerderAsked,
    HerderRequestQueued,
    InternalRequestChecked,
    LeaderAsked,
    MemberJoined,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    OwnerLookedUp,
    ProducerFenced,
    ProducerInitialised,
    RequestAnswered,
    RequestSent,
    RestartPlanned,
    RestartRequested,
    RunSettled,
    RunStarted,
    SessionKeyWritten,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusFlushed,
    StatusFlushStarted,
    StatusQueried,
    StatusRead,
    StatusStoreStarted,
    StatusStoreStarting,
    StatusStoreStopped,
    SubscriptionChanged,
    TargetStateChanged,
    TaskConfigsGenerated,
    TaskStarted,
    TaskStopped,
    TopicsReset,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
    WorkStateChanged,
    ZombieFencingEnded,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
CALLS, CLAIMS, COMMITS = "calls_are_recorded_whole", "claims_are_recorded", "commits_are_recorded"
BEGINS, WRITES = "ends_follow_begins", "config_writes_are_announced"
STATUSES, RESETS = "status_records_are_true", "resets_are_recorded"
NUMBERS, JOINED, OPERATORS = "numbers_have_no_gaps", "joins_record_their_claims", "operator_requests_are_queued"
READ_CLAIMS, REPEATED = "leaders_record_what_was_claimed", "repeated_calls_wait_for_something"
STORES, TARGETS = "stores_stop_with_their_worker", "changed_work_has_a_target"
TOPIC_KEY: Final = "status-topic-t:connector-c"

RUN = RunStarted(subject="simulator", punctual=True)
STARTED = MemberStarted(member="w0")
WORKER = WorkerConfigured(member="w0", mode="sessioned", store="s0")
ONCE = WorkerConfigured(member="w0", mode="sessioned", store="s0", exactly_once=True)
SNAPSHOT = ConfigSnapshotTaken(member="w0", offset=1)
CLAIMED = WorkerClaimed(member="w0", generation=0, url="u", config_offset=1, claim=None)
JOIN = RequestSent(member="w0", api="JoinGroup", request=1)
BEAT = RequestSent(member="w0", api="Heartbeat", request=2, generation=1)
COMPLETED = AssignmentCompleted(member="w0", generation=1, member_id="a", owned=())
RECEIVED = ConnectAssignmentReceived(
    member="w0", generation=1, member_id="a", protocol="sessioned", leader="a", leader_url="u", config_offset=1
)
READS, READ = ConfigReadStarted(member="w0"), ConfigReadEnded(member="w0", offset=1)
FLUSHES, FLUSHED = StatusFlushStarted(worker="s0"), StatusFlushed(worker="s0")
KEY = SessionKeyWritten(member="w0", generation=1, member_id="a")
FENCED = ProducerFenced(transactional_id="connect-c-0", epoch=0)
FENCING = ZombieFencingEnded(
    member="w0", generation=1, member_id="a", connector="c", transactional_ids=("connect-c-0",)
)
TASK = TaskStarted(member="w0", generation=1, member_id="a", task="c-0")
PRODUCER = ProducerInitialised(member="w0", transactional_id="connect-c-0", epoch=0, work="c-0")
ASKED = HerderAsked(member="w0", request=0, operation="reset topics", work="c")
DONE = HerderAnswered(member="w0", request=0, answer=204)
STORE = StatusStoreStarting(worker="s0", ends=(0,))
LEFT = MemberLeft(member="w0")
STOPPED = TaskStopped(member="w0", generation=1, member_id="a", task="c-0")
LOOKED_UP = OwnerLookedUp(member="w0", generation=1, member_id="a", work="c", url="u")
FOUND_NONE = StatusQueried(worker="s0", key=TOPIC_KEY, status="")


def called(callback: str = "onJoinComplete", protocol: str = "range", assignment: str = "c0ffee") -> CallbackStarted:
    return CallbackStarted(
        member="w0", generation=1, member_id="a", callback=callback, protocol=protocol, assignment=assignment
    )


def back(callback: str = "onJoinComplete", outcome: str = "finished") -> CallbackEnded:
    return CallbackEnded(member="w0", callback=callback, outcome=outcome)


def answered(api: str = "OffsetCommit", error: str | None = "NONE") -> RequestAnswered:
    return RequestAnswered(member="w0", api=api, request=1, error=error)


def committed(error: str | None = "NONE") -> OffsetCommitted:
    return OffsetCommitted(member="w0", generation=1, member_id="a", partition="t-0", offset=3, error=error)


def appended(key: str) -> ConfigAppended:
    return ConfigAppended(writer="w0", offset=0, key=key, value="{}")


def generated(*, published: bool = True) -> TaskConfigsGenerated:
    return TaskConfigsGenerated(
        member="w0", generation=1, connector="c", connector_config="k", tasks=(("c-0", "t"),), published=published
    )


def restart(*, is_read: bool = True) -> RestartPlanned:
    return RestartPlanned(member="w0", generation=1, connector="c", work=(), is_read=is_read)


def topic(status: str = "TOPIC", generation: int = -1, worker: str = "s0", *, safe: bool = False) -> StatusAttempted:
    return StatusAttempted(worker=worker, key=TOPIC_KEY, attempt=0, status=status, generation=generation, safe=safe)


def read(status: str, *, literal: bool) -> StatusRead:
    return StatusRead(worker="s0", key="k", partition=0, offset=0, status=status, literal=literal)


def appended_status() -> StatusAppended:
    return StatusAppended(worker="s0", key="k", attempt=0, send=1, partition=0, offset=0)


def answered_status(outcome: str = "ok") -> StatusAnswered:
    return StatusAnswered(worker="s0", key="k", attempt=0, send=1, outcome=outcome)


def state(of: str) -> WorkStateChanged:
    return WorkStateChanged(member="w0", generation=1, member_id="a", work="c-0", state=of)


def target(of: str, connector: str = "c") -> TargetStateChanged:
    return TargetStateChanged(member="w0", connector=connector, state=of)


def joins(*owned: str) -> RequestSent:
    return RequestSent(member="w0", api="JoinGroup", request=1, owned=owned)


def joined(*owned: str) -> MemberJoined:
    return MemberJoined(member="w0", generation=1, member_id="a", owned_partitions=owned)


def asked(operation: str, request: int = 0) -> HerderAsked:
    return HerderAsked(member="w0", request=request, operation=operation, work="c")


def queued(operation: str, number: int = 0) -> HerderRequestQueued:
    return HerderRequestQueued(member="w0", number=number, operation=operation, work="c")


def receives(request: int) -> InternalRequestChecked:
    return InternalRequestChecked(member="w0", mode="eager", request=request, operation="fence", connector="c")


def asks_leader(request: int) -> LeaderAsked:
    return LeaderAsked(member="w0", request=request, operation="fence", connector="c", url="u")


def claims(member_id: str, generation: int | None, *owned: str) -> RequestSent:
    return RequestSent(
        member="w0", api="JoinGroup", request=1, member_id=member_id, owned=owned, claimed_generation=generation
    )


def computed(generation: int, *owned: str) -> AssignmentComputed:
    return AssignmentComputed(
        member="w1", generation=2, owned_partitions=(("a", owned),), owned_generations=(("a", generation),)
    )


COMMITS_BY_ITSELF: Final = MemberStarted(member="w0", auto_commit_interval_ms=5_000)
REVOKES: Final = WorkRevocationStarted(member="w0", generation=1, member_id="a", work=("c-0",), reason="revoked")
REVOKED: Final = WorkRevocationEnded(member="w0", generation=1, member_id="a", work=("c-0",))
UNFINISHED: Final = back(outcome="unfinished")

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "a consumer's call": (CALLS, (RUN, STARTED, called(), COMPLETED, back())),
    "a worker's call": (CALLS, (RUN, STARTED, WORKER, called(), RECEIVED, COMPLETED, back())),
    "an assignment that is not wanted": (
        CALLS, (RUN, STARTED, SubscriptionChanged(member="w0", topics=("u",)), called(), back())
    ),
    "a call to be made again": (
        CALLS, (RUN, STARTED, called(), back(outcome="unfinished"), called(), COMPLETED, back())
    ),
    "a leader's call": (
        CALLS, (RUN, STARTED, called("performAssignment", assignment=""),
                AssignmentComputed(member="w0", generation=1, member_id="a"), back("performAssignment"))
    ),
    "a worker claims and joins": (CLAIMS, (RUN, STARTED, WORKER, SNAPSHOT, CLAIMED, JOIN, CLAIMED, JOIN)),
    "a commit": (COMMITS, (RUN, answered(), committed(), BEAT)),
    "a commit given up": (COMMITS, (RUN, answered(error=None), committed(None), BEAT)),
    "it dies with the answer": (COMMITS, (RUN, answered(), STARTED, BEAT)),
    "reads": (BEGINS, (RUN, STARTED, READS, READS, READ, READ)),
    "a flush that outlasts its process": (BEGINS, (RUN, STARTED, FLUSHES, MemberLeft(member="w0"), FLUSHED)),
    "a store starts": (BEGINS, (RUN, StatusStoreStarting(worker="s0", ends=(1,)), StatusStoreStarted(worker="s0"))),
    "two requests are one restart": (
        BEGINS, (RUN, RestartRequested(member="w0", connector="c"), RestartRequested(member="w0", connector="c"),
                 restart())
    ),
    "a restart of one task": (BEGINS, (RUN, READS, READ, restart(is_read=False))),
    "plain writes": (WRITES, (RUN, WORKER, KEY, appended("session-key"), generated(), appended("task-c-0"))),
    "a store without a herder": (WRITES, (RUN, appended("session-key"), appended("task-c-0"), FENCED, FENCING)),
    "a task with a producer": (WRITES, (RUN, ONCE, PRODUCER, TASK, PRODUCER, TASK)),
    "a task that needs none": (WRITES, (RUN, WORKER, TASK, appended("connector-c"))),
    "a round of fencing": (WRITES, (RUN, ONCE, FENCED, FENCING)),
    "a topic": (STATUSES, (RUN, WORKER, FOUND_NONE, topic(), FOUND_NONE, topic())),
    "a topic that is removed": (STATUSES, (RUN, WORKER, topic("DESTROYED"))),
    "a store alone": (STATUSES, (RUN, WORKER, topic(worker="s1"))),
    "a value DESTROYED": (STATUSES, (RUN, read("DESTROYED", literal=True), topic(worker="s1"))),
    "a send that was appended": (STATUSES, (RUN, appended_status(), answered_status())),
    "a send that failed": (STATUSES, (RUN, answered_status("retriable"), topic(worker="s1"))),
    "a store stops": (STORES, (RUN, WORKER, STORE, StatusStoreStopped(worker="s0"), LEFT)),
    "a store dies": (STORES, (RUN, WORKER, STORE, STARTED, WORKER, LEFT)),
    "a pause": (TARGETS, (RUN, TASK, state("RUNNING"), target("PAUSED"), state("PAUSED"))),
    "a pause of a task that starts": (TARGETS, (RUN, TASK, target("PAUSED"), state("RUNNING"), state("PAUSED"))),
    "a start that is paused": (TARGETS, (RUN, TASK, state("RUNNING"), STOPPED, TASK, state("PAUSED"))),
    "a task that was prepared": (TARGETS, (RUN, ONCE, target("PAUSED"), TASK, state("RUNNING"), state("PAUSED"))),
    "numbers of a worker": (
        NUMBERS, (RUN, STARTED, queued("pause"), queued("stop", 1), asks_leader(0), asks_leader(1))
    ),
    "numbers of what it receives": (NUMBERS, (RUN, STARTED, receives(0), receives(1))),
    "the claims that were sent": (JOINED, (RUN, joins("t-0", "t-1"), answered("JoinGroup"), joined("t-1", "t-0"))),
    "an answer that is given up": (
        JOINED, (RUN, joins("t-0"), answered("JoinGroup"), joins(), answered("JoinGroup", None), joined("t-0"))
    ),
    "a leader reads what was sent": (READ_CLAIMS, (RUN, claims("a", 1, "t-1", "t-0"), computed(1, "t-0", "t-1"))),
    "an old version has no generation": (READ_CLAIMS, (RUN, claims("a", None), computed(-1))),
    "a leader reads what was sent before": (
        READ_CLAIMS, (RUN, claims("a", 1, "t-0"), claims("a", 2), computed(1, "t-0"))
    ),
    "of a member that had no id": (
        READ_CLAIMS, (RUN, claims("", -1), answered("JoinGroup"), joined(), computed(-1))
    ),
    "a commit before a join": (
        REPEATED, (RUN, COMMITS_BY_ITSELF, called("onJoinPrepare"), back("onJoinPrepare", "unfinished"))
    ),
    "work that stops": (REPEATED, (RUN, STARTED, called(), REVOKES, UNFINISHED, called(), REVOKED, back())),
    "a call that raised": (REPEATED, (RUN, STARTED, called(), back(outcome="raised"))),
    "asked and queued": (OPERATORS, (RUN, asked("pause"), queued("pause"), asked("stop", 1), queued("stop", 1))),
    "asked and answered": (OPERATORS, (RUN, asked("reset topics"), DONE, RunSettled())),
    "asked and dead": (OPERATORS, (RUN, asked("pause"), STARTED, RunSettled())),
    "asked the owner": (OPERATORS, (RUN, LOOKED_UP, asked("restart work"), queued("restart work"), RunSettled())),
    "a reset": (RESETS, (RUN, ASKED, TopicsReset(member="w0", connector="c"), DONE)),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "no end of a round": (CALLS, (RUN, STARTED, called(), back())),
    "no assignment of a worker": (CALLS, (RUN, STARTED, WORKER, called(), COMPLETED, back())),
    "nothing computed": (CALLS, (RUN, STARTED, called("performAssignment"), back("performAssignment"))),
    "no protocol": (CALLS, (RUN, STARTED, called(protocol=""), COMPLETED, back())),
    "no bytes": (CALLS, (RUN, STARTED, called(assignment=""), COMPLETED, back())),
    "recorded in the call before": (
        CALLS, (RUN, STARTED, called(), COMPLETED, back(outcome="unfinished"), called(), back())
    ),
    "a worker only joins": (CLAIMS, (RUN, STARTED, WORKER, JOIN)),
    "a worker claims once": (CLAIMS, (RUN, STARTED, WORKER, SNAPSHOT, CLAIMED, JOIN, JOIN)),
    "a worker claims what it has not read": (CLAIMS, (RUN, STARTED, WORKER, CLAIMED, JOIN)),
    "no outcome": (COMMITS, (RUN, answered(), BEAT)),
    "no outcome before the next": (COMMITS, (RUN, answered(), answered())),
    "no begin of a read": (BEGINS, (RUN, STARTED, READS, READ, READ)),
    "of another process": (BEGINS, (RUN, STARTED, READS, STARTED, READ)),
    "no begin of a flush": (BEGINS, (RUN, FLUSHED)),
    "no begin of a store": (BEGINS, (RUN, StatusStoreStarted(worker="s0"))),
    "no request": (BEGINS, (RUN, restart())),
    "one request, two restarts": (BEGINS, (RUN, RestartRequested(member="w0", connector="c"), restart(), restart())),
    "no session key": (WRITES, (RUN, WORKER, KEY, appended("session-key"), appended("session-key"))),
    "no task configurations": (WRITES, (RUN, WORKER, generated(published=False), appended("task-c-0"))),
    "no producer": (WRITES, (RUN, ONCE, TASK)),
    "one producer, two starts": (WRITES, (RUN, ONCE, PRODUCER, TASK, TASK)),
    "not fenced": (WRITES, (RUN, ONCE, FENCING)),
    "a topic with a generation": (STATUSES, (RUN, topic(generation=0))),
    "a topic with a check": (STATUSES, (RUN, topic(safe=True))),
    "not looked for": (STATUSES, (RUN, WORKER, FOUND_NONE, topic(), topic())),
    "found": (STATUSES, (RUN, WORKER, StatusQueried(worker="s0", key=TOPIC_KEY, status="TOPIC"), topic())),
    "another literal": (STATUSES, (RUN, read("RUNNING", literal=True))),
    "not appended": (STATUSES, (RUN, answered_status())),
    "a store goes on": (STORES, (RUN, WORKER, STORE, LEFT)),
    "no target": (TARGETS, (RUN, TASK, state("RUNNING"), state("PAUSED"))),
    "the target of another": (
        TARGETS, (RUN, TASK, state("RUNNING"), target("PAUSED", connector="d"), state("PAUSED"))
    ),
    "a request to its herder is left out": (NUMBERS, (RUN, STARTED, queued("pause"), queued("stop", 2))),
    "a request that it receives is left out": (NUMBERS, (RUN, STARTED, receives(0), receives(2))),
    "a request to its leader comes twice": (NUMBERS, (RUN, STARTED, asks_leader(0), asks_leader(0))),
    "other claims": (JOINED, (RUN, joins("t-0"), answered("JoinGroup"), joined())),
    "the claims of an earlier join": (
        JOINED, (RUN, joins("t-0"), answered("JoinGroup"), joins(), answered("JoinGroup"), joined("t-0"))
    ),
    "a leader reads another generation": (READ_CLAIMS, (RUN, claims("a", 1), computed(2))),
    "a leader reads a generation that was not sent": (READ_CLAIMS, (RUN, claims("a", None), computed(2))),
    "a leader reads other partitions": (READ_CLAIMS, (RUN, claims("a", 1, "t-0"), computed(1, "t-1"))),
    "a leader reads of a member that had no id": (
        READ_CLAIMS, (RUN, claims("", -1), answered("JoinGroup"), joined(), computed(1))
    ),
    "a consumer that commits by itself completes": (REPEATED, (RUN, COMMITS_BY_ITSELF, called(), UNFINISHED)),
    "nothing to commit": (REPEATED, (RUN, STARTED, called("onJoinPrepare"), back("onJoinPrepare", "unfinished"))),
    "all work has stopped": (REPEATED, (RUN, STARTED, called(), REVOKES, REVOKED, UNFINISHED)),
    "neither queued nor answered": (OPERATORS, (RUN, asked("pause"), asked("stop", 1))),
    "another is queued": (OPERATORS, (RUN, asked("pause"), queued("stop"), RunSettled())),
    "no owner is looked up": (OPERATORS, (RUN, asked("restart work"), queued("restart work"), RunSettled())),
    "no reset": (RESETS, (RUN, TopicsReset(member="w0", connector="c"), ASKED, DONE)),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_an_announced_effect_holds(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_an_effect_without_its_announcement_is_seen(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_observers_that_may_miss_something_are_not_judged(
    history: History, claim: str, events: tuple[Event, ...]
) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
