"""The measurements of a member, as Kafka registers them (``AbstractCoordinator.GroupCoordinatorMetrics``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.impl.runtime.metrics import HOUR_MS, SECOND_MS, MetricGroup, Sensor

NEVER_S: Final = -1.0
"""How many seconds ago something was that never was."""

_RETRIED: Final = "which may be composed of several failed re-trials until it succeeded"
_EVENT: Final = "each event is composed of several failed re-trials until it succeeded"


@dataclass(slots=True)
class CoordinatorMetrics:
    """The sensors of one member.

    Latencies run from sending a request to its answer, a rebalance from the first JoinGroup of a chain to the SyncGroup
    that succeeds; a failed attempt in between counts as a failed rebalance (MEMBER_ID_REQUIRED, too) and does not
    restart the clock.
    """

    heartbeat: Sensor = field(default_factory=Sensor)
    join: Sensor = field(default_factory=Sensor)
    sync: Sensor = field(default_factory=Sensor)
    rebalance: Sensor = field(default_factory=Sensor)
    failed_rebalance: Sensor = field(default_factory=Sensor)
    last_heartbeat_ms: int | None = None
    last_rebalance_ms: int | None = None
    _rebalancing_since_ms: int | None = None

    def rebalance_started(self, now_ms: int) -> None:
        """A JoinGroup goes out."""
        if self._rebalancing_since_ms is None:
            self._rebalancing_since_ms = now_ms

    def rebalance_completed(self, now_ms: int) -> None:
        """A SyncGroup made the member stable."""
        started_ms, self._rebalancing_since_ms = self._rebalancing_since_ms, None
        self.last_rebalance_ms = now_ms
        self.rebalance.record(now_ms - (now_ms if started_ms is None else started_ms), now_ms)

    def register(self, group: MetricGroup) -> None:
        """Register every metric under Kafka's name; times in ms unless the name says otherwise.

        Raises: RebalanceCheckError where they are registered.
        """
        self._register_requests(group)
        self._register_rebalances(group)
        group.add("last-rebalance-seconds-ago", "The number of seconds since the last successful rebalance event",
                  lambda now_ms: _seconds_ago(self.last_rebalance_ms, now_ms))  # fmt: skip
        group.add("last-heartbeat-seconds-ago", "The number of seconds since the last coordinator heartbeat was sent",
                  lambda now_ms: _seconds_ago(self.last_heartbeat_ms, now_ms))  # fmt: skip

    def _register_requests(self, group: MetricGroup) -> None:
        group.add("heartbeat-response-time-max", "The max time taken to receive a response to a heartbeat request",
                  self.heartbeat.maximum)  # fmt: skip
        group.add_meter("heartbeat", "heartbeats", self.heartbeat)
        group.add("join-time-avg", "The average time taken for a group rejoin", self.join.average)
        group.add("join-time-max", "The max time taken for a group rejoin", self.join.maximum)
        group.add_meter("join", "group joins", self.join)
        group.add("sync-time-avg", "The average time taken for a group sync", self.sync.average)
        group.add("sync-time-max", "The max time taken for a group sync", self.sync.maximum)
        group.add_meter("sync", "group syncs", self.sync)

    def _register_rebalances(self, group: MetricGroup) -> None:
        done, failed = self.rebalance, self.failed_rebalance
        successful = f"time taken for a group to complete a successful rebalance, {_RETRIED}"
        group.add("rebalance-latency-avg", f"The average {successful}", done.average)
        group.add("rebalance-latency-max", f"The max {successful}", done.maximum)
        group.add("rebalance-latency-total",
                  "The total number of milliseconds this consumer has spent in successful rebalances since creation",
                  lambda _: float(done.sum_ms))  # fmt: skip
        group.add("rebalance-total", f"The total number of successful rebalance events, {_EVENT}",
                  lambda _: float(done.total))  # fmt: skip
        group.add("rebalance-rate-per-hour", f"The number of successful rebalance events per hour, {_EVENT}",
                  lambda now_ms: done.rate(now_ms, HOUR_MS))  # fmt: skip
        group.add("failed-rebalance-total", "The total number of failed rebalance events",
                  lambda _: float(failed.total))  # fmt: skip
        group.add("failed-rebalance-rate-per-hour", "The number of failed rebalance events per hour",
                  lambda now_ms: failed.rate(now_ms, HOUR_MS))  # fmt: skip


def register_commits(group: MetricGroup, commit: Sensor) -> None:
    """Register the metrics that consumers add for their commits (``ConsumerCoordinatorMetrics``).

    Raises: RebalanceCheckError where they are registered.
    """
    group.add("commit-latency-avg", "The average time taken for a commit request", commit.average)
    group.add("commit-latency-max", "The max time taken for a commit request", commit.maximum)
    group.add_meter("commit", "commit calls", commit)


def _seconds_ago(at_ms: int | None, now_ms: int) -> float:
    return NEVER_S if at_ms is None else float((now_ms - at_ms) // SECOND_MS)
