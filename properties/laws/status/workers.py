"""Statuses of workers: the states that a Connect worker writes of the connectors and tasks that it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    MembershipLost,
    RejoinRequested,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusRead,
    TaskStarted,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.engines import CHECKED, Excused, Finding, Findings, broken, completion, form
from rebalance_check.properties.engines.completion import AT_REST
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.config_topic import SHOWN, Commits
from rebalance_check.properties.views.status_stores import DESTROYED, item_of, work_named
from rebalance_check.properties.views.work_statuses import Announcements, Cleanups
from rebalance_check.properties.views.worker import FAILED, SHOWS_WHAT_RUNS, Worker
from rebalance_check.properties.views.workers import Workers


def _generation(event: StatusAttempted, workers: Workers) -> Findings:
    """A thread may read the generation of its herder, and write it when the herder has another; what it says of work
    that started for an assignment it read after that."""
    worker, item = workers.of_store(event.worker), item_of(event.key)
    if worker is None or worker.received is None or item is None or event.status == DESTROYED:
        return None
    received, work = worker.received, work_named(item)
    given = worker.started_for.get(work)
    if given is None:
        return None
    if event.generation == received.generation:
        return CHECKED
    if given.generation <= event.generation < received.generation:
        return Excused("may have been read before its last assignment came")
    return broken(
        f"{worker.name} wrote {event.status} of {work} with generation {event.generation}",
        (f"{worker.name} started {work}, which it was assigned in generation {given.generation} at {STEP};", given),
        (f"it received its last assignment, of generation {received.generation}, at {STEP};", received),
        (f"it wrote a status of generation {event.generation} at {STEP}: contradiction.", event),
    )


StatusCarriesTheGeneration: Final = Invariant(
    name="status_carries_the_generation",
    family="status",
    claim="a worker writes the status of what it runs with the generation of its last assignment, or of one before "
    "that, down to the one that gave it the work",
    source="DistributedHerder.generation, AbstractHerder.onStartup",
    premises=(
        "WorkerConfigured names the status store of the worker",
        "a tombstone has no generation",
        "the work started since the worker was assigned it, and the group was not created anew since",
    ),
    exempted_by=(ConnectAssignmentReceived, ConnectorStarted, TaskStarted),
    evidence=Evidence.CONCERNED,
    fold=form(
        {StatusAttempted: _generation}, views=(Workers,), needs=((WorkerConfigured,), (ConnectAssignmentReceived,))
    ),
    opening="""
        WorkerConfigured(member="w0", mode="compatible", store="w0")
        ConnectAssignmentReceived(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                                  config_offset=3, assigned=("c-0",))
        TaskStarted(member="w0", generation=2, task="c-0")
    """,
    breaks="""
        StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
    """,
    holds="""
        StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=2, safe=False)
    """,
    excuses="""
        ConnectAssignmentReceived(member="w0", generation=3, protocol="compatible", leader="a", leader_url="u",
                                  config_offset=3)
        StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=2, safe=False)
    """,
)


def _cleaned_up(event: AssignmentAccepted | WorkerClaimed, cleanups: Cleanups) -> Findings:
    left, received = cleanups.over, cleanups.workers.of(event.member).received
    if left is None or received is None:
        return None
    if not left:
        return CHECKED
    work = min(left)
    return broken(
        f"{event.member} leads and leaves the status of {work}, which is not configured",
        (f"{event.member} read a status of {work} at {STEP}.", left[work]),
        (f"it received the assignment of generation {received.generation} as its leader at {STEP}.", received),
        (f"it wrote no tombstone for {work} before {STEP}: contradiction.", event),
    )


_LEADS: Final = """
        WorkerConfigured(member="w0", mode="compatible", store="w0")
        ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), tasks=())
        StatusRead(worker="w0", key="status-connector-c", partition=0, offset=0, status="RUNNING", generation=1)
        StatusRead(worker="w0", key="status-task-c-0", partition=0, offset=1, status="RUNNING", generation=1)
        ConnectAssignmentReceived(member="w0", generation=2, member_id="a", protocol="compatible", leader="a",
                                  leader_url="u", config_offset=3)"""

RemovedWorkLosesItsStatus: Final = Invariant(
    name="removed_work_loses_its_status",
    family="status",
    claim="a worker that receives an assignment as the leader removes every status that it has read of connectors and "
    "tasks that are no longer configured",
    source="DistributedHerder.RebalanceListener.onAssigned; KAFKA-9472",
    premises=(
        "tasks of a connector that has no status of its own are passed over",
        "configured is a connector or task in the worker's next snapshot",
    ),
    exempted_by=(ConfigSnapshotTaken, MembershipLost, StatusAttempted),
    evidence=Evidence.CONCERNED,
    fold=form(
        {AssignmentAccepted: _cleaned_up, WorkerClaimed: _cleaned_up},
        views=(Cleanups,),
        needs=((WorkerConfigured,), (ConfigSnapshotTaken,), (StatusRead,)),
    ),
    breaks=f"""{_LEADS}
        AssignmentAccepted(member="w0", generation=2, config_offset=3, work=())
    """,
    holds=f"""{_LEADS}
        StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="DESTROYED", generation=2, safe=False)
        AssignmentAccepted(member="w0", generation=2, config_offset=3, work=())
    """,
)


def _says_what_runs(event: Event, announcements: Announcements, commits: Commits) -> Iterator[Finding]:
    """No worker writes any more: operators see the present end of the topic from here on."""
    workers = announcements.workers
    for worker in workers.each() if workers.have_converged else ():
        for work in sorted(worker.claim or ()) if worker.store else ():
            runs = worker.running.get(work) or worker.failed.get(work)
            called = announcements.called.get((worker.store, work))
            if runs is not None and called is not None:
                yield _last_status(worker, work, called, commits.target(work), announcements, event)
            elif runs is not None:
                yield broken(
                    f"{worker.name} wrote no status of {work} since it started",
                    (f"{work} started or failed at {worker.name} at {STEP}.", runs),
                    (f"no status of it was written up to {STEP}, when the group had converged: contradiction.", event),
                )


def _last_status(  # noqa: PLR0917 - a rule and its views
    worker: Worker, work: str, called: StatusAttempted, target: str, announcements: Announcements, event: Event
) -> Finding:
    write = announcements.write_of(called)
    if write is None or not write.is_acknowledged:
        return Excused("its last write was not acknowledged")
    has_failed = work in worker.failed or called.status == FAILED
    wanted = (FAILED,) if has_failed else (SHOWN[target],) if target else tuple(SHOWN.values())
    last = announcements.last.get(work)
    by = announcements.write_of(last)
    if by is not None and by.attempted.status in wanted:
        return CHECKED
    if last is not None and by is None:
        return Excused("the write of the last record is not in the history")
    if last is not None and by and (last.worker != worker.store or last.send > 1):
        return Excused("a write of another worker, or one that was tried again, may come behind it")
    shown = "unknown" if by is None else by.attempted.status
    return broken(
        f"the last status of {work} is {shown}, and it is {' or '.join(wanted)} at {worker.name}",
        (f"{worker.name} wrote {called.status} of {work} last, at {STEP}, which was answered;", called),
        *([] if last is None else [(f"the last record in the topic was appended at {STEP}, and says {shown};", last)]),
        (f"the connector's target state is {target or 'not recorded'}, {work} {_how(work, worker)}, and the group had "
         f"converged by {STEP}: contradiction.", event),
    )  # fmt: skip


def _how(work: str, worker: Worker) -> str:
    return "failed" if work in worker.failed else f"runs at {worker.name}"


_RUNS: Final = """
        WorkerConfigured(member="w0", mode="compatible", store="w0")
        ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                                  config_offset=9, assigned=("c-0",))
        TaskStarted(member="w0", generation=1, task="c-0")"""

LastStatusSaysWhatRuns: Final = Invariant(
    name="last_status_says_what_runs",
    family="status",
    claim="when the group has converged, each worker has written a status of all that it runs, and the last record of "
    "it in the status topic says FAILED where it failed, and else its target state as the config topic says it",
    source="WorkerTask.TaskStatusListener, WorkerConnector.ConnectorStatusListener; KafkaStatusBackingStore.putSafe",
    premises=(
        "all workers are at rest in one generation, without error and delay, and know no newer configs",
        "the worker claims it, and its last write of it was acknowledged",
        "a write of another worker, or one that is tried again, may come behind it: check and append of a safe write "
        "are not atomic, and its generation may be as new where the group was created anew",
        "without records of the config topic every target state is possible, and so it is where a connector was "
        "deleted and created again: its owner may overlook it, and go on as before",
    ),
    needs_end=True,
    exempted_by=(
        *SHOWS_WHAT_RUNS, ConfigAppended, RejoinRequested, StatusAnswered, StatusAppended, StatusAttempted, StatusRead,
        WorkerClaimed,
    ),
    fold=completion(
        _says_what_runs,
        at=AT_REST,
        also_pending=True,
        views=(Announcements, Commits),
        needs=((WorkerConfigured,), (ConnectorStarted, TaskStarted), (ConnectAssignmentReceived,)),
    ),
    breaks=f"""{_RUNS}
        RunSettled()
    """,
    holds=f"""{_RUNS}
        StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
        StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{{}}")
        StatusAppended(worker="w0", key="status-task-c-0", attempt=0, send=1, partition=0, offset=0)
        StatusAnswered(worker="w0", key="status-task-c-0", attempt=0, send=1, outcome="ok")
        RunSettled()
    """,
    excuses=f"""{_RUNS}
        StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
        StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{{}}")
        RunSettled()
    """,
)  # fmt: skip

LAWS: Final = (StatusCarriesTheGeneration, RemovedWorkLosesItsStatus, LastStatusSaysWhatRuns)
"""In the order in which reports name them."""
