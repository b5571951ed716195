"""A plug-in that is through with its start or stop is RUNNING, PAUSED or STOPPED then, as it was to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectorStopped,
    Event,
    MemberEvent,
    MemberPaused,
    MemberResumed,
    PluginDrawn,
    PluginFailed,
    RequestSent,
    RunEnded,
    TargetStateChanged,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.plugin_runs import RUNNING, STEPS, PluginFold, PluginRun
from rebalance_check.properties.connect.worker import FAILED, is_task_of
from rebalance_check.properties.contract.pace import SLACK_MS
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

STARTED: Final = "STARTED"
STOPPED: Final = "STOPPED"


class PluginsReachTheirStateViolated(Violation):
    """A plug-in was through with its start or stop, and its worker went on with it late, or never."""


@dataclass(slots=True, eq=False)
class _Due:
    """What a plug-in must have become by ``at_ms``, where its process runs: one of ``states`` (none: any)."""

    run: PluginRun
    cause: Event
    takes_ms: int
    at_ms: int
    states: frozenset[str] = frozenset()


class _Reaching(PluginFold):
    bookkeeping = frozenset({*PROCESS, MemberPaused, MemberResumed, TaskStarted, PluginDrawn, TargetStateChanged,
                             ConnectorStopped, TaskStopped, WorkCancelled, PluginFailed})  # fmt: skip

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_gone),
            MemberPaused: self.on_paused,
            MemberResumed: self.on_resumed,
            PluginDrawn: self.on_drawn,
            TaskStarted: self.on_started,
            TargetStateChanged: self.on_target,
            WorkStateChanged: self.on_changed,
            PluginFailed: self.on_failed,
            ConnectorStopped: self.on_stopped,
            TaskStopped: self.on_stopped,
            WorkCancelled: self.on_cancelled,
            RequestSent: self.on_request,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._due: dict[str, dict[str, _Due]] = {}
        self._paused: set[str] = set()

    def on_gone(self, event: MemberEvent) -> None:
        """Its plug-ins are gone with it."""
        self._due.pop(event.member, None)
        self._paused.discard(event.member)

    def on_paused(self, event: MemberPaused) -> None:
        """Nothing is due of a process that stands still."""
        self._paused.add(event.member)

    def on_resumed(self, event: MemberResumed) -> None:
        """All may begin anew."""
        self._paused.discard(event.member)
        for due in self._due.get(event.member, {}).values():
            due.at_ms = event.time_ms + due.takes_ms

    def on_drawn(self, event: PluginDrawn) -> None:
        """A thread begins, and calls ``start``; with exactly-once support others come before a task."""
        run = self.plugins.runs[event.member, event.work]
        if run.has_begun:
            self._expect(run, event, event.begin_ms + event.start_ms)

    def on_started(self, event: TaskStarted) -> None:
        """With exactly-once support a task calls ``start`` now."""
        run = self.plugins.runs.get((event.member, event.task))
        if run is not None and run.drawn.time_ms < event.time_ms:
            self._expect(run, event, run.drawn.start_ms)

    def _expect(self, run: PluginRun, cause: MemberEvent, takes_ms: int, *states: str) -> None:
        takes_ms += STEPS * SLACK_MS
        due = _Due(run, cause, takes_ms, cause.time_ms + takes_ms, frozenset(states))
        self._due.setdefault(cause.member, {})[run.drawn.work] = due

    def on_target(self, event: TargetStateChanged) -> None:
        """Everything of the connector is to reach this state; a stopped one has no tasks, which end by a round."""
        worker = self.memory.of(event.member)
        is_fencing = worker.configured is None or worker.configured.exactly_once
        for run in self.plugins.of_worker(event.member):
            work, drawn = run.drawn.work, run.drawn
            is_task = is_task_of(work, event.connector)
            if work != event.connector and not is_task:
                continue
            self._due.get(event.member, {}).pop(work, None)
            wanted = RUNNING if event.state == STARTED else event.state
            if run.state in {wanted, FAILED} or (is_task and (event.state == STOPPED or is_fencing)):
                continue
            takes_ms = drawn.begin_ms + 2 * (drawn.start_ms + drawn.stop_ms)
            self._expect(run, event, takes_ms, wanted)

    def on_changed(self, event: WorkStateChanged) -> None:
        """It got there, or not yet."""
        due = self._due.get(event.member, {}).get(event.work)
        if due is not None and (not due.states or event.state in due.states or event.state == FAILED):
            del self._due[event.member][event.work]
            self._look(event.member, due, event)
        run = self.plugins.runs.get((event.member, event.work))
        if run is not None and run.ran is event and run.drawn.fails_after_ms >= 0:
            self._expect(run, event, run.drawn.fails_after_ms + run.drawn.stop_ms, FAILED)

    def on_failed(self, event: PluginFailed) -> None:
        """What runs fails now, unless it is on its way out."""
        run = self.plugins.runs.get((event.member, event.work))
        if run is not None and run.state == RUNNING and event.work not in self._due.get(event.member, {}):
            self._expect(run, event, run.drawn.stop_ms, FAILED)

    def on_stopped(self, event: ConnectorStopped | TaskStopped) -> None:
        """It has ended."""
        work = event.connector if isinstance(event, ConnectorStopped) else event.task
        self._due.get(event.member, {}).pop(work, None)

    def on_cancelled(self, event: WorkCancelled) -> None:
        """Of what was given up it is not recorded what becomes of it."""
        self._due.get(event.member, {}).pop(event.work, None)

    def on_request(self, event: RequestSent) -> None:
        """Time goes on."""
        overdue = [due for due in self._due.get(event.member, {}).values() if due.at_ms < event.time_ms]
        for due in overdue:
            self._due[event.member].pop(due.run.drawn.work)
            self._look(event.member, due, event)

    def on_end(self, event: RunEnded) -> None:
        """Nothing comes any more."""
        for member, dues in list(self._due.items()):
            for due in dues.values():
                self._look(member, due, event)
        self._due.clear()

    def _look(self, member: str, due: _Due, event: Event) -> None:
        """Whether it came in time."""
        if member in self._paused:
            return
        self.compared = (self.compared or 0) + 1
        if event.time_ms <= due.at_ms:
            return
        work, wanted = due.run.drawn.work, " or ".join(sorted(due.states)) or "in any state"
        self.contradiction(
            f"{work} is not {wanted} at {member} when its plug-in is through",
            (f"the plug-in that {member} starts for {work} was drawn at {STEP};", due.run.drawn),
            (f"what happened at {STEP} makes it {wanted} within {due.takes_ms} ms;", due.cause),
            (f"it was not so at {STEP}, and its process had not stood still: contradiction.", event),
        )


PluginsReachTheirState: Final = Invariant(
    name="plugins_reach_their_state",
    family="connect_work",
    claim="a connector or task that was started, paused, stopped or resumed is so as soon as its plug-in is through "
    "with that, and FAILED as soon as its plug-in raises, unless it ends before",
    source="WorkerConnector.doTransitionTo, WorkerTask.transitionTo; DistributedHerder.processTargetStateChanges",
    premises=(
        "the run is simulated, and says how each plug-in behaves",
        "with exactly-once support tasks are looked at from their start on alone",
    ),
    exempted_by=(
        ConnectorStopped,
        MemberPaused,
        PluginFailed,
        TaskStopped,
        WorkCancelled,
        WorkerConfigured,
        WorkStateChanged,
        *PROCESS,
    ),
    violation=PluginsReachTheirStateViolated,
    fold=_Reaching,
)
"""The smallest history that breaks it::

    PluginDrawn(member="w0", work="c")
    WorkStateChanged(member="w0", generation=1, work="c", state="RUNNING")
    TargetStateChanged(member="w0", connector="c", state="PAUSED")
    RequestSent(member="w0", api="Heartbeat", request=9, generation=1, time_ms=3000)
"""

CLAIMS: Final = (PluginsReachTheirState,)
"""In the order in which reports name them."""
