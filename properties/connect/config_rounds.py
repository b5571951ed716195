"""Configs that concern the whole group make each worker that reads them join again."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConfigSnapshotTaken,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MembershipLost,
    MemberStarted,
    RejoinRequested,
    RequestSent,
    RunEnded,
    WorkerClaimed,
    WorkerConfigured,
    WorkerStopRequested,
)
from rebalance_check.properties.connect.plugin_runs import PluginRuns
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SIMULATED, Run

TASKS: Final = "onTaskConfigUpdate"
CAME: Final = "onConnectorConfigUpdate"
WENT: Final = "onConnectorConfigRemove"

BLOCKED_MS: Final = 45_000
"""Longer than this no herder is blocked that takes part in no round."""

ENDS: Final[tuple[type[Event], ...]] = (
    MemberStarted, MemberCrashed, MemberLeft, MemberPaused, MembershipLost, MemberClosing, WorkerStopRequested,
)  # fmt: skip
"""After these a worker joins anyway, or no more, or later."""


class NewConfigsLeadToARoundViolated(Violation):
    """A worker read that a connector came or went, or that tasks were committed, and did not ask for a round."""


class _Rounds(WorkerFold):
    """Per worker: the callback that asks for a round, since when its herder may deal with it, and its rounds since."""

    run: Run
    plugins: PluginRuns
    bookkeeping = frozenset({*ENDS, ConfigCallbackCalled, ConfigSnapshotTaken, RejoinRequested, WorkerClaimed,
                             WorkerConfigured})  # fmt: skip
    needs = ((WorkerConfigured,), (ConfigCallbackCalled,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(ENDS, self.on_excused),
            WorkerConfigured: self.on_process,
            ConfigSnapshotTaken: self.on_snapshot,
            ConfigCallbackCalled: self.on_callback,
            RejoinRequested: self.on_excused,
            WorkerClaimed: self.on_claimed,
            AssignmentAccepted: self.on_accepted,
            RequestSent: self.on_request,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._seen: dict[str, set[str]] = {}
        self._needs: dict[str, ConfigCallbackCalled] = {}
        self._since_ms: dict[str, int] = {}
        self._rounds: dict[str, int] = {}

    def share(self, memories: Memories) -> None:
        """The configs of accepted assignments, and whether the run is simulated, too."""
        super().share(memories)
        self.run, self.plugins = Run.among(memories), PluginRuns.among(memories)
        self.memories = (*self.memories, self.run, self.plugins)

    def on_process(self, event: WorkerConfigured) -> None:
        """It has read nothing."""
        self._seen[event.member] = set()

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """Its herder may know these connectors from here on."""
        self._seen.setdefault(event.member, set()).update(name for name, _ in event.connectors)

    def on_excused(self, event: MemberEvent) -> None:
        """It asks for a round, or need not."""
        self._needs.pop(event.member, None)
        self._since_ms.pop(event.member, None)

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """What its herder surely did not know, or surely knew, comes or goes."""
        if self.run.is_simulated and event.member not in self._needs and self._asks(event):
            self._needs[event.member] = event
            self._rounds[event.member] = 0
            if self.memory.of(event.member).accepted is not None:
                self._since_ms[event.member] = event.time_ms

    def _asks(self, event: ConfigCallbackCalled) -> bool:
        worker = self.memory.of(event.member)
        if worker.configured is None or worker.configured.exactly_once:
            return False
        if event.callback == TASKS:
            return True
        if event.callback == CAME:
            return event.connector not in self._seen.get(event.member, set())
        accepted = self.plugins.accepted.get(event.member)
        known = [dict(one.connectors) for one in (accepted, worker.snapshot) if one is not None]
        return event.callback == WENT and len(known) > 1 and all(event.connector in one for one in known)

    def on_claimed(self, event: WorkerClaimed) -> None:
        """It joins for another reason; its herder deals with the configs when it has accepted an assignment."""
        self._since_ms.pop(event.member, None)

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Between two rounds its herder has dealt with what it read."""
        if event.member in self._needs:
            self._rounds[event.member] += 1
            self._since_ms[event.member] = event.time_ms
            if self._rounds[event.member] > 1:
                self._report(event.member, event)

    def on_request(self, event: RequestSent) -> None:
        """Time goes on."""
        since_ms = self._since_ms.get(event.member)
        if since_ms is not None:
            self.compared = (self.compared or 0) + 1
            if event.time_ms > since_ms + BLOCKED_MS:
                self._report(event.member, event)

    def on_end(self, event: RunEnded) -> None:
        """A herder with nothing to do has dealt with all that it read."""
        if not event.pending:
            for member in list(self._needs):
                self._report(member, event)

    def _report(self, member: str, event: Event) -> None:
        self._since_ms.pop(member, None)
        need = self._needs.pop(member)
        self.contradiction(
            f"{member} reads configs that need a round, and does not ask for one",
            (f"the config store of {member} called {need.callback} for {need.connector} at {STEP};", need),
            (f"{member} had not asked for a round by {STEP}: contradiction.", event),
        )


NewConfigsLeadToARound: Final = Invariant(
    name="new_configs_lead_to_a_round",
    family="connect_duties",
    claim="a worker that reads that a connector came or went, or a commit of task configs, asks for a round, "
    "also where others do",
    source="DistributedHerder.ConfigUpdateListener, handleConfigUpdates; KAFKA-2371",
    premises=(
        SIMULATED,
        f"its herder is blocked for {BLOCKED_MS // 1000} s at most, and the leader of the group has no transactions",
        "its herder surely knew, or did not know, the connector: by all snapshots, or by its last two",
    ),
    exempted_by=(*ENDS, AssignmentAccepted, ConfigSnapshotTaken, RejoinRequested, WorkerClaimed),
    violation=NewConfigsLeadToARoundViolated,
    fold=_Rounds,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    ConfigCallbackCalled(member="w0", callback="onTaskConfigUpdate", connector="c")
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=())
    RequestSent(member="w0", api="Heartbeat", request=9, generation=1, time_ms=60000)
"""

CLAIMS: Final = (NewConfigsLeadToARound,)
"""In the order in which reports name them."""
