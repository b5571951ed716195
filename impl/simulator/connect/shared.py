"""The parts that the worker processes of a simulated Connect cluster share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.herder.producers import SharedProducers
from rebalance_check.impl.connect.status.shared_log import SharedLog
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.simulator.connect.disturbances import Disturbances
from rebalance_check.impl.simulator.connect.internal_rest import InternalRest


@dataclass(slots=True)
class SharedCluster:
    """Both topics, the way between workers, and time. ``pumps`` let the threads of each process go on."""

    clock: VirtualClock
    disturbances: Disturbances
    config_log: SharedConfigLog
    status_log: SharedLog
    rest: InternalRest
    producers: SharedProducers
    pumps: list[Callable[[], None]] = field(default_factory=list)

    def compact_statuses(self) -> None:
        """The status topic is compacted."""
        self.status_log.compact()

    def compact_configs(self) -> None:
        """The config topic is compacted."""
        self.config_log.compact()

    def pump_all(self) -> None:
        """Something was appended: every reader has something to read."""
        for pump in self.pumps:
            pump()
