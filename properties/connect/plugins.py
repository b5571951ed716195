"""What a worker makes of the plug-ins that it runs: when they are FAILED, and when it gives them up.

A simulation says how each plug-in behaves (`PluginDrawn`). What runs depends on that, and on what the worker was asked.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectorStopped,
    MemberPaused,
    MemberResumed,
    PluginFailed,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.plugin_runs import RUNNING, STEPS, PluginFold, PluginRun
from rebalance_check.properties.connect.worker import FAILED
from rebalance_check.properties.contract.pace import SLACK_MS, Paces
from rebalance_check.properties.kinds import Invariant, Memories
from rebalance_check.properties.verdict import STEP, Violation

GRACE_MS: Final = 5_000
"""How long a worker waits for the end of a connector, and, by Kafka's default, of a task."""


class WorkFailsForACauseViolated(Violation):
    """A connector or task failed whose plug-in did not, or ran although its plug-in failed at its start."""


class OnlySlowWorkIsCancelledViolated(Violation):
    """A worker gave up waiting for a plug-in that ends quickly."""


class _Failing(PluginFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {WorkStateChanged: self.on_changed})
        self.compared = 0

    def on_changed(self, event: WorkStateChanged) -> None:
        """Nothing fails by itself."""
        run = self.plugins.runs.get((event.member, event.work))
        if not self.plugins.is_known(event.member):
            return
        self.compared = (self.compared or 0) + 1
        if event.state == FAILED and run is None:
            self._unstarted(event)
        elif event.state == FAILED and run is not None and not self._has_cause(run, event):
            self._report(run, event, "and its plug-in does not fail")
        elif event.state == RUNNING and run is not None and run.drawn.fails_at_start:
            self._report(run, event, "and its plug-in raises in start")

    def _has_cause(self, run: PluginRun, event: WorkStateChanged) -> bool:
        drawn = run.drawn
        is_due = run.ran is not None and event.time_ms >= run.ran.time_ms + drawn.fails_after_ms >= 0
        by_itself = drawn.fails_after_ms >= 0 and is_due
        at_stop = drawn.fails_at_stop and run.ran is not None
        worker = self.memory.of(event.member)
        is_fenced = worker.configured is not None and worker.configured.exactly_once and not run.has_begun
        return drawn.fails_at_start or by_itself or at_stop or run.failed is not None or is_fenced

    def _unstarted(self, event: WorkStateChanged) -> None:
        """A task cannot start that has no configuration."""
        worker = self.memory.of(event.member)
        snapshot = self.plugins.accepted.get(event.member)
        if snapshot is None or worker.snapshot is None:
            return
        if event.work in dict(snapshot.task_configs) and event.work in dict(worker.snapshot.task_configs):
            self.contradiction(
                f"{event.work} fails at {event.member}, which did not start it",
                (f"{event.member} accepted an assignment with the configs of {STEP}, in which {event.work} has one;",
                 snapshot),
                (f"{event.work} is FAILED at {STEP}, and was not started: contradiction.", event),
            )  # fmt: skip

    def _report(self, run: PluginRun, event: WorkStateChanged, why: str) -> None:
        self.contradiction(
            f"{event.work} is {event.state} at {event.member}, {why}",
            (f"the plug-in that {event.member} starts for {event.work} was drawn at {STEP};", run.drawn),
            (f"{event.work} is {event.state} at {STEP}, {why}: contradiction.", event),
        )


class _Cancelling(PluginFold):
    paces: Paces

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {WorkCancelled: self.on_cancelled})
        self.compared = 0

    def share(self, memories: Memories) -> None:
        """Whether the process stood still, too."""
        super().share(memories)
        self.paces = Paces.among(memories)
        self.memories = (*self.memories, self.paces.run, self.paces)

    def on_cancelled(self, event: WorkCancelled) -> None:
        """A worker waits in vain for what takes long, and where it stood still."""
        run, pace = self.plugins.ended.get((event.member, event.work)), self.paces.of.get(event.member)
        if run is None or pace is None or event.time_ms - pace.runs_since < GRACE_MS or not run.has_begun:
            return
        self.compared = (self.compared or 0) + 1
        drawn = run.drawn
        if drawn.begin_ms + 2 * (drawn.start_ms + drawn.stop_ms) + STEPS * SLACK_MS < GRACE_MS:
            self.contradiction(
                f"{event.member} gives up waiting for {event.work}, which stops within {drawn.stop_ms} ms",
                (f"the plug-in that {event.member} starts for {event.work} was drawn at {STEP};", drawn),
                (f"{event.member} gave up waiting for its end at {STEP}, for which it waits {GRACE_MS} ms: "
                 "contradiction.", event),
            )  # fmt: skip


_PREMISES: Final = ("the run is simulated, and says how each plug-in behaves",)

WorkFailsForACause: Final = Invariant(
    name="work_fails_for_a_cause",
    family="connect_work",
    claim="a connector or task is FAILED only where its plug-in raises, where a task has no configuration, and where "
    "producers could not be fenced before a task; and it is never RUNNING where its plug-in raises in start",
    source="WorkerConnector.doStart, WorkerTask.doRun; Worker.startTask; KIP-618",
    premises=_PREMISES,
    exempted_by=(
        ConnectorStopped,
        PluginFailed,
        TaskStarted,
        TaskStopped,
        WorkCancelled,
        WorkerConfigured,
        WorkStateChanged,
    ),
    violation=WorkFailsForACauseViolated,
    fold=_Failing,
)
"""The smallest history that breaks it::

    PluginDrawn(member="w0", work="c")
    WorkStateChanged(member="w0", generation=1, work="c", state="FAILED")
"""

OnlySlowWorkIsCancelled: Final = Invariant(
    name="only_slow_work_is_cancelled",
    family="connect_work",
    claim="a worker gives up waiting for the end of a connector or task only where its plug-in takes longer to start "
    "and to stop than the worker waits",
    source="Worker.awaitStopTask, CONNECTOR_GRACEFUL_SHUTDOWN_TIMEOUT_MS; task.shutdown.graceful.timeout.ms",
    premises=(*_PREMISES, "task.shutdown.graceful.timeout.ms is Kafka's default", "the process did not stand still"),
    exempted_by=(MemberPaused, MemberResumed, PluginFailed),
    violation=OnlySlowWorkIsCancelledViolated,
    fold=_Cancelling,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="w0")
    PluginDrawn(member="w0", work="c", stop_ms=3)
    WorkCancelled(member="w0", generation=1, work="c", time_ms=9000)
"""

CLAIMS: Final = (WorkFailsForACause, OnlySlowWorkIsCancelled)
"""In the order in which reports name them."""
