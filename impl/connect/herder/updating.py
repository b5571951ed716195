"""A herder learns of news in the config topic: callbacks note it, the next tick deals with it."""

from __future__ import annotations

from rebalance_check.impl.connect.config.changes import (
    ConfigChange,
    ConnectorConfigRemove,
    ConnectorConfigUpdate,
    LoggingLevelUpdate,
    SessionKeyUpdate,
    TargetStateChange,
    TaskConfigUpdate,
)
from rebalance_check.impl.connect.config.values import RestartRequest, SessionKey, TargetState
from rebalance_check.impl.connect.herder.completing import Completing
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.herder.work_events import WorkKey, assigned_work, work_name
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.impl.protocol.connect_protocol import EMPTY, ConnectMode
from rebalance_check.model.vocabulary.events import TargetStateChanged, TaskConfigsApplied


class Updating(Completing):
    """A connector that came or went, and every commit of task configurations, need a round of the whole group.

    Another configuration of a known connector concerns its owner alone, a target state every worker for itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self._needs_rebalance = False
        self._connector_updates: dict[str, None] = {}
        self._target_updates: dict[str, None] = {}
        self._task_updates: dict[str, tuple[int, ...]] = {}

    # ------------------------------------------------------------------------------------------------ callbacks

    def on_config_change(self, change: ConfigChange) -> None:
        """The config store read something (its listener); ends the present poll of the member."""
        match change:
            case ConnectorConfigUpdate(connector):
                self._note_connector(connector, comes_or_goes=connector not in self.config_state)
            case ConnectorConfigRemove(connector):
                self._note_connector(connector, comes_or_goes=connector in self.config_state)
            case TaskConfigUpdate(connector, tasks):
                self._task_updates[connector] = tasks
                self._needs_rebalance = True
                self._abandon_fencing(connector)
            case TargetStateChange(connector):
                self._target_updates[connector] = None
            case SessionKeyUpdate(key):
                self._take_session_key(key)
            case RestartRequest():
                self._note_restart(change)
            case LoggingLevelUpdate():
                return
        self.wake()

    def _note_connector(self, connector: str, *, comes_or_goes: bool) -> None:
        if comes_or_goes:
            self._needs_rebalance = True
        else:
            self._connector_updates[connector] = None

    def _take_session_key(self, key: SessionKey) -> None:
        """Overridden by the part that signs requests."""

    def _note_restart(self, request: RestartRequest) -> None:
        """Overridden by the part that restarts."""

    def _abandon_fencing(self, connector: str) -> None:
        """Overridden by the part that fences."""

    # ------------------------------------------------------------------------------------------------ the tick

    def _apply_updates(self) -> Steps[bool]:
        """Whether the tick ends here, since another round was asked for.

        An eager worker leaves all else to that round, which starts everything anew. A note that comes while a connector
        stops is newer than the snapshot, and waits for the next tick.
        """
        if not (self._needs_rebalance or self._connector_updates or self._target_updates or self._task_updates):
            return False
        eager = self.coordinator.mode is ConnectMode.EAGER
        if eager and not (self._needs_rebalance or self._connector_updates or self._target_updates):
            return False
        self.config_state = self.configs.snapshot()
        needs_rebalance, self._needs_rebalance = self._needs_rebalance, False
        if needs_rebalance:
            self.coordinator.request_rejoin("connectors or tasks were reconfigured")
        connectors, self._connector_updates = self._connector_updates, {}
        targets, self._target_updates = self._target_updates, {}
        updates: dict[str, tuple[int, ...]] = {}
        if eager and needs_rebalance:
            return True
        if not eager:
            updates, self._task_updates = self._task_updates, {}
        yield from self._restart_connectors(connectors)
        for connector in targets:
            self._apply_target_state(connector)
        yield from self._stop_reconfigured_tasks(updates)
        return needs_rebalance

    def _restart_connectors(self, connectors: dict[str, None]) -> Steps[None]:
        """Stop and start the connectors that are assigned here; one that is configured no more is only stopped."""
        here = set() if self.assignment is None else set(self.assignment.connectors)
        owned = [ConnectorKey(connector) for connector in connectors if connector in here]
        for key in owned:
            yield from self._stop_and_await((key,))
        for key in owned:
            if key.connector in self.config_state:
                self._start(key)

    def _apply_target_state(self, connector: str) -> None:
        """Have the connector and its tasks go on, pause or stop, as far as they are here."""
        if connector not in self.config_state:
            return
        state = self.config_state.target_state(connector) or TargetState.STARTED
        self.recorder.emit(TargetStateChanged(member=self.member, connector=connector, state=state.value))
        self.worker.transition(connector, state)

    def _stop_reconfigured_tasks(self, updates: dict[str, tuple[int, ...]]) -> Steps[None]:
        """Stop all tasks of the connectors whose tasks got configurations; the round that follows starts them anew.

        A commit that brought none stops nothing: superfluous tasks end when they are revoked.
        """
        assigned = assigned_work(self.assignment or EMPTY)
        for connector, numbers in updates.items():
            stopped = tuple(
                key for key in assigned if numbers and key.connector == connector and not isinstance(key, ConnectorKey)
            )
            self._emit_applied(connector, stopped)
            yield from self._stop_and_await(stopped)
            self.tasks_to_restart.update(stopped)

    def _emit_applied(self, connector: str, stopped: tuple[WorkKey, ...]) -> None:
        at = self.coordinator.generation()
        self.recorder.emit(
            TaskConfigsApplied(
                member=self.member,
                generation=self.generation,
                member_id=at.member_id,
                connector=connector,
                tasks=tuple(map(work_name, stopped)),
            )
        )
