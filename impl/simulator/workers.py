"""Connect workers in the simulator: a worker coordinator, and a config topic that each worker reads at its own pace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from random import Random
from typing import Final

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.connect.config_topic import ConfigLog, ConfigReader
from rebalance_check.impl.connect.eager_worker import EagerWorker
from rebalance_check.impl.connect.worker.config import WorkerConfig
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.application import MembershipView, record_start
from rebalance_check.impl.simulator.group_config import SimulatedGroupConfig

UNSYNC_BACKOFF_MS: Final = 20_000
"""``worker.unsync.backoff.ms``: how long a worker stays away that could not read the config topic."""

LAG: Final = 0.5
"""The chance that, in a disturbed run, the reader of the config topic gets nothing between two polls."""


class ConnectConfigs:
    """What the cluster is configured to run: connectors ``c0`` and ``c1``, and a topic that tells the workers."""

    def __init__(self, tasks: int) -> None:
        self.log = ConfigLog()
        self._connectors = {"c0": tasks - tasks // 2, "c1": tasks // 2}
        self.log.append(self._connectors)

    def change(self, tasks: int) -> None:
        """The connector ``c0`` gets ``tasks`` tasks."""
        self._connectors = {**self._connectors, "c0": tasks}
        self.log.append(self._connectors)

    def to_own(self) -> tuple[str, ...]:
        """Every connector and task that somebody must run."""
        tasks = [f"{name}-{number}" for name, count in self._connectors.items() for number in range(count)]
        return (*(f"connector {name}" for name in self._connectors), *tasks)


class WorkerApplication(MembershipView, EagerWorker):
    """The coordinator of a worker and its herder; the config topic is late and unreadable as ``plan`` has it."""

    def __init__(
        self,
        name: str,
        settings: SimulatedGroupConfig,
        recorder: Recorder,
        *,
        log: ConfigLog,
        random: Random,
        jitter: Random,
        plan: Callable[[], FaultPlan],
    ) -> None:
        self._reader = ConfigReader(log)
        self._random = random
        self._plan = plan
        config = _worker_config(settings.client(name))
        super().__init__(config, recorder, member=name, url=f"http://{name}:8083/", configs=self._reader, random=jitter)
        record_start(recorder, name, config, "eager")

    def poll(self, now_ms: int) -> None:
        """One tick of the herder; the topic is out of reach as often as messages are lost."""
        chance = self._plan().drop
        self._reader.readable = not (chance and self._random.random() < chance)
        super().poll(now_ms)

    def work(self, now_ms: int) -> None:  # noqa: ARG002 - what an application has
        """The background reader of the config topic gets on."""
        if self._plan() is NO_FAULTS or self._random.random() >= LAG:
            self._reader.advance()

    @property
    def holds(self) -> tuple[str, ...]:
        """What runs here: connectors, then tasks."""
        running = self.running
        tasks = [f"{task.connector}-{task.task}" for task in sorted(running.tasks)]
        return (*(f"connector {name}" for name in sorted(running.connectors)), *tasks)


def _worker_config(client: ClientConfig) -> WorkerConfig:
    """The settings of a member of the group, for a worker of the mode ``eager``."""
    settings = {each.name: getattr(client, each.name) for each in fields(client)}
    return WorkerConfig(**settings, connect_protocol=ConnectMode.EAGER, worker_unsync_backoff_ms=UNSYNC_BACKOFF_MS)
