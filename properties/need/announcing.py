"""A worker of Connect writes the status of a connector or task only for a cause."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    PluginDrawn,
    RestartPlanned,
    RunStarted,
    StatusAttempted,
    StatusRead,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY, Reason
from rebalance_check.properties.need.working import Started, Stopped, name_of
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SimulatedFold

OF_WORK: Final = ("status-connector-", "status-task-")
"""How the keys of connectors and tasks begin."""
FAILED: Final = "FAILED"
DESTROYED: Final = "DESTROYED"
UNASSIGNED: Final = "UNASSIGNED"
RESTARTING: Final = "RESTARTING"
RUNNING: Final = "RUNNING"

ASKS_FOR: Final[dict[str, str]] = {
    UNASSIGNED: "it stopped nothing",
    RESTARTING: "no restart was planned",
    DESTROYED: "it knows no status",
}
"""Why nothing asked for a status; any other has a state of the work as its cause."""


class StatusWriteHasACauseViolated(Violation):
    """A worker wrote a status that nothing asked for."""


def work_named(key: str) -> str:
    """The connector or task that a key of the status topic names; empty for the key of a topic, and for any other."""
    kind = next((prefix for prefix in OF_WORK if key.startswith(prefix)), "")
    return key.removeprefix(kind) if kind else ""


class _Writes(SimulatedFold):
    """Per worker and work: what asks for which status since it wrote that last, and its last write.

    The leader removes what it has read: that asks for a removal until its store has read the removal.
    """

    needs = ((RunStarted,), (WorkerConfigured,))

    def __init__(self, invariant: Invariant) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(gone, self.on_gone),
            WorkerConfigured: self.on_configured,
            WorkStateChanged: self.on_state,
            ConnectorStopped: self.on_stopped,
            TaskStopped: self.on_stopped,
            WorkCancelled: self.on_cancelled,
            AssignmentAccepted: self.on_accepted,
            RestartPlanned: self.on_planned,
            PluginDrawn: self.on_drawn,
            ConnectorStarted: self.on_started,
            TaskStarted: self.on_started,
            StatusRead: self.on_read,
            StatusAttempted: self.on_attempted,
        }
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset(handlers) - {StatusAttempted}
        self.compared = 0
        self._workers: dict[str, WorkerConfigured] = {}
        self._stores: dict[str, str] = {}
        self._asked: dict[str, dict[tuple[str, str], Event]] = {}
        self._late: dict[str, Counter[str]] = {}
        self._unseen: dict[str, set[str]] = {}
        self._written: dict[str, dict[str, StatusAttempted]] = {}
        self._read: dict[str, dict[str, StatusRead]] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """What a process knew ends with it."""
        for known in (self._asked, self._late, self._unseen, self._written):
            known.pop(event.member, None)
        worker = self._workers.pop(event.member, None)
        if worker is not None:
            self._stores.pop(worker.store, None)
            self._read.pop(worker.store, None)

    def on_configured(self, event: WorkerConfigured) -> None:
        """Which store is its own."""
        self._workers[event.member] = event
        if event.store:
            self._stores[event.store] = event.member

    def on_state(self, event: WorkStateChanged) -> None:
        """Its new state is announced."""
        self._ask(event, event.work, event.state)

    def on_stopped(self, event: Stopped) -> None:
        """An end is announced."""
        self._ask(event, name_of(event), UNASSIGNED)

    def on_cancelled(self, event: WorkCancelled) -> None:
        """A connector that does not stop in time is announced as if it had; a task that starts late says so."""
        self._ask(event, event.work, UNASSIGNED)
        self._late.setdefault(event.member, Counter())[event.work] += 1

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """What it runs already cannot be started once more, and that is a failure."""
        for work in event.work:
            self._ask(event, work, FAILED)
            self._may_end_unseen(event, work)

    def on_planned(self, event: RestartPlanned) -> None:
        """What a restart stops is announced, and what it does not stop in time cannot be started."""
        for work in event.work:
            self._ask(event, work, RESTARTING)
            self._ask(event, work, FAILED)
            self._may_end_unseen(event, work)

    def on_drawn(self, event: PluginDrawn) -> None:
        """A task is to start, also behind one that a restart has stopped; the start of a connector is recorded."""
        if event.work.rpartition("-")[2].isdecimal():
            self._may_end_unseen(event, event.work)

    def on_started(self, event: Started) -> None:
        """From here on its end is recorded."""
        self._unseen.get(event.member, set()).discard(name_of(event))

    def on_read(self, event: StatusRead) -> None:
        """The store holds a status of it from here on, or none."""
        held = self._read.setdefault(event.worker, {})
        if event.status == DESTROYED and not event.literal:
            held.pop(event.key, None)
        else:
            held[event.key] = event

    def on_attempted(self, event: StatusAttempted) -> None:
        """Something asks for each status."""
        name, work = self._stores.get(event.worker, ""), work_named(event.key)
        if not name or not work or not self.run.is_simulated:
            return
        self.compared = (self.compared or 0) + 1
        written = self._written.setdefault(name, {})
        before, written[work] = written.get(work), event
        if not self._has_cause(name, work, event):
            self._report(name, work, event, before)

    def _ask(self, event: MemberEvent, work: str, status: str) -> None:
        self._asked.setdefault(event.member, {})[work, status] = event

    def _may_end_unseen(self, event: MemberEvent, work: str) -> None:
        """With exactly-once support a start is recorded only after the fencing that precedes it."""
        worker = self._workers.get(event.member)
        if worker is not None and worker.exactly_once:
            self._unseen.setdefault(event.member, set()).add(work)

    def _has_cause(self, name: str, work: str, event: StatusAttempted) -> bool:
        """Whether something asks for this; that is used up, unless it is what the store holds."""
        if event.status == DESTROYED:
            return event.key in self._read.get(event.worker, {})
        if self._asked.get(name, {}).pop((work, str(event.status)), None) is not None:
            return True
        if event.status == UNASSIGNED:
            return self._ends_unseen(name, work)
        return event.status == RUNNING and self._starts_late(name, work)

    def _ends_unseen(self, name: str, work: str) -> bool:
        """Whether it may have ended before its start is recorded, once."""
        may_end = work in self._unseen.get(name, ())
        if may_end:
            self._unseen[name].discard(work)
        return may_end

    def _starts_late(self, name: str, work: str) -> bool:
        """Whether one of the runs that were cancelled may say now that it has started."""
        late = self._late.get(name)
        if late is None or late[work] <= 0:
            return False
        late[work] -= 1
        return True

    def _report(self, name: str, work: str, event: StatusAttempted, before: StatusAttempted | None) -> None:
        last: list[Reason] = []
        if before is not None:
            last = [(f"{name} wrote {before.status} of {work} at {STEP};", before)]
        lacks = ASKS_FOR.get(event.status, f"{work} did not become {event.status}")
        self.contradiction(
            f"{name} writes {event.status} of {work}, and nothing asked for it",
            *last,
            (f"{lacks} since it wrote that last: yet it wrote {event.status} at {STEP}: contradiction.", event),
        )


StatusWriteHasACause: Final = Invariant(
    name="status_write_has_a_cause",
    family=FAMILY,
    claim="a worker writes the status of a connector or task only for a cause since it wrote that status of it last: "
    "the work changed its state, it ended or was cancelled, a restart was planned, it was assigned what it runs "
    "already, or its store holds the status that it removes",
    source="AbstractHerder.onStartup, onPause, onFailure, onShutdown, onRestart, onDeletion; "
    "DistributedHerder.updateDeletedConnectorStatus",
    premises=(
        "the run is simulated, and the worker records its settings: then all that asks it for something is recorded",
        "what happens to work is recorded before the status that it causes",
        "with exactly-once support a task may end before its start is recorded, which follows the fencing",
    ),
    exempted_by=(
        AssignmentAccepted,
        ConnectorStopped,
        PluginDrawn,
        RestartPlanned,
        StatusRead,
        TaskStopped,
        WorkCancelled,
        WorkStateChanged,
    ),
    violation=StatusWriteHasACauseViolated,
    fold=_Writes,
)
"""A worker writes a status only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="compatible", store="w0")
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
"""

CLAIMS: Final = (StatusWriteHasACause,)
"""In the order in which reports name them."""
