"""A task starts once, before it runs for the first time: also one that was paused until then (``awaitUnpause``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    MemberEvent,
    PluginDrawn,
    TargetStateChanged,
    TaskStarted,
    WorkStateChanged,
)
from rebalance_check.properties.connect.plugin_runs import RUNNING, PluginFold, PluginRun
from rebalance_check.properties.connect.plugin_states import STARTED
from rebalance_check.properties.connect.targets import PAUSED
from rebalance_check.properties.connect.worker import connector_of, is_task_of
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS


class TasksStartOnceViolated(Violation):
    """A task ran that had not started, or started again."""


@dataclass(slots=True, eq=False)
class _Task:
    """What a task is on its way to RUNNING from: it was drawn, resumed or, behind all that precedes it, started.

    ``state`` is the last one that was recorded.
    """

    since: MemberEvent
    state: str = ""


class _Starts(PluginFold):
    """Per worker and task: since when it can start, or run on."""

    bookkeeping = frozenset({*PROCESS, PluginDrawn, TargetStateChanged, TaskStarted})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_gone),
            PluginDrawn: self.on_drawn,
            TaskStarted: self.on_started,
            TargetStateChanged: self.on_target,
            WorkStateChanged: self.on_changed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._tasks: dict[tuple[str, str], _Task] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """Its tasks are gone with it."""
        for key in [key for key in self._tasks if key[0] == event.member]:
            del self._tasks[key]

    def on_drawn(self, event: PluginDrawn) -> None:
        """Its thread begins."""
        if connector_of(event.work) != event.work:
            self._tasks[event.member, event.work] = _Task(event)

    def on_started(self, event: TaskStarted) -> None:
        """With exactly-once support what precedes its start is over now."""
        if (task := self._tasks.get((event.member, event.task))) is not None:
            task.since = event

    def on_target(self, event: TargetStateChanged) -> None:
        """One that waits starts now, or runs on."""
        for (member, work), task in self._tasks.items():
            is_resumed = event.state == STARTED and task.state == PAUSED
            if is_resumed and member == event.member and is_task_of(work, event.connector):
                task.since = event

    def on_changed(self, event: WorkStateChanged) -> None:
        """A task runs."""
        task, run = self._tasks.get((event.member, event.work)), self.plugins.runs.get((event.member, event.work))
        if task is None or run is None:
            return
        before, task.state = task.state, event.state
        if event.state == RUNNING:
            self.compared = (self.compared or 0) + 1
            against = _of_first(run, task, event) if run.ran is event else _of_later(task, before, event)
            if against:
                self._report(run, task, event, against)

    def _report(self, run: PluginRun, task: _Task, event: WorkStateChanged, against: str) -> None:
        self.contradiction(
            f"{event.work} is {event.state} at {event.member}, and {against}",
            (f"the plug-in that {event.member} starts for {event.work} was drawn at {STEP};", run.drawn),
            (f"it can be on its way to {event.state} since {STEP};", task.since),
            (f"it was so at {STEP}, and {against}: contradiction.", event),
        )


def _of_first(run: PluginRun, task: _Task, event: WorkStateChanged) -> str:
    """Why a task that runs for the first time cannot have started; empty where it can."""
    if not run.has_begun:
        return "what precedes its start is not over"
    takes_ms = run.drawn.start_ms + (run.drawn.begin_ms if task.since is run.drawn else 0)
    early_ms = task.since.time_ms + takes_ms - event.time_ms
    return f"start of its plug-in returns {early_ms} ms later at the earliest" if early_ms > 0 else ""


def _of_later(task: _Task, before: str, event: WorkStateChanged) -> str:
    """Why a task that ran before cannot run on; empty where it can."""
    if before == RUNNING:
        return "it is so already, so that it has started twice"
    if not isinstance(task.since, TargetStateChanged):
        return "nothing has resumed it"
    late_ms = event.time_ms - task.since.time_ms
    return f"it started before, so that it had to run on {late_ms} ms ago, when it was resumed" if late_ms > 0 else ""


TasksStartOnce: Final = Invariant(
    name="tasks_start_once",
    family="connect_work",
    claim="a task is RUNNING for the first time only when start of its plug-in has returned, and what precedes that "
    "with exactly-once support is over, also where it was paused until then; one that ran before is not started again, "
    "and runs on as soon as it is resumed",
    source="WorkerTask.doRun (awaitUnpause, doStart), transitionTo, onResume; ExactlyOnceWorkerSourceTask.preStart",
    premises=(
        "the run is simulated, and says how each plug-in behaves",
        "time is virtual: what a plug-in takes is exact",
    ),
    exempted_by=(PluginDrawn, TargetStateChanged, TaskStarted, WorkStateChanged, *PROCESS),
    violation=TasksStartOnceViolated,
    fold=_Starts,
)
"""A task that did not start has no consumer or producer of its own. The smallest history that breaks it::

    TaskStarted(member="w0", generation=1, task="c-0")
    PluginDrawn(member="w0", work="c-0", start_ms=100)
    WorkStateChanged(member="w0", generation=1, work="c-0", state="PAUSED")
    TargetStateChanged(member="w0", connector="c", state="STARTED", time_ms=1000)
    WorkStateChanged(member="w0", generation=1, work="c-0", state="RUNNING", time_ms=1000)
"""

CLAIMS: Final = (TasksStartOnce,)
"""In the order in which reports name them."""
