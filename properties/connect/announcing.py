"""What a worker starts and stops it announces by statuses, which are on record before it goes on."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RejoinRequested,
    StatusAttempted,
    StatusFlushed,
    TaskStarted,
    WorkCancelled,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
    WorkStateChanged,
)
from rebalance_check.properties.connect.statuses import SAFE, work_named
from rebalance_check.properties.connect.worker import SHOWS_WHAT_RUNS, Started, listed, work_of
from rebalance_check.properties.connect.worker_fold import CONVERGED, Converged, WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import item_of
from rebalance_check.properties.verdict import STEP, Violation


class StopsAreAnnouncedViolated(Violation):
    """A worker stopped work and did not write UNASSIGNED for it."""


class StartsAreAnnouncedViolated(Violation):
    """A worker runs work and never wrote a status for it."""


class RevocationFlushesStatusesViolated(Violation):
    """A worker ended a revocation before the statuses that it wrote were flushed."""


class _Stops(WorkerFold):
    """UNASSIGNED follows an orderly stop; of what failed or was cancelled nothing is asked."""

    needs = ((WorkerConfigured,), (ConnectorStarted, TaskStarted))
    bookkeeping = frozenset({WorkRevocationStarted, StatusAttempted, WorkCancelled})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                WorkRevocationStarted: self.on_started,
                StatusAttempted: self.on_attempted,
                WorkCancelled: self.on_cancelled,
                WorkRevocationEnded: self.on_ended,
            },
        )
        self._open: dict[str, dict[str, Started]] = {}

    def on_started(self, event: WorkRevocationStarted) -> None:
        """What runs of it must be announced."""
        worker = self.memory.of(event.member)
        running = {work: since for work, since in worker.running.items() if work in event.work}
        self._open[event.member] = running if worker.store else {}

    def on_attempted(self, event: StatusAttempted) -> None:
        """The announcement."""
        worker = self.memory.of_store(event.worker)
        if worker is not None and worker.name in self._open and event.status in SAFE:
            self._open[worker.name].pop(work_named(item_of(event.key)), None)

    def on_cancelled(self, event: WorkCancelled) -> None:
        """A task that did not stop in time writes nothing, also if it ends before the revocation does."""
        self._open.get(event.member, {}).pop(event.work, None)

    def on_ended(self, event: WorkRevocationEnded) -> None:
        """All that stopped was announced."""
        worker = self.memory.of(event.member)
        silent = sorted(self._open.pop(event.member, {}))
        silent = [work for work in silent if work not in worker.running and work not in worker.failed]
        if silent:
            self.contradiction(
                f"{event.member} stopped {silent[0]} and wrote no UNASSIGNED for it",
                (f"{event.member} has given up {listed(event.work)} at {STEP}, and no status of {silent[0]} was "
                 "written meanwhile: contradiction.", event),
            )  # fmt: skip


class _Starts(WorkerFold):
    needs = ((WorkerConfigured,), (ConnectorStarted, TaskStarted), (ConnectAssignmentReceived,))
    bookkeeping = frozenset(
        {ConnectorStarted, TaskStarted, StatusAttempted, WorkStateChanged, MemberStarted, MemberCrashed, MemberLeft}
    )

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConnectorStarted: self.on_started,
                TaskStarted: self.on_started,
                WorkStateChanged: self.on_state,
                StatusAttempted: self.on_attempted,
                **dict.fromkeys(CONVERGED, self.on_converged),
                **dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft), self.on_gone),
            },
        )
        self._silent: dict[tuple[str, str], Event] = {}

    def on_started(self, event: Started) -> None:
        """RUNNING is due, or PAUSED where it was started so."""
        if self.memory.of(event.member).store:
            self._silent[event.member, work_of(event)] = event

    def on_state(self, event: WorkStateChanged) -> None:
        """Its new state is due."""
        if self.memory.of(event.member).store:
            self._silent[event.member, event.work] = event

    def on_attempted(self, event: StatusAttempted) -> None:
        """The announcement."""
        worker = self.memory.of_store(event.worker)
        if worker is not None:
            self._silent.pop((worker.name, work_named(item_of(event.key))), None)

    def on_gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """The worker ended."""
        for name, work in [key for key in self._silent if key[0] == event.member]:
            del self._silent[name, work]

    def on_converged(self, event: Converged) -> None:
        """By now all that runs or failed was announced."""
        if not self.converged():
            return
        for (name, work), since in sorted(self._silent.items(), key=lambda each: each[0]):
            worker = self.memory.of(name)
            if work in worker.running or work in worker.failed:
                self.contradiction(
                    f"{name} wrote no status of {work} since it changed",
                    (f"{work} changed at {name} at {STEP}.", since),
                    (f"no status of it was written up to {STEP}, when the group had converged: contradiction.", event),
                )


class _Flushes(WorkerFold):
    needs = ((WorkerConfigured,), (StatusAttempted,))
    bookkeeping = frozenset({StatusAttempted, StatusFlushed})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                StatusAttempted: self.on_attempted,
                StatusFlushed: self.on_flushed,
                WorkRevocationEnded: self.on_ended,
            },
        )
        self._unflushed: dict[str, StatusAttempted] = {}

    def on_attempted(self, event: StatusAttempted) -> None:
        """It must be flushed before the worker goes on."""
        worker = self.memory.of_store(event.worker)
        if worker is not None and worker.revoking is not None:
            self._unflushed[event.worker] = event

    def on_flushed(self, event: StatusFlushed) -> None:
        """All before is on record, or will be sent again."""
        self._unflushed.pop(event.worker, None)

    def on_ended(self, event: WorkRevocationEnded) -> None:
        """The worker goes on to join."""
        attempted = self._unflushed.pop(self.memory.of(event.member).store, None)
        if attempted is not None:
            self.contradiction(
                f"{event.member} ended a revocation before it had flushed its statuses",
                (f"{event.member} wrote {attempted.status} of {attempted.key} at {STEP}.", attempted),
                (f"the revocation ended at {STEP}, and no flush came in between: contradiction.", event),
            )


StopsAreAnnounced: Final = Invariant(
    name="stops_are_announced",
    family="connect_statuses",
    claim="a worker that gives work up writes UNASSIGNED, or FAILED, for all that it stopped before it goes on",
    source="WorkerTask.onShutdown, WorkerConnector.doShutdown; DistributedHerder.RebalanceListener.onRevoked",
    premises=("of work that was cancelled, or had failed, nothing is asked",),
    exempted_by=(*SHOWS_WHAT_RUNS, StatusAttempted),
    violation=StopsAreAnnouncedViolated,
    fold=_Stops,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    TaskStarted(member="w0", generation=1, task="c-0")
    WorkRevocationStarted(member="w0", generation=1, work=("c-0",), reason="revoked")
    TaskStopped(member="w0", generation=1, task="c-0")
    WorkRevocationEnded(member="w0", generation=1, work=("c-0",))
"""

