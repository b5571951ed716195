"""The parts that all of a herder shares: its settings, its stores, its assignment, and its running work."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from rebalance_check.impl.connect.config.errors import ConfigStoreError
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.peers import Peers
from rebalance_check.impl.connect.herder.producers import Producers
from rebalance_check.impl.connect.herder.statuses import StatusWriter
from rebalance_check.impl.connect.herder.stopping import StopJob
from rebalance_check.impl.connect.herder.threads import Threads
from rebalance_check.impl.connect.herder.waits import Steps, Wait, never
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.herder.worker import Worker
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.connect.workers.metrics import WorkerRebalanceMetrics
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode
from rebalance_check.impl.runtime.metrics import Metrics, Value
from rebalance_check.impl.runtime.recorder import Recorder

BACKOFF_RETRIES: Final = 5
"""``DistributedHerder.BACKOFF_RETRIES``: how often a cooperative worker waits before it gives everything up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderParts:
    """The parts that a herder is made of.

    ``configs`` and ``statuses`` are its stores, ``worker`` runs its connectors and tasks, ``threads`` its process,
    ``peers`` how it reaches other workers, ``producers`` the transactional producers of tasks.
    """

    member: str
    url: str
    config: WorkerConfig
    settings: HerderConfig
    recorder: Recorder
    configs: ConfigStore
    statuses: StatusWriter
    worker: Worker
    threads: Threads
    peers: Peers
    producers: Producers


class HerderCore:
    """The state of a herder (``DistributedHerder``); only its own thread changes it, but for notes of callbacks."""

    coordinator: WorkerCoordinator

    def __init__(self) -> None:
        self.metrics = WorkerRebalanceMetrics()
        self.assignment: ConnectAssignment | None = None
        self.generation = -1
        self.mode = ConnectMode.EAGER
        self.running: set[WorkKey] = set()
        self.config_state = ConfigSnapshot()
        self.resolved = True
        self.scheduled_ms: int | None = None
        self.tasks_to_restart: set[WorkKey] = set()
        self._revocations_to_follow = False
        self._can_read_configs = True
        self._backoff_retries = BACKOFF_RETRIES
        self._stop_requested = False
        self._woken = False
        self._stop_job: StopJob | None = None

    def use(self, parts: HerderParts) -> None:
        """Take over the parts."""
        self.member, self.url, self.config, self.settings = parts.member, parts.url, parts.config, parts.settings
        self.recorder, self.configs, self.statuses = parts.recorder, parts.configs, parts.statuses
        self.worker, self.threads = parts.worker, parts.threads
        self.peers, self.producers = parts.peers, parts.producers

    @property
    def now_ms(self) -> int:
        """The present time in ms."""
        return self.threads.now_ms

    def register_metrics(self, metrics: Metrics) -> None:
        """Register the worker's metrics: of its member of the group, and of its rebalances.

        Raises: RebalanceCheckError where metrics of a worker with this client id are registered.
        """
        self.coordinator.register_metrics(metrics)
        self.metrics.register(metrics, self.coordinator, lambda: self.generation)

    def metric_values(self) -> dict[str, Value]:
        """The worker's measurements up to now, by Kafka's names."""
        metrics = Metrics()
        self.register_metrics(metrics)
        return metrics.by_name(self.now_ms)

    # ------------------------------------------------------------------------------------------------ who leads

    @property
    def is_leader(self) -> bool:
        """Whether this worker leads its group now, and knows it; never while it rebalances."""
        return self.coordinator.is_leader()

    @property
    def leader_url(self) -> str | None:
        """Where the leader of the last assignment is reached, this worker's own URL included."""
        return None if self.assignment is None else self.assignment.leader_url

    def wake(self) -> None:
        """End the present poll of the member, or the next one (``WorkerGroupMember.wakeup``).

        A revocation is not interrupted: Java's thread waits for stops and flushes, not for the network, then.
        """
        self._woken = True
        if self._stop_job is None:
            self.coordinator.wake_up()
        self.threads.wake_herder()

    # ------------------------------------------------------------------------------------------------ waiting

    def _sleep(self, for_ms: int) -> Steps[None]:
        yield Wait(never, self.now_ms + for_ms)

    def _await(self, call: ConfigCall) -> Steps[ConfigStoreError | None]:
        """Wait for the end of a call of the config store; the error that it raised, or None."""
        while not call.done:
            deadline_ms = self.configs.deadline_of(call)
            yield Wait(partial(self._is_over, call, deadline_ms), deadline_ms)
            self.configs.expire()
        return call.error

    def _is_over(self, call: ConfigCall, awaited_ms: int | None) -> bool:
        """Whether a call ended, or its time is over or is another than it was: a transaction has none."""
        deadline_ms = self.configs.deadline_of(call)
        return call.done or deadline_ms != awaited_ms or (deadline_ms is not None and deadline_ms <= self.now_ms)
