"""A Connect group at rest: all that is configured runs, with its configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    RejoinRequested,
    TaskStarted,
    WorkerClaimed,
)
from rebalance_check.properties.engines import CHECKED, Excused, Finding, broken, completion
from rebalance_check.properties.engines.completion import AT_REST
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.worker import SHOWS_WHAT_RUNS, Worker, connector_of
from rebalance_check.properties.views.workers import Workers

CONVERGED: Final = "all workers are at rest in one generation, without error and delay, and know no newer configs"


def _run_their_configs(event: Event, workers: Workers) -> Iterator[Finding]:
    """By now every worker has restarted the tasks whose configs changed."""
    for worker in workers.each() if workers.have_converged else ():
        yield from _with_its_configs(worker, event)


def _with_its_configs(worker: Worker, event: Event) -> Iterator[Finding]:
    snapshot = worker.snapshot
    if snapshot is None:
        return
    configs, applied = dict(snapshot.task_configs), dict(snapshot.applied)
    for work, started in sorted(worker.running.items()):
        if not isinstance(started, TaskStarted) or work not in snapshot.tasks:
            continue
        if work in worker.left:
            yield Excused("an eager round leaves work of an incremental one")
            continue
        wanted = (configs.get(work), applied.get(connector_of(work)))
        if not (_differ(started.config, wanted[0]) or _differ(started.connector_config, wanted[1])):
            yield CHECKED
            continue
        yield broken(
            f"{work} runs on {worker.name} with a configuration that was replaced",
            (f"{worker.name} started {work} at {STEP}.", started),
            (f"its snapshot of offset {snapshot.offset}, at {STEP}, has another one for it.", snapshot),
            (f"{work} still runs with the old one at {STEP}: contradiction.", event),
        )


def _differ(has: str, wanted: str | None) -> bool:
    """Whether both are known and are not the same."""
    return bool(has) and wanted is not None and has != wanted


TasksRunTheirConfigs: Final = Invariant(
    name="tasks_run_their_configs",
    family="connect",
    claim="when the group has converged, each task runs with the configuration that its worker knows, generated from "
    "the connector's",
    source="DistributedHerder.processTaskConfigUpdatesWithIncrementalCooperative; KAFKA-8449, KAFKA-9228",
    premises=("a text is equal where a configuration is equal; an empty one is unknown", CONVERGED),
    needs_end=True,
    exempted_by=(*SHOWS_WHAT_RUNS, ConfigSnapshotTaken, RejoinRequested, TaskStarted, WorkerClaimed),
    fold=completion(
        _run_their_configs,
        at=AT_REST,
        also_pending=True,
        views=(Workers,),
        needs=((TaskStarted,), (ConfigSnapshotTaken,), (ConnectAssignmentReceived,)),
    ),
    breaks="""
        TaskStarted(member="w0", generation=1, task="c-0", config="old")
        ConfigSnapshotTaken(member="w0", offset=9, connectors=(("c", "x"),), tasks=("c-0",),
                            task_configs=(("c-0", "new"),))
        ConnectAssignmentReceived(member="w0", generation=2, config_offset=9)
        RunSettled()
    """,
    holds="""
        TaskStarted(member="w0", generation=1, task="c-0", config="new")
        ConfigSnapshotTaken(member="w0", offset=9, connectors=(("c", "x"),), tasks=("c-0",),
                            task_configs=(("c-0", "new"),))
        ConnectAssignmentReceived(member="w0", generation=2, config_offset=9)
        RunSettled()
    """,
)


def _configured_runs(event: Event, workers: Workers) -> Iterator[Finding]:
    """Each connector and task of the newest configs runs, failed, or is paused or stopped on some worker."""
    known = [worker for worker in workers.each() if worker.received is not None]
    snapshots = [worker.snapshot for worker in known if worker.snapshot is not None]
    if not snapshots or not workers.have_converged:
        return
    newest = max(snapshots, key=lambda snapshot: snapshot.offset)
    present = {work for worker in known for work in (*worker.running, *worker.failed, *worker.states)}
    for work in (*(name for name, _ in newest.connectors), *newest.tasks):
        yield (
            CHECKED
            if work in present
            else broken(
                f"{work} is configured and runs nowhere",
                (f"{newest.member} saw {work} in its configs of offset {newest.offset} at {STEP}.", newest),
                (f"the group converged at {STEP}, and no worker runs it: contradiction.", event),
            )
        )


ConfiguredWorkRuns: Final = Invariant(
    name="configured_work_runs",
    family="connect",
    claim="when the group has converged, every configured connector and task runs, failed, or is paused or stopped on "
    "some worker",
    source="KIP-415; DistributedHerder.startWork",
    premises=(CONVERGED, "every worker records its starts"),
    needs_end=True,
    exempted_by=(ConnectorStarted, RejoinRequested, TaskStarted, WorkerClaimed),
    fold=completion(
        _configured_runs,
        at=AT_REST,
        also_pending=True,
        views=(Workers,),
        needs=((ConnectAssignmentReceived,), (ConfigSnapshotTaken,)),
    ),
    breaks="""
        ConfigSnapshotTaken(member="w0", offset=9, connectors=(("c", "x"),))
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=9)
        RunSettled()
    """,
    holds="""
        ConfigSnapshotTaken(member="w0", offset=9, connectors=(("c", "x"),))
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=9)
        ConnectorStarted(member="w0", generation=1, connector="c")
        RunSettled()
    """,
)

LAWS: Final = (TasksRunTheirConfigs, ConfiguredWorkRuns)
"""In the order in which reports name them."""
