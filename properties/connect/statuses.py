"""Which worker writes which status: each is explained by what its worker ran, and what a worker ran is announced."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RestartPlanned,
    RunEnded,
    StatusAttempted,
    TaskStarted,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.worker import FAILED, SHOWS_WHAT_RUNS, Worker
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold, WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.status.stores import Item, item_of
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SIMULATED

SAFE: Final = frozenset({"UNASSIGNED", FAILED})
"""What a worker writes with ``putSafe``; all else it writes with ``put``."""


class StatusSaysWhatRanViolated(Violation):
    """A worker wrote a status that what it ran does not explain."""


class StatesAreWrittenViolated(Violation):
    """Work took a state of which its worker wrote no status."""


class StatusCarriesTheGenerationViolated(Violation):
    """A worker wrote a status with a generation that is not that of its last assignment."""


class StatusIsSafeByKindViolated(Violation):
    """A worker wrote UNASSIGNED or FAILED with ``put``, or another status with ``putSafe``."""


def work_named(item: Item | None) -> str:
    """The connector or task of a status key, as events of workers name it; "" for none."""
    return "-".join(item[1:]) if item is not None else ""


class _SaysWhatRan(WorkerFold):
    needs = ((WorkerConfigured,),)
    bookkeeping = frozenset({RestartPlanned})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAttempted: self.on_attempted, RestartPlanned: self.on_restart})
        self._restarts: dict[str, RestartPlanned] = {}

    def on_restart(self, event: RestartPlanned) -> None:
        """From here on it may say RESTARTING for this work."""
        self._restarts[event.member] = event

    def on_attempted(self, event: StatusAttempted) -> None:
        """Each status has its cause in the worker."""
        worker, work = self.memory.of_store(event.worker), work_named(item_of(event.key))
        if worker is None or not work:
            return
        against = self._against(worker, work, event.status)
        if against:
            shown: Event | None = worker.running.get(work) or worker.states.get(work) or worker.failed.get(work)
            shown = shown or worker.received or worker.configured
            self.contradiction(
                f"{worker.name} wrote {event.status} of {work}, and {against}",
                (f"what is known of {work} at {worker.name} stands at {STEP}: {against}.", shown),
                (f"{worker.name} wrote {event.status} at {STEP}: contradiction.", event),
            )

    def _against(self, worker: Worker, work: str, status: str) -> str:
        """Why the status is wrong, empty where it is right."""
        state = worker.states.get(work)
        runs = work in worker.running
        planned = self._restarts.get(worker.name)
        if status == "RUNNING" and not runs and work not in worker.cancelled:
            return "it does not run it"
        if status in {"PAUSED", "STOPPED"} and (state is None or state.state != status):
            return f"it is not {status} there"
        if status == FAILED and work not in worker.failed and work not in worker.leftovers:
            return "it did not fail there"
        if status == "UNASSIGNED" and runs:
            return "it runs there"
        if status == "RESTARTING" and (runs or planned is None or work not in planned.work):
            return "no restart has stopped it there"
        return ""


class _StatesAreWritten(SimulatedWorkerFold):
    """Per worker: a state that its work has taken, whose status was not written yet."""

    needs = ((WorkerConfigured,), (WorkStateChanged,))
    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(gone, self.on_gone),
            WorkStateChanged: self.on_changed,
            StatusAttempted: self.on_attempted,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._due: dict[str, WorkStateChanged] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """It writes nothing any more."""
        self._due.pop(event.member, None)

    def on_changed(self, event: WorkStateChanged) -> None:
        """The thread writes the status in the same step."""
        self._look(event.member, event)
        worker = self.memory.of(event.member)
        if self.run.is_simulated and worker.configured is not None and worker.store:
            self._due[event.member] = event

    def on_attempted(self, event: StatusAttempted) -> None:
        """The next status that the worker writes says so."""
        worker = self.memory.of_store(event.worker)
        due = self._due.get(worker.name) if worker is not None else None
        if due is not None and (work_named(item_of(event.key)), event.status) == (due.work, due.state):
            self.compared = (self.compared or 0) + 1
            del self._due[due.member]
        elif due is not None:
            self._look(due.member, event)

    def on_end(self, event: RunEnded) -> None:
        """Nothing is written any more."""
        for member in list(self._due):
            self._look(member, event)

    def _look(self, member: str, event: Event) -> None:
        due = self._due.pop(member, None)
        if due is not None:
            self.compared = (self.compared or 0) + 1
            self.contradiction(
                f"{due.work} is {due.state} at {member}, which does not write that",
                (f"{due.work} is {due.state} at {member} since {STEP};", due),
                (f"it had written no such status before {STEP}: contradiction.", event),
            )


class _Generation(WorkerFold):
    needs = ((WorkerConfigured,), (ConnectAssignmentReceived,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAttempted: self.on_attempted})

    def on_attempted(self, event: StatusAttempted) -> None:
        """The herder's generation is that of the last assignment."""
        worker = self.memory.of_store(event.worker)
        if worker is None or worker.received is None or item_of(event.key) is None:
            return
        if event.generation != worker.received.generation:
            self.contradiction(
                f"{worker.name} wrote {event.status} with generation {event.generation}",
                (f"{worker.name} received its last assignment, of generation {worker.received.generation}, at {STEP}.",
                 worker.received),
                (f"it wrote a status of generation {event.generation} at {STEP}: contradiction.", event),
            )  # fmt: skip


