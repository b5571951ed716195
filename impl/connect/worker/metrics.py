"""What a worker measures of its rebalances, under Kafka's names (``connect-worker-rebalance-metrics``)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rebalance_check.impl.client.metrics import Sensor
from rebalance_check.impl.connect.worker.coordinator import WorkerCoordinator


@dataclass(slots=True)
class WorkerRebalanceMetrics:
    """``DistributedHerder.HerderMetrics``: the herder calls `started` when work is assigned, `succeeded` when it runs.

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
        """What was assigned has been started."""
        started_ms, self._started_ms = self._started_ms, None
        self.completed.record(0 if started_ms is None else max(0, now_ms - started_ms), now_ms)
        self._succeeded_ms = now_ms

    def values(self, worker: WorkerCoordinator, generation: int, now_ms: int) -> dict[str, float | str]:
        """Every metric by Kafka's name; times in ms. ``generation`` is that of the last assignment."""
        claim = worker.assignment
        return {
            "connect-protocol": worker.mode.name,
            "leader-name": "" if claim is None or claim.leader_url is None else claim.leader_url,
            "epoch": float(generation),
            "rebalancing": float(self._started_ms is not None),
            "completed-rebalances-total": float(self.completed.total),
            "rebalance-max-time-ms": self.completed.maximum(now_ms),
            "rebalance-avg-time-ms": self.completed.average(now_ms),
            "time-since-last-rebalance-ms": math.inf
            if self._succeeded_ms is None
            else float(now_ms - self._succeeded_ms),
        }
