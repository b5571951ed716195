"""How a connector gets its tasks: its owner asks it for task configurations, which the leader writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rebalance_check.impl.connect.config.observing import config_text
from rebalance_check.impl.connect.config.values import Properties, TargetState
from rebalance_check.impl.connect.herder.fencing import Fencing
from rebalance_check.impl.connect.herder.peers import Answer, PutTaskConfigs, TaskConfig
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.model.vocabulary.events import TaskConfigsGenerated

RETRY_MS: Final = 250
MOST_RETRY_MS: Final = 60_000
"""The exponential back-off after task configurations could not be written."""

TASKS_MAX: Final = "tasks.max"
VERSION: Final = "version"


class Reconfiguring(Fencing):
    """The owner of a connector's instance; the tasks of a simulated connector follow from its configuration."""

    def _connector_started(self, connector: str) -> None:
        """The connector reached STARTED."""
        self.request_reconfiguration(connector)

    def request_reconfiguration(self, connector: str, attempt: int = 0) -> None:
        """Look at the connector's task configurations on the herder's thread; after a failure later each time."""
        delay_ms = 0 if attempt == 0 else min(MOST_RETRY_MS, RETRY_MS << min(attempt - 1, 16))
        self.add_request(
            delay_ms, lambda: self._reconfigure(connector, attempt), operation="reconfigure", work=connector
        )

    def task_configs(self, config: Properties) -> tuple[TaskConfig, ...]:
        """The answer of a connector with this configuration to ``taskConfigs``; other connectors override it."""
        return task_configs(config)

    def _reconfigure(self, connector: str, attempt: int) -> Steps[None]:
        """Compute task configurations and have them written if they differ from those that are known."""
        config = self.config_state.config(connector)
        started = self.config_state.target_state(connector) is TargetState.STARTED
        if config is None or not started or not self.worker.is_running(ConnectorKey(connector)):
            return
        configs = self.task_configs(config)
        changed = self._differ(connector, configs)
        self._emit_generated(connector, config, configs, published=changed)
        if not changed:
            return

        def retry() -> None:
            self.request_reconfiguration(connector, attempt + 1)

        if self.is_leader:
            if not (yield from self._write_task_configs(connector, configs)):
                retry()
        else:
            self._forward(connector, configs, retry)

    def _differ(self, connector: str, configs: tuple[TaskConfig, ...]) -> bool:
        """``taskConfigsChanged``: another number, other configurations, or another one of the connector since."""
        state = self.config_state.of_connector(connector)
        if len(configs) != len(self.config_state.tasks(connector)):
            return True
        if any(self.config_state.task_config(connector, number) != one for number, one in enumerate(configs)):
            return True
        return state.applied != state.config

    def _forward(self, connector: str, configs: tuple[TaskConfig, ...], retry: Callable[[], None]) -> None:
        """Ask the leader of the last assignment; anything but success is tried again."""
        if self.leader_url is None or self.leader_url == self.url:
            retry()
            return

        def answered(answer: Answer) -> None:
            if answer is not Answer.OK:
                retry()

        self.ask_leader(self.leader_url, PutTaskConfigs(connector, configs), answered)

    def _write_task_configs(self, connector: str, configs: tuple[TaskConfig, ...]) -> Steps[bool]:
        """The leader writes them; whether that succeeded. A failed transaction shows that another leads."""
        return (yield from self._written(self.configs.put_tasks(connector, configs)))

    def _emit_generated(
        self, connector: str, config: Properties, configs: tuple[TaskConfig, ...], *, published: bool
    ) -> None:
        at = self.coordinator.generation()
        self.recorder.emit(
            TaskConfigsGenerated(
                member=self.member,
                generation=self.generation,
                member_id=at.member_id,
                connector=connector,
                connector_config=config_text(config),
                tasks=tuple((f"{connector}-{number}", config_text(one)) for number, one in enumerate(configs)),
                published=published,
                config_offset=self.config_state.offset,
            )
        )


def task_configs(config: Properties) -> tuple[TaskConfig, ...]:
    """The answer of a simulated connector to ``taskConfigs``: ``tasks.max`` of them, with the connector's version."""
    count = int(str(config.get(TASKS_MAX) or 0))
    return tuple({"task.id": str(number), VERSION: str(config.get(VERSION))} for number in range(count))
