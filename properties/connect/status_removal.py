"""The leader that receives an assignment removes the statuses of work that is no longer configured."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    Event,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    StatusAttempted,
    StatusRead,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.connect.statuses import work_named
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant, Memories
from rebalance_check.properties.status.stores import DESTROYED, Item, Stores, item_of
from rebalance_check.properties.verdict import STEP, Violation


class RemovedWorkLosesItsStatusViolated(Violation):
    """A leader left the status of work that is no longer configured."""


def is_configured(item: Item, snapshot: ConfigSnapshotTaken) -> bool:
    """Whether a connector or task is among the configured ones of a snapshot."""
    if item[0] == "connector":
        return any(name == item[1] for name, _ in snapshot.connectors)
    return work_named(item) in snapshot.tasks


class _CleansUp(WorkerFold):
    """Between ``onAssigned`` and the next step of its herder a leader removes what its cache has too much."""

    needs = ((WorkerConfigured,), (ConfigSnapshotTaken,), (StatusRead,))
    bookkeeping = frozenset(
        {ConnectAssignmentReceived, ConfigSnapshotTaken, StatusAttempted, MemberStarted, MemberCrashed, MemberLeft}
    )

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConnectAssignmentReceived: self.on_received,
                ConfigSnapshotTaken: self.on_snapshot,
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

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """The clean-up looks at the configs as the store knows them by then, which may hold more."""
        _, due = self._due.get(event.member, (None, {}))
        held = {*(name for name, _ in event.connectors), *event.tasks}
        for work in held.intersection(due):
            del due[work]

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


RemovedWorkLosesItsStatus: Final = Invariant(
    name="removed_work_loses_its_status",
    family="connect_statuses",
    claim="a worker that receives an assignment as the leader removes every status that it has read of connectors and "
    "tasks that are no longer configured",
    source="DistributedHerder.RebalanceListener.onAssigned; KAFKA-9472",
    premises=(
        "tasks of a connector that has no status of its own are passed over",
        "configured is what the worker has read by then, as its next snapshot shows",
    ),
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


CLAIMS: Final = (RemovedWorkLosesItsStatus,)
"""In the order in which reports name them."""
