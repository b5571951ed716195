"""The work of a process (``Worker``): at most one instance of each connector and task, and cancelled ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.connector_instance import ConnectorInstance
from rebalance_check.impl.connect.herder.instance import Instance, InstanceState, Surroundings
from rebalance_check.impl.connect.herder.task_instance import Prepare, TaskInstance
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

BehaviourOf = Callable[[WorkKey], Behaviour]
"""The behaviour of the next start of a connector or task."""


class AlreadyRuns(RebalanceCheckError):  # noqa: N818 - named for the mistake
    """A connector or task was to be started that exists in this process (Kafka's ``ConnectException``)."""


class Worker:
    """The connectors and tasks of one worker process, by key; cancelled ones are not among them."""

    def __init__(self, around: Surroundings, behaviour_of: BehaviourOf) -> None:
        self.instances: dict[WorkKey, Instance] = {}
        self._around = around
        self._behaviour_of = behaviour_of

    def start_connector(self, key: ConnectorKey, target: TargetState, reached: Callable[[str], None]) -> None:
        """Start a connector and have it reach its target state.

        Raises: AlreadyRuns.
        """
        self._refuse_a_second(key)
        self._around.events.started(key)
        self._begin(ConnectorInstance(key, self._behaviour_of(key), target, self._around, reached))

    def start_task(
        self,
        key: WorkKey,
        target: TargetState,
        config: str = "",
        connector_config: str = "",
        *,
        prepare: Prepare | None = None,
    ) -> None:
        """Start a task with its configuration and that of its connector, as texts for events; ``prepare`` comes first.

        Raises: AlreadyRuns.
        """
        self._refuse_a_second(key)
        record_start = partial(self._around.events.started, key, config, connector_config)
        if prepare is None:
            record_start()
        self._begin(
            TaskInstance(key, self._behaviour_of(key), target, self._around, prepare=prepare, record_start=record_start)
        )

    def fail_to_start(self, key: WorkKey) -> None:
        """Write FAILED for work that could not be started at all."""
        self._around.events.state_changed(key, InstanceState.FAILED.value)
        self._around.statuses.failed(key)

    def _refuse_a_second(self, key: WorkKey) -> None:
        if key in self.instances:
            raise AlreadyRuns(f"{key} exists in this worker: stop it before it is started again")

    def _begin(self, instance: Instance) -> None:
        self.instances[instance.key] = instance
        instance.begin()

    def stop(self, key: WorkKey) -> Instance | None:
        """Ask an instance to end and take it off the list; None where there is none."""
        instance = self.instances.pop(key, None)
        if instance is not None:
            instance.stop()
            instance.forget()
        return instance

    def transition(self, connector: str, target: TargetState) -> None:
        """Have a connector and its tasks reach a target state, as far as they are here."""
        for key, instance in list(self.instances.items()):
            if key.connector == connector:
                instance.transition_to(target)

    def is_running(self, key: WorkKey) -> bool:
        """Whether the plug-in of this connector or task runs here."""
        instance = self.instances.get(key)
        return instance is not None and instance.state is InstanceState.RUNNING
