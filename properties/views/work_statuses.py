"""Statuses: those that workers announce of their connectors and tasks, and the last ones of the status topic."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
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
from rebalance_check.properties.views.status_stores import DESTROYED, Item, Stores, Write, item_of, work_named
from rebalance_check.properties.views.worker import Started, work_of
from rebalance_check.properties.views.workers import Workers

_Ended: TypeAlias = MemberStarted | MemberCrashed | MemberLeft


class Announcements(Memory):
    """By store and work the last status that was written since the work started, and by work the last record."""

    uses: ClassVar = (Workers, Stores)

    def __init__(self, workers: Workers, stores: Stores) -> None:
        self.workers, self.stores = workers, stores
        self.called: dict[tuple[str, str], StatusAttempted] = {}
        self.last: dict[str, StatusAppended] = {}
        handlers: dict[type[Event], Handler] = {
            ConnectorStarted: self._started,
            TaskStarted: self._started,
            StatusAttempted: self._attempted,
            StatusAppended: self._appended,
        }
        super().__init__(handlers)

    def write_of(self, record: StatusAppended | StatusAttempted | None) -> Write | None:
        """The call that a record comes from; None where the history does not hold it."""
        return None if record is None else self.stores.of(record.worker).writes.get(record.attempt)

    def _started(self, event: Started) -> None:
        self.called.pop((self.workers.of(event.member).store, work_of(event)), None)

    def _attempted(self, event: StatusAttempted) -> None:
        self.called[event.worker, work_named(item_of(event.key))] = event

    def _appended(self, event: StatusAppended) -> None:
        """The record with the highest offset is the last."""
        work = work_named(item_of(event.key))
        last = self.last.get(work)
        if last is None or last.offset < event.offset:
            self.last[work] = event


class Cleanups(Memory):
    """Between its assignment and the next step of its herder a leader removes entries that its cache has too many.

    ``over`` are the statuses that are left when the event at hand ends a clean-up, None where it ends none.
    """

    uses: ClassVar = (Workers, Stores)

    def __init__(self, workers: Workers, stores: Stores) -> None:
        self.workers, self._stores = workers, stores
        self._due: dict[str, dict[str, Event]] = {}
        self._lost: set[str] = set()
        self.over: dict[str, Event] | None = None
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
        worker = self.workers.of(event.member)
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
            self._due[event.member] = due

    def _snapshot(self, event: ConfigSnapshotTaken) -> None:
        """The clean-up looks at the configs as the store knows them by then, which may hold more."""
        for work in (*(name for name, _ in event.connectors), *event.tasks):
            self._due.get(event.member, {}).pop(work, None)

    def _attempted(self, event: StatusAttempted) -> None:
        """A tombstone that was due."""
        worker = self.workers.of_store(event.worker)
        if worker is not None and event.status == DESTROYED:
            self._due.get(worker.name, {}).pop(work_named(item_of(event.key)), None)

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
