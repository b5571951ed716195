"""Who writes which status: each is explained by what its worker ran, and what a worker ran is announced."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RestartPlanned,
    StatusAttempted,
    StatusRead,
    TaskStarted,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.connect.workers import (
    FAILED,
    SHOWS_WHAT_RUNS,
    Worker,
    WorkerFold,
)
from rebalance_check.properties.kinds import Invariant, Memories
from rebalance_check.properties.status.stores import DESTROYED, Item, Stores, item_of
from rebalance_check.properties.verdict import STEP, Violation

SAFE: Final = frozenset({"UNASSIGNED", FAILED})
"""What a worker writes with ``putSafe``; all else it writes with ``put``."""


class StatusSaysWhatRanViolated(Violation):
    """A worker wrote a status that what it ran does not explain."""


class StatusCarriesTheGenerationViolated(Violation):
    """A worker wrote a status with a generation that is not that of its last assignment."""


class StatusIsSafeByKindViolated(Violation):
    """A worker wrote UNASSIGNED or FAILED with ``put``, or another status with ``putSafe``."""


class OnlyTheLeaderRemovesStatusesViolated(Violation):
    """A status was removed by a worker that does not lead, or is of work that is configured."""


class RemovedWorkLosesItsStatusViolated(Violation):
    """A leader left the status of work that is no longer configured."""


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


class _OnlyTheLeader(WorkerFold):
    needs = ((WorkerConfigured,), (ConnectAssignmentReceived,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAttempted: self.on_attempted})

    def on_attempted(self, event: StatusAttempted) -> None:
        """Nobody else knows what is configured now."""
        worker, item = self.memory.of_store(event.worker), item_of(event.key)
        if event.status != DESTROYED or worker is None or item is None or worker.received is None:
            return
        snapshot = worker.snapshot
        shown: Event
        if not worker.leads:
            why, shown = f"{worker.received.leader} leads since {STEP}", worker.received
        elif snapshot is not None and is_configured(item, snapshot):
            why, shown = f"{work_named(item)} is configured, as it saw at {STEP}", snapshot
        else:
            return
        self.contradiction(
            f"{worker.name} removed the status of {work_named(item)}",
            (f"{why}.", shown),
            (f"{worker.name} wrote the tombstone at {STEP}: contradiction.", event),
        )


def is_configured(item: Item, snapshot: ConfigSnapshotTaken) -> bool:
    """Whether a connector or task is among the configured ones of a snapshot."""
    if item[0] == "connector":
        return any(name == item[1] for name, _ in snapshot.connectors)
    return work_named(item) in snapshot.tasks


class _CleansUp(WorkerFold):
    """Between ``onAssigned`` and the next step of its herder a leader removes what its cache has too much."""

    needs = ((WorkerConfigured,), (ConfigSnapshotTaken,), (StatusRead,))
    bookkeeping = frozenset({ConnectAssignmentReceived, StatusAttempted, MemberStarted, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConnectAssignmentReceived: self.on_received,
                StatusAttempted: self.on_attempted,
                AssignmentAccepted: self.on_next,
                WorkerClaimed: self.on_next,
                MemberStarted: self.on_gone,
                MemberCrashed: self.on_gone,
                MemberLeft: self.on_gone,
            },
        )
        self._due: dict[str, tuple[ConnectAssignmentReceived, dict[str, Event]]] = {}

    def share(self, memories: Memories) -> None:
        """It looks at the caches of the status stores, too."""
        super().share(memories)
        self._stores = Stores.among(memories)
        self.memories = (*self.memories, self._stores)

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """What is cached and no longer configured."""
        worker = self.memory.of(event.member)
        self._due.pop(event.member, None)
        if not worker.leads or worker.snapshot is None or not worker.store:
            return
        entries = self._stores.of(worker.store).entries
        connectors = {item[1] for item in entries if item[0] == "connector"}
        due: dict[str, Event] = {
            work_named(item): entry.value
            for item, entry in entries.items()
            if entry.value is not None and item[1] in connectors and not is_configured(item, worker.snapshot)
        }
        if due:
            self._due[event.member] = (event, due)

    def on_attempted(self, event: StatusAttempted) -> None:
        """A tombstone that was due."""
        worker = self.memory.of_store(event.worker)
        if worker is not None and worker.name in self._due and event.status == DESTROYED:
            self._due[worker.name][1].pop(work_named(item_of(event.key)), None)

    def on_gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """The leader ended."""
        self._due.pop(event.member, None)

    def on_next(self, event: AssignmentAccepted | WorkerClaimed) -> None:
        """The clean-up is over."""
        received, due = self._due.pop(event.member, (None, {}))
        if received is not None and due:
            work = min(due)
            self.contradiction(
                f"{event.member} leads and leaves the status of {work}, which is not configured",
                (f"{event.member} read a status of {work} at {STEP}.", due[work]),
                (f"it received the assignment of generation {received.generation} as its leader at {STEP}.", received),
                (f"it wrote no tombstone for {work} before {STEP}: contradiction.", event),
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

OnlyTheLeaderRemovesStatuses: Final = Invariant(
    name="only_the_leader_removes_statuses",
    family="connect_statuses",
    claim="a status is removed only by the worker that leads, and only of work that its configs do not hold",
    source="DistributedHerder.RebalanceListener.onAssigned, updateDeletedConnectorStatus, updateDeletedTaskStatus",
    exempted_by=(ConfigSnapshotTaken, ConnectAssignmentReceived),
    violation=OnlyTheLeaderRemovesStatusesViolated,
    fold=_OnlyTheLeader,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    ConnectAssignmentReceived(member="w0", generation=2, member_id="b", protocol="compatible", leader="a",
                              leader_url="u", config_offset=3)
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="DESTROYED", generation=2, safe=False)
"""

RemovedWorkLosesItsStatus: Final = Invariant(
    name="removed_work_loses_its_status",
    family="connect_statuses",
    claim="a worker that receives an assignment as the leader removes every status that it has read of connectors and "
    "tasks that are no longer configured",
    source="DistributedHerder.RebalanceListener.onAssigned; KAFKA-9472",
    premises=("tasks of a connector that has no status of its own are passed over",),
    exempted_by=(ConfigSnapshotTaken, StatusAttempted),
    violation=RemovedWorkLosesItsStatusViolated,
    fold=_CleansUp,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), tasks=())
    StatusRead(worker="w0", key="status-connector-c", partition=0, offset=0, status="RUNNING", generation=1)
    StatusRead(worker="w0", key="status-task-c-0", partition=0, offset=1, status="RUNNING", generation=1)
    ConnectAssignmentReceived(member="w0", generation=2, member_id="a", protocol="compatible", leader="a",
                              leader_url="u", config_offset=3)
    AssignmentAccepted(member="w0", generation=2, config_offset=3, work=())
"""

CLAIMS: Final = (
    StatusSaysWhatRan,
    StatusCarriesTheGeneration,
    StatusIsSafeByKind,
    OnlyTheLeaderRemovesStatuses,
    RemovedWorkLosesItsStatus,
)
"""In the order in which reports name them."""