class _SafeByKind(WorkerFold):
    needs = ((WorkerConfigured,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAttempted: self.on_attempted})

    def on_attempted(self, event: StatusAttempted) -> None:
        """What may come late is written safely."""
        worker = self.memory.of_store(event.worker)
        if worker is None or item_of(event.key) is None or event.safe == (event.status in SAFE):
            return
        how, wanted = ("putSafe", "put") if event.safe else ("put", "putSafe")
        self.contradiction(
            f"{worker.name} wrote {event.status} with {how}",
            (f"{event.status} is written with {wanted}; {how} came at {STEP}: contradiction.", event),
        )


StatusSaysWhatRan: Final = Invariant(
    name="status_says_what_ran",
    family="connect_statuses",
    claim="a worker writes RUNNING only of what it runs, UNASSIGNED of what it does not, FAILED of what failed there, "
    "PAUSED and STOPPED of what is so, and RESTARTING of what a restart request stopped",
    source="KIP-26, KIP-745, KIP-875; WorkerTask, WorkerConnector, AbstractHerder",
    premises=(
        "what happens to work is recorded before the status that it causes",
        "a task that is cancelled while it starts says RUNNING when it has started",
        "what an eager assignment left running (KAFKA-13816) is FAILED where it is assigned again: it exists already",
    ),
    exempted_by=(ConnectAssignmentReceived, ConnectorStarted, TaskStarted, RestartPlanned, *SHOWS_WHAT_RUNS),
    violation=StatusSaysWhatRanViolated,
    fold=_SaysWhatRan,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
"""

StatesAreWritten: Final = Invariant(
    name="states_are_written",
    family="connect_statuses",
    claim="when a connector or task is RUNNING, PAUSED, STOPPED or FAILED, the next status that its worker "
    "writes says so",
    source="WorkerConnector.ConnectorStatusListener, WorkerTask.TaskStatusListener; AbstractHerder.onPause, onFailure",
    premises=(SIMULATED,),
    exempted_by=(MemberCrashed, MemberLeft, MemberStarted, StatusAttempted),
    violation=StatesAreWrittenViolated,
    fold=_StatesAreWritten,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager", store="w0")
    WorkStateChanged(member="w0", generation=1, work="c", state="PAUSED")
    RunEnded()
"""

StatusCarriesTheGeneration: Final = Invariant(
    name="status_carries_the_generation",
    family="connect_statuses",
    claim="a worker writes statuses with the generation of its last assignment",
    source="DistributedHerder.generation, AbstractHerder.onStartup",
    exempted_by=(ConnectAssignmentReceived,),
    violation=StatusCarriesTheGenerationViolated,
    fold=_Generation,
)
"""So UNASSIGNED of a revocation carries the generation before. The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    ConnectAssignmentReceived(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3)
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
"""

StatusIsSafeByKind: Final = Invariant(
    name="status_is_safe_by_kind",
    family="connect_statuses",
    claim="UNASSIGNED and FAILED are written with putSafe, all other statuses with put",
    source="AbstractHerder.onShutdown, onFailure, onStartup, onPause, onDeletion",
    violation=StatusIsSafeByKindViolated,
    fold=_SafeByKind,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="UNASSIGNED", generation=1, safe=False)
"""


CLAIMS: Final = (StatusSaysWhatRan, StatesAreWritten, StatusCarriesTheGeneration, StatusIsSafeByKind)
"""In the order in which reports name them."""
