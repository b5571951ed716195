"""What a herder has read of the configs it deals with as soon as it waits for nothing."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallbackCalled,
    ConfigSnapshotTaken,
    MemberEvent,
    PluginDrawn,
    RejoinRequested,
    RestartPlanned,
    TargetStateChanged,
    WorkerConfigured,
)
from rebalance_check.properties.connect.herder_waits import WAITS_FOR_NOTHING
from rebalance_check.properties.connect.idle_herders import BOOKKEEPING, Due, IdleHerderFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Violation
from rebalance_check.properties.views.simulated import RECORDED

UPDATE: Final = "onConnectorConfigUpdate"
TARGET: Final = "onConnectorTargetStateChange"
RESTART: Final = "onRestartRequest"

ASKS_FOR: Final = {
    UPDATE: "look at its configs for",
    "onConnectorConfigRemove": "look at its configs for",
    "onTaskConfigUpdate": "look at its configs for",
    TARGET: "apply the target state of",
    RESTART: "plan a restart of",
}
"""The callbacks of the config store after which a herder has something to do, and what that is."""


class ReadChangesAreAppliedViolated(Violation):
    """A herder that waited for nothing had read a change of the configs, and had not dealt with it."""


class _ReadChanges(IdleHerderFold):
    """Per worker: what it read and has not dealt with, by callback and connector, each since it was read first."""

    bookkeeping = BOOKKEEPING | {PluginDrawn, WorkerConfigured}
    needs = ((WorkerConfigured,), (ConfigCallbackCalled,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConfigCallbackCalled: self.on_callback,
                ConfigSnapshotTaken: self.on_snapshot,
                PluginDrawn: self.on_drawn,
                RejoinRequested: self.on_rejoining,
                RestartPlanned: self.on_planned,
                TargetStateChanged: self.on_target,
            },
        )
        self._read: dict[str, dict[tuple[str, str], ConfigCallbackCalled]] = {}
        self._restarts: set[tuple[str, str]] = set()

    def on_process(self, event: MemberEvent) -> None:
        """A new process reads all anew."""
        super().on_process(event)
        self._read.pop(event.member, None)
        self._restarts = {key for key in self._restarts if key[0] != event.member}

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """Its herder has to deal with that."""
        self.on_other(event)
        snapshot, claim = self.memory.of(event.member).snapshot, self.memory.of(event.member).claim or {}
        is_known = snapshot is not None and event.connector in dict(snapshot.connectors)
        if event.callback == UPDATE and is_known and event.connector in claim:
            self._restarts.add((event.member, event.connector))
        if event.callback in ASKS_FOR:
            self._read.setdefault(event.member, {}).setdefault((event.callback, event.connector), event)

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """It looks at its configs; what is not configured has no target state, and is not restarted."""
        self.on_stopping(event)
        configured, claim = {name for name, _ in event.connectors}, self.memory.of(event.member).claim or {}
        read = self._read.get(event.member, {})
        for callback, connector in list(read):
            restarts = callback == UPDATE and connector in claim and (event.member, connector) in self._restarts
            if connector not in configured or not (restarts or callback in {TARGET, RESTART}):
                del read[callback, connector]

    def on_rejoining(self, event: RejoinRequested) -> None:
        """An eager worker leaves target states and connectors to the round."""
        self.on_astray(event)
        read = self._read.get(event.member, {})
        for key in [key for key in read if key[0] in {TARGET, UPDATE}]:
            del read[key]

    def on_drawn(self, event: PluginDrawn) -> None:
        """It starts a connector anew."""
        self.on_other(event)
        self._restarts.discard((event.member, event.work))
        self._read.get(event.member, {}).pop((UPDATE, event.work), None)

    def on_planned(self, event: RestartPlanned) -> None:
        """It restarts what it runs of the connector."""
        self.on_stopping(event)
        self._read.get(event.member, {}).pop((RESTART, event.connector), None)

    def on_target(self, event: TargetStateChanged) -> None:
        """It applies the target state."""
        self.on_other(event)
        self._read.get(event.member, {}).pop((TARGET, event.connector), None)

    def due(self, member: str) -> Due | None:
        """What it read first."""
        event = next(iter(self._read.get(member, {}).values()), None)
        return None if event is None else Due(event.time_ms, event, f"{ASKS_FOR[event.callback]} {event.connector}")

    def done(self, due: Due) -> None:
        """The next one is looked at."""
        if isinstance(due.event, ConfigCallbackCalled):
            del self._read[due.event.member][due.event.callback, due.event.connector]


ReadChangesAreApplied: Final = Invariant(
    name="read_changes_are_applied",
    family="connect_duties",
    claim="a worker that takes part in no round, serves no request, and in which nothing happens but heartbeats, has "
    "dealt with all that it read: it looked at its configs for each connector and commit, started each connector "
    "of its own anew that has another configuration, applied each target state, and planned each restart",
    source="DistributedHerder.tick, ConfigUpdateListener, processTargetStateChanges, processRestartRequests",
    premises=(RECORDED, WAITS_FOR_NOTHING),
    exempted_by=(*sorted(BOOKKEEPING, key=lambda kind: kind.__name__),),
    violation=ReadChangesAreAppliedViolated,
    fold=_ReadChanges,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="w0")
    WorkerConfigured(member="w0", mode="eager")
    AssignmentAccepted(member="w0", generation=1, config_offset=0, work=())
    ConfigCallbackCalled(member="w0", callback="onConnectorTargetStateChange", connector="c")
    RunEnded(time_ms=900)
"""

CLAIMS: Final = (ReadChangesAreApplied,)
"""In the order in which reports name them."""
