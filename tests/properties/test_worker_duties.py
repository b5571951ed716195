"""What workers do with plug-ins, restarts, stops and task configs: histories in which each claim holds, and breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConfigCallbackCalled,
    ConfigRead,
    ConfigReadEnded,
    ConfigReadStarted,
    ConfigSnapshotTaken,
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    HerderAnswered,
    HerderAsked,
    LeaderAnswered,
    LeaderAsked,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    PluginDrawn,
    PluginFailed,
    ProducerFenced,
    ProducerInitialised,
    RejoinRequested,
    RequestSent,
    RestartPlanned,
    RunEnded,
    RunStarted,
    StatusAnswered,
    StatusAttempted,
    StatusRead,
    StatusSent,
    StatusStoreStarted,
    StatusStoreStarting,
    StatusStoreStopped,
    TargetStateChanged,
    TaskConfigsGenerated,
    TaskStarted,
    WorkCancelled,
    WorkerClaimed,
    WorkerConfigured,
    WorkerStopRequested,
    WorkRevocationStarted,
    WorkStateChanged,
    ZombieFencingEnded,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]

BEGIN: Final = (
    RunStarted(subject="simulator", punctual=True),
    MemberStarted(member="w0"),
    WorkerConfigured(member="w0", mode="compatible", store="w0"),
)
EXACTLY_ONCE: Final = WorkerConfigured(member="w0", mode="compatible", store="w0", exactly_once=True)
CONNECTOR: Final = PluginDrawn(member="w0", work="c", start_ms=100, stop_ms=200)
TASK: Final = PluginDrawn(member="w0", work="c-0", start_ms=100)
PAUSE: Final = TargetStateChanged(member="w0", connector="c", state="PAUSED", time_ms=1_000)
ASSIGNED: Final = ConnectAssignmentReceived(
    member="w0", generation=1, member_id="a", protocol="compatible", leader="a", leader_url="u", config_offset=3,
    assigned=("c", "c-0", "c-1"),
)  # fmt: skip
ACCEPTED: Final = AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c", "c-0", "c-1"))
GENERATED: Final = TaskConfigsGenerated(
    member="w0", generation=1, connector="c", connector_config="x", tasks=(), published=True
)
COMMITTED: Final = ConfigCallbackCalled(member="w0", callback="onTaskConfigUpdate", connector="c")
STOP: Final = WorkerStopRequested(member="w0", time_ms=1_000)


def state(work: str, state: str, at_ms: int = 100) -> WorkStateChanged:
    return WorkStateChanged(member="w0", generation=1, work=work, state=state, time_ms=at_ms)


def beat(at_ms: int) -> RequestSent:
    return RequestSent(member="w0", api="Heartbeat", request=9, generation=1, time_ms=at_ms)


def read(only_failed: bool = False, include_tasks: bool = True, offset: int = 3) -> tuple[Event, Event]:
    """A request to restart the connector is read."""
    flags = f'"include-tasks":{str(include_tasks).lower()},"only-failed":{str(only_failed).lower()}'
    return (
        ConfigRead(member="w0", offset=offset, key="restart-connector-c", value=f"{{{flags}}}"),
        ConfigCallbackCalled(member="w0", callback="onRestartRequest", connector="c"),
    )


def cached(work: str, status: str = "RUNNING", offset: int = 0) -> StatusRead:
    kind = "task" if "-" in work else "connector"
    return StatusRead(
        worker="w0", key=f"status-{kind}-{work}", partition=0, offset=offset, status=status, status_worker="w",
        generation=1,
    )  # fmt: skip


def planned(*work: str, only_failed: bool = False, include_tasks: bool = True) -> RestartPlanned:
    return RestartPlanned(
        member="w0", generation=1, connector="c", work=work, only_failed=only_failed, include_tasks=include_tasks,
        is_read=True,
    )  # fmt: skip


def said(work: str, status: str = "RESTARTING") -> StatusAttempted:
    kind = "task" if "-" in work else "connector"
    return StatusAttempted(worker="w0", key=f"status-{kind}-{work}", attempt=0, status=status, generation=1, safe=False)


def computed(
    claims: dict[str, tuple[str, ...]], assigned: dict[str, tuple[str, ...]], revoked: dict[str, tuple[str, ...]]
) -> ConnectAssignmentComputed:
    configured = tuple(f"c{number}" for number in range(5))
    return ConnectAssignmentComputed(
        member="w0", generation=1, protocol="compatible", leader="a", leader_url="u", config_offset=3,
        configured=configured, claims=tuple(claims.items()), assigned=tuple(assigned.items()),
        revoked=tuple(revoked.items()),
    )  # fmt: skip


def asked(operation: str, work: str = "c") -> HerderAsked:
    return HerderAsked(member="w0", request=0, operation=operation, work=work)


def answered(answer: int) -> HerderAnswered:
    return HerderAnswered(member="w0", request=0, answer=answer)


def delayed(at_ms: int, delay_ms: int) -> ConnectAssignmentComputed:
    return replace(computed({"a": ()}, {}, {}), time_ms=at_ms, delay_ms=delay_ms)


def resumed(at_ms: int) -> TargetStateChanged:
    return TargetStateChanged(member="w0", connector="c", state="STARTED", time_ms=at_ms)


def stopped(at_ms: int) -> ConnectorStopped:
    return ConnectorStopped(member="w0", generation=1, connector="c", time_ms=at_ms)


def leader_answered(answer: int, at_ms: int = 20) -> LeaderAnswered:
    return LeaderAnswered(member="w0", request=0, answer=answer, time_ms=at_ms)


STARTS: Final = (TaskStarted(member="w0", generation=1, task="c-0"), TASK)
WAITS: Final = (*STARTS, state("c-0", "PAUSED", 0), resumed(1_000))
RESTS: Final = (*STARTS, state("c-0", "RUNNING"), PAUSE, state("c-0", "PAUSED", 1_000))
FENCES: Final = (EXACTLY_ONCE, LeaderAsked(member="w0", request=0, operation="fence", connector="c", url="u"))
RUNS: Final = (ConnectorStarted(member="w0", generation=1, connector="c"), CONNECTOR, state("c", "RUNNING"))
KNOWS: Final = ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),))
SENT: Final = StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value=None)
STATUSES: Final = (cached("c"), cached("c-0", "FAILED", 1), cached("c-1", "RUNNING", 2))
TURN: Final = WorkerClaimed(member="w0", generation=1, url="u", config_offset=3, claim=("c",))

HOLDS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a plug-in that raises in start fails": (
        "work_fails_for_a_cause", [replace(CONNECTOR, fails_at_start=True), state("c", "FAILED")]
    ),
    "a plug-in fails by itself": (
        "work_fails_for_a_cause",
        [replace(CONNECTOR, fails_after_ms=50), state("c", "RUNNING"), state("c", "FAILED", 150)],
    ),
    "a plug-in is made to fail": (
        "work_fails_for_a_cause",
        [CONNECTOR, state("c", "RUNNING"), PluginFailed(member="w0", work="c"), state("c", "FAILED")],
    ),
    "a connector raises in stop": (
        "work_fails_for_a_cause", [replace(CONNECTOR, fails_at_stop=True), state("c", "RUNNING"), state("c", "FAILED")]
    ),
    "producers could not be fenced before a task": (
        "work_fails_for_a_cause", [EXACTLY_ONCE, TASK, state("c-0", "FAILED")]
    ),
    "a task without a configuration fails": (
        "work_fails_for_a_cause",
        [CONNECTOR, ASSIGNED, ConfigSnapshotTaken(member="w0", offset=3), ACCEPTED, state("c-0", "FAILED")],
    ),
    "a plug-in runs when it has started": (
        "plugins_reach_their_state", [CONNECTOR, state("c", "RUNNING"), beat(9_000)]
    ),
    "a connector is paused when it has stopped": (
        "plugins_reach_their_state",
        [CONNECTOR, state("c", "RUNNING"), PAUSE, state("c", "PAUSED", 1_200), beat(9_000)],
    ),
    "a process that stood still is late": (
        "plugins_reach_their_state",
        [CONNECTOR, MemberPaused(member="w0"), MemberResumed(member="w0", time_ms=5_000), state("c", "RUNNING", 5_001)],
    ),
    "a task that is fenced first is looked at from its start on": (
        "plugins_reach_their_state",
        [EXACTLY_ONCE, TASK, beat(9_000), TaskStarted(member="w0", generation=1, task="c-0", time_ms=9_000),
         state("c-0", "RUNNING", 9_100)],
    ),
    "a connector ends when it was stopped": ("plugins_take_their_time", [*RUNS, stopped(300)]),
    "a connector ends when its thread begins": (
        "plugins_take_their_time", [RUNS[0], replace(CONNECTOR, begin_ms=50), stopped(50)]
    ),
    "a connector that stood still ends when it goes on": (
        "plugins_take_their_time",
        [*RUNS[:2], MemberPaused(member="w0"), MemberResumed(member="w0", time_ms=5_000), stopped(5_000)],
    ),
    "a task starts": ("tasks_start_once", [*STARTS, state("c-0", "RUNNING", 100)]),
    "a task that waited starts": ("tasks_start_once", [*WAITS, state("c-0", "RUNNING", 1_100)]),
    "a task runs on": ("tasks_start_once", [*RESTS, resumed(2_000), state("c-0", "RUNNING", 2_000)]),
    "a task is prepared, and starts": (
        "tasks_start_once",
        [EXACTLY_ONCE, TASK, replace(STARTS[0], time_ms=500), state("c-0", "RUNNING", 600)],
    ),
    "a refused task fails": (
        "refused_tasks_end_at_once", [*FENCES, leader_answered(500), said("c-0", "FAILED"), beat(9_000)]
    ),
    "a refused task was to stop": (
        "refused_tasks_end_at_once", [*FENCES, leader_answered(409), said("c-0", "UNASSIGNED"), beat(9_000)]
    ),
    "a slow plug-in is cancelled": (
        "only_slow_work_is_cancelled",
        [replace(CONNECTOR, stop_ms=9_000), WorkCancelled(member="w0", generation=1, work="c", time_ms=9_000)],
    ),
    "all of a connector is restarted": (
        "restarts_follow_statuses",
        [*STATUSES, ASSIGNED, *read(), planned("c", "c-0", "c-1")],
    ),
    "what failed is restarted": (
        "restarts_follow_statuses",
        [*STATUSES, ASSIGNED, *read(only_failed=True), planned("c-0", only_failed=True)],
    ),
    "of two requests the one counts that concerns more": (
        "restarts_follow_statuses",
        [*STATUSES, ASSIGNED, *read(), *read(only_failed=True, offset=4), planned("c", "c-0", "c-1")],
    ),
    "nothing is restarted of what no status is known": ("restarts_follow_statuses", [ASSIGNED, *read(), planned()]),
    "what was planned is restarted": (
        "planned_restarts_are_done",
        [planned("c", "c-0"), said("c"), said("c-0"), ConnectorStarted(member="w0", generation=1, connector="c"),
         state("c-0", "FAILED"), TURN],
    ),
    "a fencing takes an epoch of its own": (
        "producer_epochs_grow",
        [ProducerFenced(transactional_id="t", epoch=0, used=1),
         ProducerInitialised(member="w0", transactional_id="t", epoch=2, work="c-0")],
    ),
    "the earlier tasks are fenced": (
        "earlier_tasks_are_fenced",
        [ConfigSnapshotTaken(member="w0", offset=3, task_counts=(("c", 1),), count_records=(("c", 2),),
                             pending_fencing=("c",)),
         ZombieFencingEnded(member="w0", generation=1, connector="c", transactional_ids=("t-0", "t-1"))],
    ),
    "a producer of a task that is to start": (
        "failed_tasks_get_no_producer",
        [TASK, ProducerInitialised(member="w0", transactional_id="t", epoch=2, work="c-0")],
    ),
    "task configs arrive": (
        "published_task_configs_arrive",
        [GENERATED, beat(3_000), ConfigAppended(writer="w1", offset=3, key="commit-c", value='{"tasks":0}'),
         beat(200_000)],
    ),
    "task configs are written again": (
        "published_task_configs_arrive",
        [GENERATED, beat(10_000), replace(GENERATED, time_ms=10_000), beat(20_000)],
    ),
    "a connector that was stopped publishes nothing": (
        "published_task_configs_arrive",
        [GENERATED, beat(10_000), ConnectorStopped(member="w0", generation=1, connector="c"), beat(200_000)],
    ),
    "a worker asks for a round": (
        "new_configs_lead_to_a_round",
        [ACCEPTED, COMMITTED, beat(3_000), RejoinRequested(member="w0", time_ms=3_000), beat(99_000)],
    ),
    "a worker that joins asks for a round later": (
        "new_configs_lead_to_a_round",
        [ACCEPTED, COMMITTED, beat(3_000), TURN, beat(90_000), replace(ACCEPTED, time_ms=90_000),
         RejoinRequested(member="w0", time_ms=90_000)],
    ),
    "a worker pauses what it knows": (
        "operators_get_true_answers", [KNOWS, asked("pause"), answered(204)]
    ),
    "a worker does not find what it does not know": (
        "operators_get_true_answers", [replace(KNOWS, connectors=()), asked("pause"), answered(404)]
    ),
    "a worker that stops refuses all": (
        "operators_get_true_answers", [replace(KNOWS, connectors=()), asked("delete"), STOP, answered(500)]
    ),
    "a write fails": ("operators_get_true_answers", [KNOWS, asked("configure"), answered(500)]),
    "a worker forgets what its next assignment lacks": (
        "operators_get_true_answers",
        [KNOWS, replace(KNOWS, connectors=()), ASSIGNED, ACCEPTED, asked("delete"), answered(404)],
    ),
    "a connector stops, and is paused then": ("plugins_take_their_time", [*RUNS, PAUSE, state("c", "PAUSED", 1_200)]),
    "a connector is paused before it starts": (
        "plugins_take_their_time", [*RUNS[:2], state("c", "PAUSED", 0), resumed(50), state("c", "RUNNING", 150)]
    ),
    "a connector is to pause while it starts": (
        "plugins_take_their_time",
        [*RUNS[:2], replace(PAUSE, time_ms=50), *RUNS[2:], state("c", "PAUSED", 300)],
    ),
    "a stop is under way when the next one is asked for": (
        "plugins_take_their_time",
        [*RUNS, PAUSE, resumed(1_100), replace(PAUSE, state="STOPPED", time_ms=1_150), state("c", "STOPPED", 1_200)],
    ),
    "a connector that failed is not stopped": (
        "plugins_take_their_time",
        [*RUNS, state("c", "FAILED", 900), replace(PAUSE, state="STOPPED"), state("c", "STOPPED", 1_000)],
    ),
    "a worker that does not lead refuses": (
        "operators_get_true_answers", [KNOWS, replace(ASSIGNED, leader="b"), ACCEPTED, asked("stop"), answered(409)]
    ),
    "nothing is restarted without a status": (
        "operators_get_true_answers", [KNOWS, ASSIGNED, ACCEPTED, *STATUSES[1:], asked("restart"), answered(404)]
    ),
    "a worker restarts a task that it has": (
        "operators_get_true_answers",
        [KNOWS, ASSIGNED, ACCEPTED, asked("restart work", "c-0"), answered(204)],
    ),
    "the rest of a delay is waited for": (
        "delays_run_out", [delayed(0, 9_000), delayed(1_000, 8_000)]
    ),
    "a delay begins when the one before is over": (
        "delays_run_out", [delayed(0, 9_000), delayed(1_000, 8_000), delayed(9_000, 9_000)]
    ),
    "statuses are answered before the store is stopped": (
        "statuses_are_drained",
        [SENT, StatusAnswered(worker="w0", key=SENT.key, attempt=0, send=1, outcome="ok"),
         StatusStoreStopped(worker="w0")],
    ),
    "a worker has waited for long": (
        "statuses_are_drained", [SENT, StatusStoreStopped(worker="w0", time_ms=10_000)]
    ),
    "newer configs are read": (
        "known_configs_are_not_read_again",
        [ACCEPTED, replace(ASSIGNED, config_offset=4), ConfigReadStarted(member="w0"), ACCEPTED],
    ),
    "known configs are read for a request": (
        "known_configs_are_not_read_again",
        [ACCEPTED, ASSIGNED, asked("stop"), ConfigReadStarted(member="w0"), ACCEPTED],
    ),
    "a plug-in that raises fails": (
        "plugins_reach_their_state",
        [replace(CONNECTOR, fails_after_ms=50), state("c", "RUNNING"), state("c", "FAILED", 150), beat(9_000)],
    ),
    "the next record counts the tasks of the commit": (
        "earlier_tasks_are_fenced",
        [ConfigSnapshotTaken(member="w0", offset=3, task_counts=(("c", 2),), pending_fencing=("c",)),
         ConfigAppended(writer="w0", offset=3, key="tasks-fencing-c", value='{"task-count":2}')],
    ),
    "a state is written at once": (
        "states_are_written", [state("c", "PAUSED"), said("c", "PAUSED"), said("c", "UNASSIGNED")]
    ),
    "a worker ends that was asked to": (
        "workers_end_when_asked", [STOP, beat(4_000), MemberLeft(member="w0", time_ms=9_000)]
    ),
    "an answer that had come is looked at": (
        "stopping_workers_start_nothing", [STOP, replace(ASSIGNED, time_ms=1_001), replace(ACCEPTED, time_ms=1_002)]
    ),
    "a round that was being completed is": (
        "stopping_workers_start_nothing",
        [STOP, replace(ACCEPTED, time_ms=1_000),
         WorkRevocationStarted(member="w0", generation=1, work=("c",), reason="revoked", time_ms=1_000),
         replace(ASSIGNED, time_ms=4_000), replace(ACCEPTED, time_ms=4_002)],
    ),
    "all give up what is beyond their shares": (
        "work_is_taken_for_a_cause",
        [computed({"a": ("c0", "c1", "c2", "c3"), "b": ("c4",)}, {}, {"a": ("c0",)})],
    ),
    "new work goes to the least": (
        "new_work_goes_to_the_least", [computed({"a": ("c0", "c1"), "b": ("c2",)}, {"a": ("c4",), "b": ("c3",)}, {})]
    ),
    "a read reaches what was the end": (
        "config_reads_reach_the_end",
        [ConfigAppended(writer="w0", offset=3, key="connector-c", value=None), ConfigReadStarted(member="w0"),
         ConfigAppended(writer="w0", offset=4, key="connector-c", value=None), ConfigReadEnded(member="w0", offset=4)],
    ),
    "a record has Kafka's form": (
        "config_records_have_kafkas_form",
        [ConfigAppended(writer="w0", offset=3, key="target-state-c",
                        value='{"state":"PAUSED","state.v2":"STOPPED"}')],
    ),
    "a record says what was to be written": (
        "safe_status_writes.sent_records_say_so",
        [replace(said("c-0", "RUNNING"), status_worker="a"),
         StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1,
                    value='{"state":"RUNNING","trace":null,"worker_id":"a","generation":1}')],
    ),
    "a store sends before it is stopped": (
        "safe_status_writes.stopped_stores_are_silent",
        [StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value=None),
         StatusStoreStopped(worker="w0")],
    ),
    "a store has started once": (
        "safe_status_writes.stores_start_once",
        [StatusStoreStarting(worker="w0", ends=(0,)), StatusStoreStarted(worker="w0")],
    ),
}  # fmt: skip

BREAKS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a plug-in that raises in start runs": (
        "work_fails_for_a_cause", [replace(CONNECTOR, fails_at_start=True), state("c", "RUNNING")]
    ),
    "a task with a configuration fails and was not started": (
        "work_fails_for_a_cause",
        [CONNECTOR, ASSIGNED, ConfigSnapshotTaken(member="w0", offset=3, task_configs=(("c-0", "x"),)), ACCEPTED,
         state("c-0", "FAILED")],
    ),
    "a plug-in never runs": ("plugins_reach_their_state", [CONNECTOR, beat(9_000)]),
    "a paused task runs on": (
        "plugins_reach_their_state", [TASK, state("c-0", "RUNNING"), PAUSE, beat(9_000)]
    ),
    "what did not fail is restarted": (
        "restarts_follow_statuses",
        [*STATUSES, ASSIGNED, *read(only_failed=True), planned("c", "c-0", only_failed=True)],
    ),
    "tasks are restarted without being asked for": (
        "restarts_follow_statuses",
        [*STATUSES, ASSIGNED, *read(include_tasks=False), planned("c", "c-0", include_tasks=False)],
    ),
    "nothing that was asked for is restarted": ("restarts_follow_statuses", [*STATUSES, ASSIGNED, *read(), planned()]),
    "the last request counts": (
        "restarts_follow_statuses",
        [*STATUSES, ASSIGNED, *read(), *read(only_failed=True, offset=4), planned("c-0", only_failed=True)],
    ),
    "a request is forgotten": (
        "restarts_follow_statuses",
        [*STATUSES, ASSIGNED, ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),)), ACCEPTED,
         *(replace(event, time_ms=9) for event in read())],
    ),
    "a worker takes part in two rounds and asks for none": (
        "new_configs_lead_to_a_round", [ACCEPTED, COMMITTED, TURN, ACCEPTED, TURN, ACCEPTED]
    ),
    "a worker says of what it does not know that it cannot": (
        "operators_get_true_answers", [replace(KNOWS, connectors=()), asked("delete"), answered(500)]
    ),
    "a worker deletes what its next assignment lacks": (
        "operators_get_true_answers",
        [KNOWS, replace(KNOWS, connectors=()), ASSIGNED, ACCEPTED, asked("delete"), answered(204)],
    ),
    "a worker does not find what it is to make": (
        "operators_get_true_answers", [KNOWS, asked("configure", "d"), answered(404)]
    ),
    "a worker says that a request is bad": ("operators_get_true_answers", [KNOWS, asked("delete"), answered(400)]),
    "a connector is paused at once": ("plugins_take_their_time", [*RUNS, PAUSE, state("c", "PAUSED", 1_199)]),
    "a connector is stopped at once": (
        "plugins_take_their_time", [*RUNS, replace(PAUSE, state="STOPPED"), state("c", "STOPPED", 1_000)]
    ),
    "a connector ends while it starts": ("plugins_take_their_time", [*RUNS[:2], stopped(50)]),
    "a connector ends at once": ("plugins_take_their_time", [*RUNS, stopped(299)]),
    "a connector starts while it starts": ("plugins_take_their_time", [*RUNS, state("c", "RUNNING", 150)]),
    "a task runs at once": ("tasks_start_once", [*STARTS, state("c-0", "RUNNING", 99)]),
    "a task that waited does not start": ("tasks_start_once", [*WAITS, state("c-0", "RUNNING", 1_000)]),
    "a task starts again": ("tasks_start_once", [*RESTS, resumed(2_000), state("c-0", "RUNNING", 2_100)]),
    "a task runs on by itself": ("tasks_start_once", [*RESTS, state("c-0", "RUNNING", 2_000)]),
    "a task starts twice": ("tasks_start_once", [*STARTS, state("c-0", "RUNNING"), state("c-0", "RUNNING", 200)]),
    "a task is not prepared": ("tasks_start_once", [EXACTLY_ONCE, TASK, state("c-0", "RUNNING", 600)]),
    "a refused task goes on": ("refused_tasks_end_at_once", [*FENCES, leader_answered(500), beat(9_000)]),
    "a task of another connector ends": (
        "refused_tasks_end_at_once", [*FENCES, leader_answered(500), said("d-0", "FAILED"), beat(9_000)]
    ),
    "a refused task starts": (
        "refused_tasks_end_at_once", [*FENCES, leader_answered(500), said("c-0", "RUNNING"), RunEnded(time_ms=9_000)]
    ),
    "a connector runs at once": ("plugins_take_their_time", [*RUNS[:2], state("c", "RUNNING", 99)]),
    "a connector is resumed at once": (
        "plugins_take_their_time",
        [*RUNS, PAUSE, state("c", "PAUSED", 1_200), resumed(2_000), state("c", "RUNNING", 2_050)],
    ),
    "a worker does not find what it knows": (
        "operators_get_true_answers",
        [replace(KNOWS, offset=3), ASSIGNED, ACCEPTED, asked("pause"), answered(404)],
    ),
    "a worker that leads refuses": (
        "operators_get_true_answers",
        [KNOWS, WorkerClaimed(member="w0", generation=-1, url="u", config_offset=3, claim=None),
         MemberJoined(member="w0", generation=1, member_id="a"), ASSIGNED, ACCEPTED, asked("stop"), answered(409)],
    ),
    "a worker restarts what it was not assigned": (
        "operators_get_true_answers",
        [KNOWS, ASSIGNED, ACCEPTED, asked("restart work", "d-0"), answered(204)],
    ),
    "a worker refuses to restart what it was assigned": (
        "operators_get_true_answers",
        [KNOWS, ASSIGNED, ACCEPTED, asked("restart work", "c-0"), answered(409)],
    ),
    "a plug-in raises and is not FAILED": (
        "plugins_reach_their_state",
        [replace(CONNECTOR, fails_after_ms=50), state("c", "RUNNING"), beat(9_000)],
    ),
    "a plug-in is made to raise and is not FAILED": (
        "plugins_reach_their_state",
        [CONNECTOR, state("c", "RUNNING"), PluginFailed(member="w0", work="c", time_ms=200), beat(9_000)],
    ),
    "the next record counts other tasks": (
        "earlier_tasks_are_fenced",
        [ConfigSnapshotTaken(member="w0", offset=3, task_counts=(("c", 2),), pending_fencing=("c",)),
         ConfigAppended(writer="w0", offset=3, key="tasks-fencing-c", value='{"task-count":0}')],
    ),
    "a read is over that had not begun": (
        "config_reads_reach_the_end",
        [ConfigReadStarted(member="w0"), ConfigReadEnded(member="w0", offset=3),
         ConfigReadEnded(member="w0", offset=3)],
    ),
    "another state is written": (
        "states_are_written", [state("c", "PAUSED"), said("c", "UNASSIGNED"), said("c", "PAUSED")]
    ),
    "a worker says nothing of a restart": (
        "planned_restarts_are_done",
        [planned("c"), ConnectorStarted(member="w0", generation=1, connector="c"), TURN],
    ),
    "a fencing leaves the epoch": (
        "producer_epochs_grow",
        [ProducerInitialised(member="w0", transactional_id="t", epoch=2, work="c-0"),
         ProducerFenced(transactional_id="t", epoch=2, used=2)],
    ),
    "more is taken than is beyond the shares": (
        "work_is_taken_for_a_cause",
        [computed({"a": ("c0", "c1", "c2", "c3"), "b": ("c4",)}, {}, {"a": ("c0", "c1")})],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDS)
def test_the_claim_holds(history: History, name: str) -> None:
    claim, events = HOLDS[name]
    judgement = judge(history(*BEGIN, *events), select([claim]))
    assert judgement.verdict(claim).outcome is Outcome.HELD, judgement.verdict(claim)


@pytest.mark.parametrize("name", BREAKS)
def test_the_claim_breaks(history: History, name: str) -> None:
    claim, events = BREAKS[name]
    judgement = judge(history(*BEGIN, *events), select([claim]))
    assert judgement.verdict(claim).outcome is Outcome.VIOLATED
