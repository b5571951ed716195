"""A worker applies the target states that the config topic says."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    Event,
    MemberEvent,
    PluginDrawn,
    TargetStateChanged,
    TaskConfigsGenerated,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.plugin_runs import RUNNING
from rebalance_check.properties.connect.plugin_states import STARTED
from rebalance_check.properties.connect.worker import connector_of
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold, WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

PAUSED: Final = "PAUSED"


class AppliedTargetStateIsCurrentViolated(Violation):
    """A worker applied another target state than it had read."""


class _Applied(WorkerFold):
    needs = ((ConfigSnapshotTaken,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {TargetStateChanged: self.on_changed})
        self.compared = 0

    def on_changed(self, event: TargetStateChanged) -> None:
        """The last snapshot says the same of the connector."""
        snapshot = self.memory.of(event.member).snapshot
        wanted = dict(snapshot.target_states).get(event.connector) if snapshot is not None else None
        if snapshot is None or wanted is None:
            return
        self.compared = (self.compared or 0) + 1
        if wanted != event.state:
            self.contradiction(
                f"{event.member} has {event.connector} {event.state}, which should be {wanted}",
                (f"{event.member} read at {STEP} that {event.connector} should be {wanted};", snapshot),
                (f"it applies {event.state} at {STEP}: contradiction.", event),
            )


class OnlyStartedWorkRunsViolated(Violation):
    """Work ran whose connector was paused or stopped, or such a connector was asked for task configs."""


class _StartedOnly(SimulatedWorkerFold):
    """Per worker: the target states that its herder may know of each connector, and what it starts that is none."""

    bookkeeping = frozenset({*PROCESS, AssignmentAccepted, ConfigSnapshotTaken, PluginDrawn, TargetStateChanged})
    needs = ((WorkerConfigured,), (ConfigSnapshotTaken,), (PluginDrawn,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            ConfigSnapshotTaken: self.on_snapshot,
            AssignmentAccepted: self.on_accepted,
            PluginDrawn: self.on_drawn,
            TargetStateChanged: self.on_target,
            WorkStateChanged: self.on_changed,
            TaskConfigsGenerated: self.on_generated,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._known: dict[str, list[ConfigSnapshotTaken]] = {}
        self._waiting: dict[tuple[str, str], ConfigSnapshotTaken] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A new process knows nothing, and runs nothing."""
        self._known.pop(event.member, None)
        for key in [key for key in self._waiting if key[0] == event.member]:
            del self._waiting[key]

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """Its herder may know this one, or still one before."""
        if event.member in self._known:
            self._known[event.member].append(event)

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its herder knows the configs of this assignment."""
        snapshot = self.memory.of(event.member).snapshot
        self._known.pop(event.member, None)
        if snapshot is not None and snapshot.offset == event.config_offset and self.run.is_recorded:
            self._known[event.member] = [snapshot]

    def on_drawn(self, event: PluginDrawn) -> None:
        """It starts, or waits where its connector is paused; only a connector can be stopped, and stay."""
        key, known = (event.member, event.work), self._known.get(event.member, [])
        connector = connector_of(event.work)
        self._waiting.pop(key, None)
        states = {dict(snapshot.target_states).get(connector, STARTED) for snapshot in known}
        if states and (states == {PAUSED} or (STARTED not in states and connector == event.work)):
            self._waiting[key] = known[-1]

    def on_target(self, event: TargetStateChanged) -> None:
        """What waits goes on."""
        for key in [key for key in self._waiting if key[0] == event.member]:
            if event.state == STARTED and connector_of(key[1]) == event.connector:
                del self._waiting[key]

    def on_changed(self, event: WorkStateChanged) -> None:
        """What waits does not run."""
        if event.member not in self._known or event.state != RUNNING:
            return
        self.compared = (self.compared or 0) + 1
        waits = self._waiting.get((event.member, event.work))
        if waits is not None:
            state = dict(waits.target_states).get(connector_of(event.work))
            self.contradiction(
                f"{event.member} runs {event.work}, whose connector should be {state}",
                (f"{event.member} read by {STEP} that {connector_of(event.work)} should be {state};", waits),
                (f"{event.work}, which it started then, is RUNNING at {STEP}: contradiction.", event),
            )

    def on_generated(self, event: TaskConfigsGenerated) -> None:
        """Only a connector that runs is asked."""
        worker, known = self.memory.of(event.member), self._known.get(event.member)
        if known is None:
            return
        self.compared = (self.compared or 0) + 1
        state, states = worker.states.get(event.connector), {dict(s.target_states).get(event.connector) for s in known}
        if state is None or state.state != RUNNING:
            self._report(event, "which does not run there", state)
        elif STARTED not in states and None not in states:
            self._report(event, "which should not run", known[-1])

    def _report(self, event: TaskConfigsGenerated, why: str, since: Event | None) -> None:
        self.contradiction(
            f"{event.member} asks {event.connector} for task configs, {why}",
            *([(f"that is so since {STEP};", since)] if since is not None else []),
            (f"{event.member} asked {event.connector} for task configs at {STEP}: contradiction.", event),
        )


AppliedTargetStateIsCurrent: Final = Invariant(
    name="applied_target_state_is_current",
    family="connect_work",
    claim="a worker applies the target state of a connector that its last snapshot of the config topic has",
    source="DistributedHerder.processTargetStateChanges; KIP-875",
    premises=("a connector without a target state in the snapshot says nothing",),
    exempted_by=(ConfigSnapshotTaken,),
    violation=AppliedTargetStateIsCurrentViolated,
    fold=_Applied,
)
"""The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), target_states=(("c", "PAUSED"),))
    TargetStateChanged(member="w0", connector="c", state="STARTED")
"""

OnlyStartedWorkRuns: Final = Invariant(
    name="only_started_work_runs",
    family="connect_work",
    claim="a connector or task that a worker starts while its connector is paused or stopped does not run before that "
    "is resumed, and only a connector that runs, and should, is asked for task configs",
    source="Worker.startConnector, startTask; DistributedHerder.reconfigureConnector; KIP-875",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, AssignmentAccepted, ConfigSnapshotTaken, PluginDrawn, TargetStateChanged, WorkStateChanged),
    violation=OnlyStartedWorkRunsViolated,
    fold=_StartedOnly,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), target_states=(("c", "PAUSED"),))
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c",))
    PluginDrawn(member="w0", work="c")
    WorkStateChanged(member="w0", generation=1, work="c", state="RUNNING")
"""

CLAIMS: Final = (AppliedTargetStateIsCurrent, OnlyStartedWorkRuns)
"""In the order in which reports name them."""
