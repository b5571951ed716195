"""The registry of metrics as a collector of ``prometheus_client``, which the extra ``prometheus`` installs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from rebalance_check.impl.runtime.metrics import Metrics

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_]")
VALUE: Final = "value"
"""The label of a metric that is a text, such as the leader's name: its value is 1."""


class MetricsCollector(Collector):
    """Gives the values of ``metrics`` when they are scraped; ``now_ms`` is the clock of the measured group.

    ``REGISTRY.register(MetricsCollector(metrics, clock))`` publishes them. A name is ``kafka_``, the group and Kafka's
    name, with underscores: ``kafka_consumer_coordinator_metrics_join_rate``. Tags are labels.
    """

    def __init__(self, metrics: Metrics, now_ms: Callable[[], int]) -> None:
        self._metrics = metrics
        self._now_ms = now_ms

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """A gauge for each name, with a sample for each member."""
        families: dict[str, GaugeMetricFamily] = {}
        for metric, value in self._metrics.values(self._now_ms()).items():
            labels = {_name(name): text for name, text in metric.tags}
            if isinstance(value, str):
                labels[VALUE] = value
            name = _name(f"kafka_{metric.group}_{metric.name}")
            if name not in families:
                families[name] = GaugeMetricFamily(name, metric.description, labels=list(labels))
            families[name].add_metric(list(labels.values()), 1.0 if isinstance(value, str) else value)
        yield from families.values()


def _name(text: str) -> str:
    return _NOT_IN_NAMES.sub("_", text)
