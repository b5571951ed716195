"""A worker's measurements of its rebalances, as Kafka registers them (``DistributedHerder.HerderMetrics``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.runtime.metrics import MetricGroup, Metrics, Sensor

GROUP: Final = "connect-worker-rebalance-metrics"


@dataclass(slots=True)
class WorkerRebalanceMetrics:
    """The herder calls `started` when work is assigned, `succeeded` when it runs.

    While a delay is pending Kafka's herder counts a rebalance as completed at every tick; so does one that calls
    `succeeded` again without `started`, with a duration of 0.
    """

    completed: Sensor = field(default_factory=Sensor)
    _started_ms: int | None = None
    _succeeded_ms: int | None = None

    def started(self, now_ms: int) -> None:
        """An assignment came."""
        self._started_ms = now_ms

    def succeeded(self, now_ms: int) -> None:
        """All that was assigned has been started."""
        started_ms, self._started_ms = self._started_ms, None
        self.completed.record(0 if started_ms is None else max(0, now_ms - started_ms), now_ms)
        self._succeeded_ms = now_ms

    def register(self, metrics: Metrics, worker: WorkerCoordinator, generation: Callable[[], int]) -> None:
        """Register every metric under Kafka's name; times in ms. ``generation`` gives that of the last assignment.

        Raises: RebalanceCheckError where metrics of a worker with this client id are registered.
        """
        group = MetricGroup(metrics, GROUP, {"client-id": worker.config.client_id})
        group.add("connect-protocol", "The Connect protocol used by this cluster", lambda _: worker.mode.name)
        group.add("leader-name", "The name of the group leader.", lambda _: _leader_of(worker))
        group.add("epoch", "The epoch or generation number of this worker.", lambda _: float(generation()))
        group.add("completed-rebalances-total", "The total number of rebalances completed by this worker.",
                  lambda _: float(self.completed.total))  # fmt: skip
        group.add("rebalancing", "Whether this worker is currently rebalancing.",
                  lambda _: float(self._started_ms is not None))  # fmt: skip
        group.add("rebalance-max-time-ms", "The maximum time in milliseconds spent by this worker to rebalance.",
                  self.completed.maximum)  # fmt: skip
        group.add("rebalance-avg-time-ms", "The average time in milliseconds spent by this worker to rebalance.",
                  self.completed.average)  # fmt: skip
        group.add("time-since-last-rebalance-ms",
                  "The time in milliseconds since this worker completed the most recent rebalance.",
                  self._since_last_ms)  # fmt: skip

    def _since_last_ms(self, now_ms: int) -> float:
        return math.inf if self._succeeded_ms is None else float(now_ms - self._succeeded_ms)


def _leader_of(worker: WorkerCoordinator) -> str:
    claim = worker.assignment
    return "" if claim is None or claim.leader_url is None else claim.leader_url
