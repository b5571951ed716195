"""How work ends: before its worker leaves, and at last also where that did not wait; and which tasks use topics."""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    CancelledWorkEnded,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RunEnded,
    TaskStarted,
    TaskStopped,
    TopicUsed,
    WorkCancelled,
    WorkStateChanged,
)
from rebalance_check.properties.connect.worker import work_of
from rebalance_check.properties.kinds import Handler, Invariant, Kind
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold

LONGEST_STOP_MS: Final = 60_000
"""Work that was asked to stop so long ago, in ms, does not end any more."""

AT_REST: Final = frozenset({"PAUSED", "STOPPED", "FAILED"})
"""The states in which no record passes through a task."""

Work: TypeAlias = ConnectorStarted | TaskStarted
Stopped: TypeAlias = ConnectorStopped | TaskStopped


class WorkerLeavesWhenItsWorkHasStoppedViolated(Violation):
    """A worker left its cluster while a connector or task of it ran."""


class CancelledWorkEndsViolated(Violation):
    """A connector or task that its worker did not wait for never ended."""


class OnlyRunningTasksUseTopicsViolated(Violation):
    """A record passed through a task that was paused, stopped, or had failed."""


class _OfProcesses(SimulatedFold):
    """Remembers something of each piece of work, until its process ends."""

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler]) -> None:
        ends: dict[type[Event], Handler] = dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft), self.on_process)
        super().__init__(invariant, {**ends, **handlers})
        self.known: dict[str, dict[str, Event]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """It takes all its work with it."""
        self.known.pop(event.member, None)

    def of(self, event: MemberEvent) -> dict[str, Event]:
        """What is remembered of the work of this process."""
        return self.known.setdefault(event.member, {})


class _Leaves(_OfProcesses):
    bookkeeping = frozenset({MemberStarted, MemberCrashed, ConnectorStarted, TaskStarted, ConnectorStopped,
                             TaskStopped, WorkCancelled})  # fmt: skip
    needs = ((ConnectorStarted, TaskStarted),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            ConnectorStarted: self.on_started,
            TaskStarted: self.on_started,
            ConnectorStopped: self.on_stopped,
            TaskStopped: self.on_stopped,
            WorkCancelled: self.on_cancelled,
            MemberLeft: self.on_left,
        }
        super().__init__(invariant, handlers)
        self.compared = 0

    def on_started(self, event: Work) -> None:
        """It runs from here on."""
        self.of(event)[work_of(event)] = event

    def on_stopped(self, event: Stopped) -> None:
        """It runs no more."""
        self.of(event).pop(work_of(event), None)

    def on_cancelled(self, event: WorkCancelled) -> None:
        """The worker has waited for it as long as it may."""
        self.of(event).pop(event.work, None)

    def on_left(self, event: MemberLeft) -> None:
        """Nothing runs."""
        running = self.known.pop(event.member, None)
        if running is None or not self.run.is_simulated:
            return
        self.compared = (self.compared or 0) + 1
        for work, started in sorted(running.items()):
            self.contradiction(
                f"{event.member} leaves while {work} runs",
                (f"{event.member} started {work} at {STEP};", started),
                (f"it neither stopped it nor gave up waiting for it, and has left at {STEP}: contradiction.", event),
            )


class _Cancelled(_OfProcesses):
    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft, WorkCancelled, CancelledWorkEnded})
    needs = ((WorkCancelled,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            WorkCancelled: self.on_cancelled,
            CancelledWorkEnded: self.on_ended,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0

    def on_cancelled(self, event: WorkCancelled) -> None:
        """It goes on for a while."""
        self.of(event)[event.work] = event

    def on_ended(self, event: CancelledWorkEnded) -> None:
        """It has ended."""
        self.of(event).pop(event.work, None)

    def on_end(self, event: RunEnded) -> None:
        """What was cancelled long ago has ended."""
        if not self.run.is_simulated:
            return
        for member, cancelled in sorted(self.known.items()):
            for work, since in sorted(cancelled.items()):
                self.compared = (self.compared or 0) + 1
                if event.time_ms >= since.time_ms + LONGEST_STOP_MS:
                    self.contradiction(
                        f"{work}, which {member} did not wait for, never ends",
                        (f"{member} had asked {work} to stop, and gave up waiting at {STEP};", since),
                        (f"it had not ended {event.time_ms - since.time_ms} ms later, at {STEP}: contradiction.",
                         event),
                    )  # fmt: skip


class _Uses(_OfProcesses):
    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft, TaskStarted, WorkStateChanged})
    needs = ((WorkStateChanged,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            TaskStarted: self.on_started,
            WorkStateChanged: self.on_state,
            TopicUsed: self.on_used,
        }
        super().__init__(invariant, handlers)
        self.compared = 0

    def on_started(self, event: TaskStarted) -> None:
        """A new instance, whose state is not known yet."""
        self.of(event).pop(event.task, None)

    def on_state(self, event: WorkStateChanged) -> None:
        """Its state from here on."""
        self.of(event)[event.work] = event

    def on_used(self, event: TopicUsed) -> None:
        """It runs."""
        if not self.run.is_simulated:
            return
        self.compared = (self.compared or 0) + 1
        state = self.of(event).get(event.task)
        if isinstance(state, WorkStateChanged) and state.state in AT_REST:
            self.contradiction(
                f"a record of {event.topic} passes through {event.task}, which is {state.state}",
                (f"{event.task} became {state.state} at {STEP};", state),
                (f"yet a record passed through it at {STEP}: contradiction.", event),
            )


WorkerLeavesWhenItsWorkHasStopped: Final = Invariant(
    name="worker_leaves_when_its_work_has_stopped",
    family="connect_work",
    claim="a worker that is stopped leaves its cluster when each of its connectors and tasks has stopped, or it has "
    "waited long enough",
    source='DistributedHerder.halt; Worker.stop ("Shutting down tasks ...")',
    premises=(SIMULATED,),
    exempted_by=(ConnectorStopped, MemberCrashed, MemberStarted, TaskStopped, WorkCancelled),
    violation=WorkerLeavesWhenItsWorkHasStoppedViolated,
    fold=_Leaves,
)
"""A worker that is stopped leaves when its work has stopped: the next worker starts it at once.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    TaskStarted(member="w0", generation=1, task="c-0")
    MemberLeft(member="w0")
"""

CancelledWorkEnds: Final = Invariant(
    name="cancelled_work_ends",
    family="connect_work",
    claim="a connector or task that was asked to stop, and that its worker did not wait for, ends at last",
    source="Worker.awaitStopTask, WorkerTask.cancel, WorkerConnector.cancel",
    premises=(SIMULATED, f"stop() of a plug-in comes back within {LONGEST_STOP_MS // 1000} s"),
    needs_end=True,
    exempted_by=(CancelledWorkEnded, MemberCrashed, MemberLeft, MemberStarted),
    violation=CancelledWorkEndsViolated,
    fold=_Cancelled,
    kind=Kind.LIVENESS,
)
"""Work that was cancelled ends at last: until then it runs twice.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkCancelled(member="w0", generation=1, work="c-0")
    RunEnded(time_ms=60000)
"""

OnlyRunningTasksUseTopics: Final = Invariant(
    name="only_running_tasks_use_topics",
    family="connect_work",
    claim="no record passes through a task while it is paused, or when it was stopped or has failed",
    source="WorkerSinkTask.iteration, WorkerSourceTask.execute (awaitUnpause); KIP-52, KIP-875",
    premises=(SIMULATED, "the history holds the states of tasks (WorkStateChanged), and the topics that they use"),
    exempted_by=(MemberCrashed, MemberLeft, MemberStarted, TaskStarted, WorkStateChanged),
    violation=OnlyRunningTasksUseTopicsViolated,
    fold=_Uses,
)
"""A paused task reads and writes nothing.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkStateChanged(member="w0", generation=1, work="c-0", state="PAUSED")
    TopicUsed(member="w0", generation=1, task="c-0", topic="t")
"""

CLAIMS: Final = (WorkerLeavesWhenItsWorkHasStopped, CancelledWorkEnds, OnlyRunningTasksUseTopics)
"""In the order in which reports name them."""
