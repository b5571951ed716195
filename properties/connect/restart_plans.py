"""A restart that was asked for (KIP-745): each worker plans it by the statuses that it has read."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallbackCalled,
    ConfigRead,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RestartPlanned,
    RunEnded,
    StatusRead,
    WorkerConfigured,
)
from rebalance_check.properties.connect.statuses import work_named
from rebalance_check.properties.connect.worker import FAILED, Worker, is_task_of, listed
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.status.stores import Store, Stores
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

KEY: Final = "restart-connector-"
CALLBACK: Final = "onRestartRequest"


class RestartsFollowStatusesViolated(Violation):
    """A worker planned a restart of other work than its statuses and the requests that it read ask for, or none."""


def _rank(request: ConfigRead) -> tuple[bool, bool]:
    """Which of two requests counts: all before failed only, with tasks before without."""
    return not _says(request, "only-failed"), _says(request, "include-tasks")


def _flags(request: ConfigRead) -> tuple[bool, bool]:
    return _says(request, "only-failed"), _says(request, "include-tasks")


def _says(request: ConfigRead, flag: str) -> bool:
    return f'"{flag}":true' in (request.value or "")


class _Planned(WorkerFold):
    """Per worker: the records that it read last, and of each connector the request that waits for its herder."""

    stores: Stores
    bookkeeping = frozenset({*PROCESS, ConfigRead, ConfigCallbackCalled, StatusRead})
    needs = ((WorkerConfigured,), (ConfigCallbackCalled,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_gone),
            ConfigRead: self.on_read,
            ConfigCallbackCalled: self.on_callback,
            RestartPlanned: self.on_planned,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._read: dict[str, ConfigRead] = {}
        self._waiting: dict[str, dict[str, ConfigRead]] = {}
        self._lapsed: dict[str, dict[str, ConfigRead]] = {}

    def share(self, memories: Memories) -> None:
        """What each store has read of statuses, too."""
        super().share(memories)
        self.stores = Stores.among(memories)
        self.memories = (*self.memories, self.stores)

    def on_gone(self, event: MemberEvent) -> None:
        """Requests that wait are lost with the process."""
        self._waiting.pop(event.member, None)
        self._lapsed.pop(event.member, None)

    def on_read(self, event: ConfigRead) -> None:
        """A callback may follow. Without its connector a request lapses, unless the connector comes back before."""
        self._read[event.member] = event
        if event.key.startswith("connector-") and event.value is None:
            connector = event.key.removeprefix("connector-")
            request = self._waiting.get(event.member, {}).pop(connector, None)
            if request is not None:
                self._lapsed.setdefault(event.member, {})[connector] = request

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """Of two requests that wait the one counts that concerns more, of equal ones the last."""
        read = self._read.get(event.member)
        if event.callback != CALLBACK or read is None or read.key != f"{KEY}{event.connector}":
            return
        waiting = self._waiting.setdefault(event.member, {})
        known = waiting.get(event.connector)
        if known is None or _rank(read) >= _rank(known):
            waiting[event.connector] = read

    def on_planned(self, event: RestartPlanned) -> None:
        """It restarts what it was assigned of what the request concerns."""
        worker = self.memory.of(event.member)
        if not event.is_read or worker.configured is None:
            return
        self.compared = (self.compared or 0) + 1
        requests = self._requests_of(event)
        if not requests:
            if event.member in self._read:
                self._report(event, None, "and no request to restart it waits")
            return
        request = requests[0]
        if (event.only_failed, event.include_tasks) not in map(_flags, requests):
            self._report(event, request, "and the request that waits is another one")
            return
        wanted = self._wanted(worker, event)
        if wanted is not None and wanted != set(event.work):
            self._report(event, request, f"and, by the statuses that it has read, it is to restart {listed(wanted)}")

    def _requests_of(self, event: RestartPlanned) -> list[ConfigRead]:
        """The request that waits, and one that may have lapsed: they wait no longer."""
        found = (kept.get(event.member, {}).pop(event.connector, None) for kept in (self._waiting, self._lapsed))
        return [request for request in found if request is not None]

    def _wanted(self, worker: Worker, event: RestartPlanned) -> set[str] | None:
        """What it has been assigned of the connector, as far as a status is known of it; nothing without the
        connector's own."""
        store = self.stores.stores.get(worker.store)
        if store is None or worker.claim is None:
            return None
        statuses = _statuses(store)
        if event.connector not in statuses:
            return set()
        tasks = (work for work in statuses if event.include_tasks and is_task_of(work, event.connector))
        named = {work for work in (event.connector, *tasks) if work in worker.claim}
        return {work for work in named if not event.only_failed or statuses[work] == FAILED}

    def on_end(self, event: RunEnded) -> None:
        """A herder that waits for nothing has no request left, but for connectors that it does not know."""
        if event.pending:
            return
        for member, waiting in self._waiting.items():
            worker = self.memory.of(member)
            for connector, request in waiting.items():
                known = worker.snapshot is not None and connector in dict(worker.snapshot.connectors)
                if known and worker.accepted is not None:
                    self._report_forgotten(member, request, event)

    def _report(self, event: RestartPlanned, request: ConfigRead | None, why: str) -> None:
        self.contradiction(
            f"{event.member} restarts {listed(event.work)} of {event.connector}, {why}",
            *([(f"{event.member} read {request.key} at {STEP}: {request.value};", request)] if request else []),
            (f"it planned at {STEP} to restart {listed(event.work)}, {why}: contradiction.", event),
        )

    def _report_forgotten(self, member: str, request: ConfigRead, event: Event) -> None:
        self.contradiction(
            f"{member} never plans the restart that {request.key} asks for",
            (f"{member} read {request.key} at {STEP};", request),
            (f"nothing was pending any more at {STEP}, and it had planned nothing: contradiction.", event),
        )


def _statuses(store: Store) -> dict[str, str]:
    """The status of each connector and task that the store holds."""
    values = ((work_named(item), entry.value) for item, entry in store.entries.items())
    return {work: value.status for work, value in values if value is not None}


RestartsFollowStatuses: Final = Invariant(
    name="restarts_follow_statuses",
    family="connect_duties",
    claim="a worker that reads a request to restart a connector plans to restart exactly what it was assigned of it "
    "and has read a status of, with the tasks where the request includes them, and only what is FAILED where it says "
    "so; of several requests that wait the one counts that concerns more",
    source="KIP-745; AbstractHerder.buildRestartPlan; DistributedHerder.processRestartRequests; RestartRequest",
    premises=(
        "the worker's reads of both topics are recorded",
        "that it plans at all is claimed of simulated runs, and of connectors that it knew before the request",
    ),
    exempted_by=(ConfigCallbackCalled, ConfigRead, MemberCrashed, MemberLeft, MemberStarted, StatusRead),
    violation=RestartsFollowStatusesViolated,
    fold=_Planned,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="eager", store="w0")
    ConfigRead(member="w0", offset=3, key="restart-connector-c", value='{"include-tasks":true,"only-failed":false}')
    ConfigCallbackCalled(member="w0", callback="onRestartRequest", connector="c")
    RestartPlanned(member="w0", generation=1, connector="c", work=(), only_failed=True, is_read=True)
"""

CLAIMS: Final = (RestartsFollowStatuses,)
"""In the order in which reports name them."""
