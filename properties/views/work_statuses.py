"""Statuses: those that workers announce of their connectors and tasks, and the last ones of the status topic."""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    StatusAppended,
    StatusAttempted,
    TaskStarted,
    WorkerClaimed,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.config_readers import state_in, value_of
from rebalance_check.properties.views.status_stores import DESTROYED, Item, Stores, Write, item_of, work_named
from rebalance_check.properties.views.worker import Started, connector_of, work_of
from rebalance_check.properties.views.workers import Workers

TARGET: Final = "target-state-"
CONNECTOR: Final = "connector-"
SHOWN: Final = {"STARTED": "RUNNING", "PAUSED": "PAUSED", "STOPPED": "STOPPED"}
"""By target state, the status of a connector or task that has reached it."""

_Ended: TypeAlias = MemberStarted | MemberCrashed | MemberLeft


class Targets(Memory):
    """The target state of each connector by the records of the config topic; "" where none of them says it."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        super().__init__({ConfigAppended: self._appended})

    def of(self, work: str) -> str:
        """The name of a connector, or of a task's connector."""
        return self._of.get(connector_of(work), self._of.get(work, ""))

    def _appended(self, event: ConfigAppended) -> None:
        if event.key.startswith(CONNECTOR) and event.value is not None:
            self._of.setdefault(event.key.removeprefix(CONNECTOR), "STARTED")
        elif event.key.startswith(TARGET):
            self._of[event.key.removeprefix(TARGET)] = _state_in(event.value)


def _state_in(value: str | None) -> str:
    """The state that a record sets; a tombstone sets back to STARTED."""
    state = "STARTED" if value is None else state_in(value_of(value))
    return state if state in SHOWN else ""


class Announcements(Memory):
    """By worker and work the start that no status followed, and the last call; by work the last record."""

    uses: ClassVar = (Workers, Stores)

    def __init__(self, workers: Workers, stores: Stores) -> None:
        self.workers, self.stores = workers, stores
        self.silent: dict[tuple[str, str], Started] = {}
        self.called: dict[tuple[str, str], StatusAttempted] = {}
        self.last: dict[str, StatusAppended] = {}
        handlers: dict[type[Event], Handler] = {
            ConnectorStarted: self._started,
            TaskStarted: self._started,
            StatusAttempted: self._attempted,
            StatusAppended: self._appended,
            MemberStarted: self._gone,
            MemberCrashed: self._gone,
            MemberLeft: self._gone,
        }
        super().__init__(handlers)

    def write_of(self, record: StatusAppended | StatusAttempted | None) -> Write | None:
        """The call that a record comes from; None where the history does not hold it."""
        return None if record is None else self.stores.of(record.worker).writes.get(record.attempt)

    def _started(self, event: Started) -> None:
        self.silent[event.member, work_of(event)] = event

    def _attempted(self, event: StatusAttempted) -> None:
        work = work_named(item_of(event.key))
        self.called[event.worker, work] = event
        worker = self.workers.of_store(event.worker)
        if worker is not None:
            self.silent.pop((worker.name, work), None)

    def _appended(self, event: StatusAppended) -> None:
        """The record with the highest offset is the last."""
        work = work_named(item_of(event.key))
        last = self.last.get(work)
        if last is None or last.offset < event.offset:
            self.last[work] = event

    def _gone(self, event: _Ended) -> None:
        for key in [key for key in self.silent if key[0] == event.member]:
            del self.silent[key]


class Cleanup:
    """The statuses that a leader had to remove for an assignment, and those that are ``left``."""

    def __init__(self, received: ConnectAssignmentReceived, due: dict[str, Event]) -> None:
        self.received = received
        self.left = due


class Cleanups(Memory):
    """Between its assignment and the next step of its herder a leader removes entries that its cache has too many.

    ``over`` is the clean-up that the event at hand ends.
    """

    uses: ClassVar = (Workers, Stores)

    def __init__(self, workers: Workers, stores: Stores) -> None:
        self._workers, self._stores = workers, stores
        self._due: dict[str, Cleanup] = {}
        self._lost: set[str] = set()
        self.over: Cleanup | None = None
        handlers: dict[type[Event], Handler] = {
            ConnectAssignmentReceived: self._received,
            ConfigSnapshotTaken: self._snapshot,
            StatusAttempted: self._attempted,
            AssignmentAccepted: self._next,
            WorkerClaimed: self._next,
            MemberStarted: self._gone,
            MemberCrashed: self._gone,
            MemberLeft: self._gone,
            MembershipLost: self._lose,
            MemberJoined: self._join,
        }
        super().__init__(handlers)

    def _received(self, event: ConnectAssignmentReceived) -> None:
        """Work that is cached and no longer configured."""
        worker = self._workers.of(event.member)
        self._due.pop(event.member, None)
        if event.member in self._lost or not worker.leads or worker.snapshot is None or not worker.store:
            return
        entries = self._stores.of(worker.store).entries
        connectors = {item[1] for item in entries if item[0] == "connector"}
        due: dict[str, Event] = {
            work_named(item): entry.value
            for item, entry in entries.items()
            if entry.value is not None and item[1] in connectors and not _is_configured(item, worker.snapshot)
        }
        if due:
            self._due[event.member] = Cleanup(event, due)

    def _snapshot(self, event: ConfigSnapshotTaken) -> None:
        """The clean-up looks at the configs as the store knows them by then, which may hold more."""
        cleanup = self._due.get(event.member)
        held = {*(name for name, _ in event.connectors), *event.tasks}
        for work in held.intersection(cleanup.left) if cleanup is not None else ():
            del self._due[event.member].left[work]

    def _attempted(self, event: StatusAttempted) -> None:
        """A tombstone that was due."""
        worker = self._workers.of_store(event.worker)
        if worker is not None and worker.name in self._due and event.status == DESTROYED:
            self._due[worker.name].left.pop(work_named(item_of(event.key)), None)

    def _next(self, event: AssignmentAccepted | WorkerClaimed) -> None:
        self.over = self._due.pop(event.member, None)

    def _gone(self, event: _Ended) -> None:
        self._due.pop(event.member, None)
        self._lost.discard(event.member)

    def _lose(self, event: MembershipLost) -> None:
        """A worker that lost its membership joins anew, in the place of acting on an assignment that comes late."""
        self._lost.add(event.member)

    def _join(self, event: MemberJoined) -> None:
        self._lost.discard(event.member)


def _is_configured(item: Item, snapshot: ConfigSnapshotTaken) -> bool:
    """Whether a connector or task is among the configured ones of a snapshot."""
    if item[0] == "connector":
        return any(name == item[1] for name, _ in snapshot.connectors)
    return work_named(item) in snapshot.tasks
