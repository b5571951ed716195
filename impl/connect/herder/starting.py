"""A herder starts work: the difference between its assignment and its running work (``startWork``)."""

from __future__ import annotations

from rebalance_check.impl.connect.config.observing import config_text
from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.core import HerderCore
from rebalance_check.impl.connect.herder.task_instance import Prepare
from rebalance_check.impl.connect.herder.work_events import WorkKey, assigned_work, work_name
from rebalance_check.impl.connect.herder.worker import AlreadyRuns
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import EMPTY, ConnectMode
from rebalance_check.model.vocabulary.events import AssignmentAccepted


class Starting(HerderCore):
    """Starts connectors, then tasks: an eager worker, which stopped all before, all; a cooperative one the rest."""

    def start_work(self) -> None:
        """Start assigned work that does not run, as the config snapshot at the assignment's offset has it."""
        assigned = assigned_work(self.assignment or EMPTY)
        self.running -= self.tasks_to_restart
        self.tasks_to_restart.clear()
        missing = [key for key in assigned if key not in self.running]
        self._emit_accepted(missing)
        for key in missing:
            self._start(key)
        self.running = set() if self.mode is ConnectMode.EAGER else set(assigned)

    def _emit_accepted(self, work: list[WorkKey]) -> None:
        at = self.coordinator.generation()
        self.recorder.emit(
            AssignmentAccepted(
                member=self.member,
                generation=self.generation,
                member_id=at.member_id,
                config_offset=self.config_state.offset,
                work=tuple(map(work_name, work)),
            )
        )

    def _start(self, key: WorkKey) -> None:
        """Start one connector or task; work that cannot be started is FAILED."""
        if isinstance(key, ConnectorKey):
            self._start_connector(key)
        else:
            self._start_task(key)

    def _start_connector(self, key: ConnectorKey) -> None:
        try:
            self.worker.start_connector(key, self._target_state(key.connector), self._connector_started)
        except AlreadyRuns:
            self.statuses.failed(key)

    def _start_task(self, key: WorkKey) -> None:
        """A task without a configuration fails: in Kafka with a null dereference (KAFKA-17719)."""
        assert not isinstance(key, ConnectorKey)
        config = self.config_state.task_config(key.connector, key.task)
        applied = self.config_state.of_connector(key.connector).applied
        if config is None:
            self.worker.fail_to_start(key)
            return
        try:
            self.worker.start_task(
                key,
                self._target_state(key.connector),
                config_text(config),
                config_text(applied),
                prepare=self._preparation(key),
            )
        except AlreadyRuns:
            self.statuses.failed(key)

    def _target_state(self, connector: str) -> TargetState:
        return self.config_state.target_state(connector) or TargetState.STARTED

    def _preparation(self, key: TaskKey) -> Prepare | None:  # noqa: ARG002 - see `Fencing`
        """The step before the start of a task: overridden by the part that fences."""
        return None

    def _connector_started(self, connector: str) -> None:
        """A connector reached STARTED: overridden by the part that asks it for task configurations."""
