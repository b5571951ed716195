"""What is known of the plug-ins that simulated workers run: how each behaves, and what it has come to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectorStopped,
    MemberEvent,
    PluginDrawn,
    PluginFailed,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkStateChanged,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.connect.workers import Workers
from rebalance_check.properties.kinds import Memories, Memory
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import WAITING, Recent

RUNNING: Final = "RUNNING"

STEPS: Final = 6
"""Through how many steps, each on a timer of its own, a plug-in reaches a target state at most."""

"""With what the plug-ins of a process are gone."""

Key = tuple[str, str]
"""A worker and its connector or task."""


@dataclass(slots=True, eq=False)
class PluginRun:
    """One start of a plug-in.

    ``has_begun`` says that nothing comes before its ``start`` any more, ``ran`` is when it was RUNNING first,
    ``failed`` the failure that the simulation asked for, ``state`` the last one that its worker recorded.
    """

    drawn: PluginDrawn
    has_begun: bool
    ran: WorkStateChanged | None = None
    failed: PluginFailed | None = None
    state: str = ""


class PluginRuns(Memory):
    """The plug-ins that workers run by worker and work, and those that they gave up last (``ended``).

    ``accepted`` are the configs with which each worker accepted its last assignment.
    """

    def __init__(self, workers: Workers) -> None:
        super().__init__(
            {
                **dict.fromkeys(PROCESS, self._gone),
                PluginDrawn: self._drawn,
                PluginFailed: self._failed,
                TaskStarted: self._started,
                WorkStateChanged: self._changed,
                ConnectorStopped: self._stopped,
                TaskStopped: self._stopped,
                WorkCancelled: self._cancelled,
                AssignmentAccepted: self._accepted,
            }
        )
        self._workers = workers
        self._begun: set[Key] = set()
        self._known: set[str] = set()
        self.runs: dict[Key, PluginRun] = {}
        self.ended: Recent[Key, PluginRun] = Recent(WAITING)
        self.accepted: dict[str, ConfigSnapshotTaken] = {}

    @classmethod
    def begin(cls, memories: Memories) -> PluginRuns:
        """Built on what is known of the workers."""
        return cls(Workers.among(memories))

    def is_known(self, member: str) -> bool:
        """Whether it is said of the plug-ins of a worker how they behave."""
        return member in self._known

    def of_worker(self, member: str) -> Iterator[PluginRun]:
        """The plug-ins of one worker."""
        return iter([run for (name, _), run in self.runs.items() if name == member])

    def _gone(self, event: MemberEvent) -> None:
        for key in [key for key in self.runs if key[0] == event.member]:
            del self.runs[key]
        self._begun = {key for key in self._begun if key[0] != event.member}
        self.accepted.pop(event.member, None)

    def _drawn(self, event: PluginDrawn) -> None:
        """A task that prepares its start is drawn before it is recorded as started."""
        key = (event.member, event.work)
        worker = self._workers.of(event.member)
        prepares = worker.configured is not None and worker.configured.exactly_once and event.work.count("-") > 0
        self._known.add(event.member)
        self.runs[key] = PluginRun(event, not prepares or key in self._begun)
        self._begun.discard(key)

    def _started(self, event: TaskStarted) -> None:
        run = self.runs.get((event.member, event.task))
        if run is None:
            self._begun.add((event.member, event.task))
        else:
            run.has_begun = True

    def _failed(self, event: PluginFailed) -> None:
        run = self.runs.get((event.member, event.work))
        if run is not None and run.state == RUNNING:
            run.failed = event

    def _changed(self, event: WorkStateChanged) -> None:
        run = self.runs.get((event.member, event.work))
        if run is not None:
            run.state = event.state
            if event.state == RUNNING and run.ran is None:
                run.ran = event

    def _stopped(self, event: ConnectorStopped | TaskStopped) -> None:
        work = event.connector if isinstance(event, ConnectorStopped) else event.task
        self.runs.pop((event.member, work), None)

    def _cancelled(self, event: WorkCancelled) -> None:
        run = self.runs.pop((event.member, event.work), None)
        if run is not None:
            self.ended[event.member, event.work] = run

    def _accepted(self, event: AssignmentAccepted) -> None:
        snapshot = self._workers.of(event.member).snapshot
        if snapshot is not None and snapshot.offset == event.config_offset:
            self.accepted[event.member] = snapshot
        else:
            self.accepted.pop(event.member, None)


class PluginFold(WorkerFold):
    """The plug-ins that were drawn and have not ended."""

    plugins: PluginRuns
    needs = ((PluginDrawn,),)

    def share(self, memories: Memories) -> None:
        """What was drawn of each plug-in, too."""
        super().share(memories)
        self.plugins = PluginRuns.among(memories)
        self.memories = (*self.memories, self.plugins)
