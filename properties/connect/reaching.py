"""When the group has converged, the work of each worker has the state that the config topic asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.events import (
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    RejoinRequested,
    RunEnded,
    RunSettled,
    TaskStarted,
    WorkerClaimed,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.plugin_runs import RUNNING
from rebalance_check.properties.connect.plugin_states import STARTED, STOPPED
from rebalance_check.properties.connect.worker import SHOWS_WHAT_RUNS, Worker, connector_of
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation


class TargetStatesAreReachedViolated(Violation):
    """The group had converged, and a connector or task had another state than the config topic asks for."""


class _Wanted(NamedTuple):
    """Work that a worker has, the target state of its connector, and the state that the work should have."""

    work: str
    target: str
    state: str


class _Reached(SimulatedWorkerFold):
    needs = ((WorkerConfigured,), (ConfigSnapshotTaken,), (WorkStateChanged,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RunSettled: self.on_settled,
            RunEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0

    def on_ended(self, event: RunEnded) -> None:
        """As `on_settled`, where nothing is pending at the end of a simulated run."""
        if self.run.is_simulated and not event.pending:
            self.on_settled(event)

    def on_settled(self, event: RunSettled | RunEnded) -> None:
        """By now each connector and task had the time that it takes."""
        if self.converged():
            for worker in self.each_worker():
                if worker.snapshot is not None and worker.accepted is not None:
                    self._judge(worker, worker.snapshot, event)

    def _judge(self, worker: Worker, snapshot: ConfigSnapshotTaken, event: RunSettled | RunEnded) -> None:
        for wanted in _wanted(worker, snapshot):
            self.compared = (self.compared or 0) + 1
            changed = worker.states.get(wanted.work)
            state = changed.state if changed is not None else ""
            if state == wanted.state or (not state and wanted.work in worker.running):
                continue
            has = state or "not there"
            self.contradiction(
                f"{wanted.work} should be {wanted.state} at {worker.name}, and is {has}",
                (f"{worker.name} read at {STEP} that the target state is {wanted.target};", snapshot),
                (f"it was assigned {wanted.work}, which is {has} since {STEP};", changed or worker.accepted),
                (f"the group had converged at {STEP}: contradiction.", event),
            )


def _wanted(worker: Worker, snapshot: ConfigSnapshotTaken) -> Iterator[_Wanted]:
    """The states that the work of a worker should have; of what failed, was cancelled or left over nothing is asked."""
    targets = dict(snapshot.target_states)
    connectors = dict(snapshot.connectors)
    for work in sorted(worker.claim or {}):
        connector = work if work in connectors else connector_of(work)
        if connector not in connectors or work in worker.failed or work in worker.cancelled or work in worker.leftovers:
            continue
        target = targets.get(connector, STARTED)
        if work == connector or target != STOPPED:
            yield _Wanted(work, target, RUNNING if target == STARTED else target)


TargetStatesAreReached: Final = Invariant(
    name="target_states_are_reached",
    family="connect_work",
    claim="when the group has converged, each connector and task that a worker accepted is there and RUNNING, PAUSED "
    "or STOPPED as the target state in its snapshot of the config topic says, or failed",
    source="DistributedHerder.processTargetStateChanges, startWork; WorkerConnector, WorkerTask.transitionTo; KIP-875",
    premises=(
        "all workers are at rest in one generation, without error and delay, and know no newer configs",
        "the run says that the group was settled (RunSettled), or is simulated and ends with nothing pending",
        "of work that runs the history has the states, too; where it has none, the work counts as it should be",
        "tasks of a stopped connector are on their way out",
    ),
    exempted_by=(
        ConnectAssignmentReceived,
        ConnectorStarted,
        RejoinRequested,
        TaskStarted,
        WorkerClaimed,
        *SHOWS_WHAT_RUNS,
    ),
    violation=TargetStatesAreReachedViolated,
    fold=_Reached,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, assigned=("c-0",))
    ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), target_states=(("c", "PAUSED"),))
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c-0",))
    WorkStateChanged(member="w0", generation=1, work="c-0", state="RUNNING")
    RunSettled()
"""

CLAIMS: Final = (TargetStatesAreReached,)
"""In the order in which reports name them."""
