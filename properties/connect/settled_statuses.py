"""The status topic of a settled group: the last record of each connector and task says how it is."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    RejoinRequested,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusRead,
    WorkerClaimed,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.statuses import work_named
from rebalance_check.properties.connect.worker import SHOWS_WHAT_RUNS, Worker
from rebalance_check.properties.connect.worker_fold import CONVERGED, Converged, WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.status.races import Race, Races
from rebalance_check.properties.status.stores import Stores, Write, item_of
from rebalance_check.properties.verdict import STEP, Violation


class LastStatusSaysWhatRunsViolated(Violation):
    """The group had converged, and the last status in the topic was not that of what runs."""


class _SaysWhatRuns(WorkerFold):
    """By work: the last record of the topic; by worker and work: the last call."""

    needs = ((WorkerConfigured,), (StatusAttempted,), (WorkStateChanged,))
    bookkeeping = frozenset({StatusAttempted, StatusAppended})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusAttempted: self.on_attempted,
            StatusAppended: self.on_appended,
            **dict.fromkeys(CONVERGED, self.on_converged),
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._called: dict[tuple[str, str], StatusAttempted] = {}
        self._last: dict[str, StatusAppended] = {}
        self._raced: dict[str, StatusAppended] = {}

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same stores and overwrites, too."""
        super().share(memories)
        self.stores, self._races = Stores.among(memories), Races.among(memories)
        self.memories = (*self.memories, self.stores, self._races)

    def on_attempted(self, event: StatusAttempted) -> None:
        """The last call is what the worker wants to be known."""
        self._called[event.worker, work_named(item_of(event.key))] = event

    def on_appended(self, event: StatusAppended) -> None:
        """The record with the highest offset is the last."""
        work = work_named(item_of(event.key))
        last = self._last.get(work)
        if last is None or last.offset < event.offset:
            self._last[work] = event
        overwrite = self._races.overwrite
        if overwrite is not None and overwrite.race is not Race.NONE:
            self._raced[work] = event

    def on_converged(self, event: Converged) -> None:
        """No worker writes any more: what is in the topic now is what operators see from here on."""
        if not self.converged():
            return
        for worker in self.each_worker():
            for work in sorted(worker.claim or ()) if worker.store else ():
                if work in worker.running or work in worker.failed:
                    self._look(worker, work, event)

    def _look(self, worker: Worker, work: str, event: Converged) -> None:
        state, called = worker.states.get(work), self._called.get((worker.store, work))
        if state is None or called is None or not self._is_on_record(called):
            return
        self.compared = (self.compared or 0) + 1
        last = self._last.get(work)
        if last is None or not (self._says(last, state.state) or self._is_excused(worker, work, last)):
            self._report(worker, state, called, last, event)

    def _report(
        self,
        worker: Worker,
        state: WorkStateChanged,
        called: StatusAttempted,
        last: StatusAppended | None,
        event: Event,
    ) -> None:
        written = self._write_of(last)
        shown = "unknown" if written is None else written.attempted.status
        record = f"the last record in the topic was appended at {STEP}, and says {shown}."
        self.contradiction(
            f"the last status of {state.work} is {shown}, and it is {state.state} at {worker.name}",
            (f"{state.work} is {state.state} at {worker.name} since {STEP};", state),
            (f"{worker.name} wrote {called.status} of it last, at {STEP}, which was answered;", called),
            *([] if last is None else [(record, last)]),
            (f"The group had converged by {STEP}: contradiction.", event),
        )

    def _is_on_record(self, called: StatusAttempted) -> bool:
        """Whether the write was acknowledged; what became of the others is the matter of other claims."""
        write = self.stores.of(called.worker).writes.get(called.attempt)
        return write is not None and write.is_acknowledged

    def _write_of(self, record: StatusAppended | None) -> Write | None:
        """The call that a record comes from; None where the history does not hold it."""
        return None if record is None else self.stores.of(record.worker).writes.get(record.attempt)

    def _says(self, record: StatusAppended, state: str) -> bool:
        write = self._write_of(record)
        return write is not None and write.attempted.status == state

    def _is_excused(self, worker: Worker, work: str, last: StatusAppended) -> bool:
        """Whether this record may stand behind that of the worker's last write."""
        write = self._write_of(last)
        if write is None or self._raced.get(work) is last:
            return True
        return not write.attempted.safe and (last.worker != worker.store or last.send > 1)


LastStatusSaysWhatRuns: Final = Invariant(
    name="last_status_says_what_runs",
    family="connect_statuses",
    claim="when the group has converged, the last record in the status topic of each connector and task that runs or "
    "has failed says the state that it is in",
    source="WorkerTask.TaskStatusListener, WorkerConnector.ConnectorStatusListener; KafkaStatusBackingStore.putSafe",
    premises=(
        "all workers are at rest in one generation, without error and delay, and know no newer configs",
        "the worker claims it, and its last write of it was acknowledged",
        "a put of another worker, or one that is tried again, may come behind it, and what a race explains",
    ),
    needs_end=True,
    exempted_by=(*SHOWS_WHAT_RUNS, RejoinRequested, StatusAnswered, StatusAppended, StatusRead, WorkerClaimed),
    violation=LastStatusSaysWhatRunsViolated,
    fold=_SaysWhatRuns,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=9, assigned=("c-0",))
    TaskStarted(member="w0", generation=1, task="c-0")
    WorkStateChanged(member="w0", generation=1, work="c-0", state="PAUSED")
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{}")
    StatusAppended(worker="w0", key="status-task-c-0", attempt=0, send=1, partition=0, offset=0)
    StatusAnswered(worker="w0", key="status-task-c-0", attempt=0, send=1, outcome="ok")
    RunSettled()
"""

CLAIMS: Final = (LastStatusSaysWhatRuns,)
"""In the order in which reports name them."""
