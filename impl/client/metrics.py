"""What a member measures of itself, under Kafka's names (``AbstractCoordinator.GroupCoordinatorMetrics`` and siblings).

A value of the last `WINDOW_MS` counts for averages, maxima and rates. Kafka cuts that time into samples of 30 s and
drops them one by one; here the window slides with every value.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Final

WINDOW_MS: Final = 60_000
"""``metrics.num.samples`` (2) times ``metrics.sample.window.ms`` (30 s)."""

SHORTEST_WINDOW_MS: Final = 30_000
"""A rate is not counted over less time than one sample lasts."""

HOUR_MS: Final = 3_600_000
SECOND_MS: Final = 1_000
NEVER_S: Final = -1.0
"""How many seconds ago something was that never was."""


@dataclass(slots=True)
class Sensor:
    """Values with the time at which each was recorded, both in ms."""

    total: int = 0
    _recent: deque[tuple[int, int]] = field(default_factory=deque)
    _since_ms: int | None = None
    _sum: int = 0

    def record(self, value_ms: int, now_ms: int) -> None:
        """One more value; times must not run backwards."""
        if self._since_ms is None:
            self._since_ms = now_ms
        self.total += 1
        self._sum += value_ms
        self._recent.append((now_ms, value_ms))
        self._forget(now_ms)

    @property
    def sum_ms(self) -> int:
        """All values together."""
        return self._sum

    def average(self, now_ms: int) -> float:
        """The mean of the recent values; not a number where there are none."""
        self._forget(now_ms)
        return sum(value for _, value in self._recent) / len(self._recent) if self._recent else math.nan

    def maximum(self, now_ms: int) -> float:
        """The largest of the recent values; not a number where there are none."""
        self._forget(now_ms)
        return float(max((value for _, value in self._recent), default=math.nan))

    def rate(self, now_ms: int, per_ms: int = SECOND_MS) -> float:
        """How many recent values there are per unit of time."""
        self._forget(now_ms)
        elapsed_ms = 0 if self._since_ms is None else now_ms - self._since_ms
        return len(self._recent) * per_ms / min(max(elapsed_ms, SHORTEST_WINDOW_MS), WINDOW_MS)

    def _forget(self, now_ms: int) -> None:
        while self._recent and self._recent[0][0] <= now_ms - WINDOW_MS:
            self._recent.popleft()


@dataclass(slots=True)
class CoordinatorMetrics:
    """The sensors of one member, and `values`, which names their readings as Kafka does.

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

    def values(self, now_ms: int) -> dict[str, float]:
        """Every metric by Kafka's name; times in ms unless the name says otherwise."""
        return {
            **_latency("heartbeat-response-time", self.heartbeat, now_ms, average=False),
            **_frequency("heartbeat", self.heartbeat, now_ms),
            **_latency("join-time", self.join, now_ms),
            **_frequency("join", self.join, now_ms),
            **_latency("sync-time", self.sync, now_ms),
            **_frequency("sync", self.sync, now_ms),
            **_latency("rebalance-latency", self.rebalance, now_ms),
            "rebalance-latency-total": float(self.rebalance.sum_ms),
            "rebalance-total": float(self.rebalance.total),
            "rebalance-rate-per-hour": self.rebalance.rate(now_ms, HOUR_MS),
            "failed-rebalance-total": float(self.failed_rebalance.total),
            "failed-rebalance-rate-per-hour": self.failed_rebalance.rate(now_ms, HOUR_MS),
            "last-rebalance-seconds-ago": _seconds_ago(self.last_rebalance_ms, now_ms),
            "last-heartbeat-seconds-ago": _seconds_ago(self.last_heartbeat_ms, now_ms),
        }


def commit_values(commit: Sensor, now_ms: int) -> dict[str, float]:
    """What consumers add for their commits (``ConsumerCoordinatorMetrics``)."""
    return {**_latency("commit-latency", commit, now_ms), **_frequency("commit", commit, now_ms)}


def _latency(name: str, sensor: Sensor, now_ms: int, *, average: bool = True) -> dict[str, float]:
    mean = {f"{name}-avg": sensor.average(now_ms)} if average else {}
    return {**mean, f"{name}-max": sensor.maximum(now_ms)}


def _frequency(name: str, sensor: Sensor, now_ms: int) -> dict[str, float]:
    return {f"{name}-rate": sensor.rate(now_ms), f"{name}-total": float(sensor.total)}


def _seconds_ago(at_ms: int | None, now_ms: int) -> float:
    return NEVER_S if at_ms is None else float((now_ms - at_ms) // SECOND_MS)
