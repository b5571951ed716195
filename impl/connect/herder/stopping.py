"""Stopping several connectors and tasks: a pool of threads, each of which waits for one of them, but not for ever."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from rebalance_check.impl.connect.herder.instance import Instance
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.herder.worker import Worker
from rebalance_check.impl.connect.status.codec import ConnectorKey

POOL_SIZE: Final = 8
"""``DistributedHerder.START_STOP_THREAD_POOL_SIZE``."""

CONNECTOR_STOP_MS: Final = 5_000
"""``Worker.CONNECTOR_GRACEFUL_SHUTDOWN_TIMEOUT_MS``."""


class StopJob:
    """Stops the work named, ``at_once`` pieces at a time; a slow one is cancelled and counts as stopped.

    ``task_timeout_ms`` is ``task.shutdown.graceful.timeout.ms``, which each task has for itself.
    """

    def __init__(
        self, worker: Worker, work: Iterable[WorkKey], task_timeout_ms: int, *, at_once: int = POOL_SIZE
    ) -> None:
        self.work = tuple(work)
        self._worker = worker
        self._task_timeout_ms = task_timeout_ms
        self._at_once = at_once
        self._queue = deque(self.work)
        self._waiting: list[tuple[int, Instance]] = []

    @property
    def done(self) -> bool:
        """Whether everything ended or was cancelled."""
        return not self._queue and not self._waiting

    def deadline_ms(self) -> int | None:
        """When the next instance is cancelled that has not ended by then."""
        return min((deadline for deadline, _ in self._waiting), default=None)

    def advance(self, now_ms: int) -> bool:
        """Let the pool go on; whether the job is done."""
        waiting = [entry for entry in self._waiting if not self._is_over(*entry, now_ms)]
        self._waiting = waiting
        while self._queue and len(self._waiting) < self._at_once:
            key = self._queue.popleft()
            instance = self._worker.stop(key)
            if instance is not None and not instance.ended:
                self._waiting.append((now_ms + self._timeout_ms(key), instance))
        return self.done

    def _is_over(self, deadline_ms: int, instance: Instance, now_ms: int) -> bool:
        if not instance.ended and now_ms >= deadline_ms:
            instance.cancel()
        return instance.ended or instance.cancelled

    def _timeout_ms(self, key: WorkKey) -> int:
        return CONNECTOR_STOP_MS if isinstance(key, ConnectorKey) else self._task_timeout_ms
