"""A registry of software's measurements of itself (``org.apache.kafka.common.metrics``).

A `Sensor` takes values. A `Metric` reads one figure, often of a sensor, at a given time; its group, name and tags are
its place in a `Metrics`. A value of the last `WINDOW_MS` counts for averages, maxima and rates: Kafka cuts that time
into samples of 30 s and drops them one by one; here the window slides with every value.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

WINDOW_MS: Final = 60_000
"""``metrics.num.samples`` (2) times ``metrics.sample.window.ms`` (30 s)."""

SHORTEST_WINDOW_MS: Final = 30_000
"""A rate is not counted over less time than one sample lasts."""

HOUR_MS: Final = 3_600_000
SECOND_MS: Final = 1_000

Value: TypeAlias = float | str
Measure: TypeAlias = Callable[[int], Value]
"""The value at a time in ms."""


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


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure, with Kafka's description of it."""

    group: str
    name: str
    tags: tuple[tuple[str, str], ...]
    description: str = field(compare=False)
    measure: Measure = field(compare=False, repr=False)

    def __str__(self) -> str:
        """``consumer-coordinator-metrics join-rate client-id=a``."""
        return " ".join([self.group, self.name, *(f"{name}={value}" for name, value in self.tags)])


class Metrics:
    """The metrics of any number of members, workers or other things, in the order in which they were registered."""

    def __init__(self) -> None:
        self._metrics: dict[Metric, None] = {}

    def add(self, metric: Metric) -> None:
        """Register a metric.

        Raises: RebalanceCheckError where its place is taken.
        """
        if metric in self._metrics:
            raise RebalanceCheckError(f"the metric {metric} is registered: give each member tags of its own")
        self._metrics[metric] = None

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._metrics)

    def values(self, now_ms: int) -> dict[Metric, Value]:
        """The value of each metric at a time."""
        return {metric: metric.measure(now_ms) for metric in self._metrics}

    def by_name(self, now_ms: int) -> dict[str, Value]:
        """The same by name, of a registry that one thing has for itself."""
        return {metric.name: value for metric, value in self.values(now_ms).items()}


class MetricGroup:
    """The metrics of one thing: they share the group and the tags, such as ``client-id``."""

    def __init__(self, metrics: Metrics, name: str, tags: Mapping[str, str]) -> None:
        self._metrics = metrics
        self._name = name
        self._tags = tuple(sorted(tags.items()))

    def add(self, name: str, description: str, measure: Measure) -> None:
        """Register a metric of this group.

        Raises: RebalanceCheckError where there is one of this name and these tags.
        """
        self._metrics.add(Metric(self._name, name, self._tags, description, measure))

    def add_meter(self, name: str, what: str, sensor: Sensor) -> None:
        """Register rate and total of a sensor (``createMeter``)."""
        self.add(f"{name}-rate", f"The number of {what} per second", sensor.rate)
        self.add(f"{name}-total", f"The total number of {what}", lambda _: float(sensor.total))