StartsAreAnnounced: Final = Invariant(
    name="starts_are_announced",
    family="connect_statuses",
    claim="when the group has converged, a worker has written a status of all that it runs, since it changed last",
    source="WorkerTask.onStartup, WorkerConnector.onStartup, onPause, onFailure",
    premises=("all workers are at rest in one generation, without error and delay, and know no newer configs",),
    needs_end=True,
    exempted_by=(*SHOWS_WHAT_RUNS, RejoinRequested, StatusAttempted, WorkerClaimed),
    violation=StartsAreAnnouncedViolated,
    fold=_Starts,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=9, assigned=("c-0",))
    TaskStarted(member="w0", generation=1, task="c-0")
    RunSettled()
"""

RevocationFlushesStatuses: Final = Invariant(
    name="revocation_flushes_statuses",
    family="connect_statuses",
    claim="a worker flushes its statuses before it ends a revocation in which it wrote some",
    source="DistributedHerder.RebalanceListener.onRevoked",
    exempted_by=(StatusFlushed,),
    violation=RevocationFlushesStatusesViolated,
    fold=_Flushes,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    WorkRevocationStarted(member="w0", generation=1, work=("c-0",), reason="revoked")
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="UNASSIGNED", generation=1, safe=True)
    WorkRevocationEnded(member="w0", generation=1, work=("c-0",))
"""

CLAIMS: Final = (
    StopsAreAnnounced,
    StartsAreAnnounced,
    RevocationFlushesStatuses,
)
"""In the order in which reports name them."""
