"""Restarts of connectors and tasks that an operator asked for (KIP-745), and of one connector or task alone."""

from __future__ import annotations

from rebalance_check.impl.connect.config.values import RestartRequest
from rebalance_check.impl.connect.herder.leading import Leading
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.herder.work_events import WorkKey, assigned_work, work_name
from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey
from rebalance_check.impl.protocol.connect_protocol import EMPTY
from rebalance_check.model.vocabulary.events import RestartPlanned, RestartRequested


class Restarting(Leading):
    """Every worker plans a restart from its own status cache and for its own work; one request waits per connector."""

    def __init__(self) -> None:
        super().__init__()
        self._restarts: dict[str, RestartRequest] = {}

    def _note_restart(self, request: RestartRequest) -> None:
        """Keep the request unless one of a higher rank waits: all before failed only, with tasks before without."""
        self.recorder.emit(
            RestartRequested(
                member=self.member,
                connector=request.connector,
                only_failed=request.only_failed,
                include_tasks=request.include_tasks,
            )
        )
        waiting = self._restarts.get(request.connector)
        if waiting is None or rank(request) >= rank(waiting):
            self._restarts[request.connector] = request

    def _process_restarts(self) -> Steps[None]:
        """Restart the work that requests read since the last tick name."""
        requests, self._restarts = self._restarts, {}
        for connector in sorted(requests):
            if connector in self.config_state:
                yield from self._restart(requests[connector])

    def _restart(self, request: RestartRequest) -> Steps[None]:
        """Stop the connector, then the tasks, say of each that it is RESTARTING, and start them again."""
        planned = self.plan_restart(request)
        here = set(assigned_work(self.assignment or EMPTY))
        own = tuple(key for key in planned if key in here)
        self._emit_planned(request.connector, own, request)
        if not own:
            return
        connectors = tuple(key for key in own if isinstance(key, ConnectorKey))
        tasks = tuple(key for key in own if isinstance(key, TaskKey))
        for part in (connectors, tasks):
            yield from self._stop_and_await(part)
            for key in part:
                self.statuses.restarting(key)
        for key in own:
            self._start(key)

    def plan_restart(self, request: RestartRequest) -> tuple[WorkKey, ...]:
        """The work that the request concerns, by the statuses that this worker read; nothing where it knows none."""
        cache = self.statuses.store.cache
        own = ConnectorKey(request.connector)
        if cache.get(own) is None:
            return ()
        tasks = [TaskKey(request.connector, number) for number in cache.tasks(request.connector)]
        wanted: list[WorkKey] = [own, *(tasks if request.include_tasks else ())]
        return tuple(key for key in wanted if not request.only_failed or self._has_failed(key))

    def _has_failed(self, key: WorkKey) -> bool:
        known = self.statuses.store.cache.get(key)
        return known is not None and known.status is Status.FAILED

    def _emit_planned(self, connector: str, work: tuple[WorkKey, ...], request: RestartRequest | None = None) -> None:
        at = self.coordinator.generation()
        self.recorder.emit(
            RestartPlanned(
                member=self.member,
                generation=self.generation,
                member_id=at.member_id,
                connector=connector,
                work=tuple(map(work_name, work)),
                only_failed=request is not None and request.only_failed,
                include_tasks=request is not None and request.include_tasks,
                is_read=request is not None,
            )
        )


def rank(request: RestartRequest) -> tuple[bool, bool]:
    """The rank of a request: of two, the one that concerns more counts (``RestartRequest.compareTo``)."""
    return not request.only_failed, request.include_tasks
