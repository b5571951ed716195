"""A restart that was asked for (KIP-745): what a worker has planned, it carries out."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RestartPlanned,
    RunEnded,
    StatusAttempted,
    TargetStateChanged,
    TaskConfigsGenerated,
    TaskStarted,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationStarted,
    WorkStateChanged,
)
from rebalance_check.properties.connect.statuses import work_named
from rebalance_check.properties.connect.worker import FAILED, listed
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.status.stores import item_of
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

RESTARTING: Final = "RESTARTING"


class PlannedRestartsAreDoneViolated(Violation):
    """A worker planned to restart something, went on, and had not stopped it, said so and started it again."""


class _Done(WorkerFold):
    """Per worker: the restart that its herder carries out, with what was said of it and what started since."""

    needs = ((WorkerConfigured,), (RestartPlanned,))
    bookkeeping = frozenset(
        {*PROCESS, StatusAttempted, ConnectorStarted, TaskStarted, WorkStateChanged, RestartPlanned}
    )

    def __init__(self, invariant: Invariant) -> None:
        goes_on = (WorkerClaimed, AssignmentAccepted, ConnectAssignmentReceived, TargetStateChanged,
                   TaskConfigsGenerated, WorkRevocationStarted)  # fmt: skip
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_gone),
            **dict.fromkeys(goes_on, self.on_turn),
            RestartPlanned: self.on_planned,
            StatusAttempted: self.on_status,
            ConnectorStarted: self.on_started,
            TaskStarted: self.on_started,
            WorkStateChanged: self.on_state,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._planned: dict[str, RestartPlanned] = {}
        self._spoken: dict[str, set[str]] = {}
        self._begun: dict[str, set[str]] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """The restart ends with the process."""
        self._planned.pop(event.member, None)

    def on_planned(self, event: RestartPlanned) -> None:
        """The herder begins a restart; the one before is over."""
        self.on_turn(event)
        if self.memory.of(event.member).configured is not None:
            self._planned[event.member] = event
            self._spoken[event.member], self._begun[event.member] = set(), set()

    def on_status(self, event: StatusAttempted) -> None:
        """RESTARTING is what a worker says of what it has stopped for a restart, FAILED of what did not start."""
        worker = self.memory.of_store(event.worker)
        if worker is None or worker.name not in self._planned:
            return
        work = work_named(item_of(event.key))
        if event.status == RESTARTING:
            self._spoken[worker.name].add(work)
        elif event.status == FAILED:
            self._begun[worker.name].add(work)

    def on_started(self, event: ConnectorStarted | TaskStarted) -> None:
        """It runs again."""
        work = event.connector if isinstance(event, ConnectorStarted) else event.task
        self._begun.get(event.member, set()).add(work)

    def on_state(self, event: WorkStateChanged) -> None:
        """What cannot start fails."""
        if event.state == FAILED:
            self._begun.get(event.member, set()).add(event.work)

    def on_end(self, event: RunEnded) -> None:
        """Nothing is under way any more."""
        if not event.pending:
            for member in list(self._planned):
                self._judge(member, event)

    def on_turn(self, event: MemberEvent) -> None:
        """The herder does something else: it has finished the restart."""
        self._judge(event.member, event)

    def _judge(self, member: str, event: Event) -> None:
        planned = self._planned.pop(member, None)
        if planned is None:
            return
        self.compared = (self.compared or 0) + 1
        configured = self.memory.of(member).configured
        fences = configured is not None and configured.exactly_once
        started = {work for work in planned.work if fences and work != planned.connector} | self._begun[member]
        silent = sorted(set(planned.work) - self._spoken[member]) if planned.is_read else []
        if missing := sorted(set(planned.work) - started):
            self._report(planned, event, f"{listed(missing)} was not started again")
        elif silent:
            self._report(planned, event, f"it did not say RESTARTING of {listed(silent)}")

    def _report(self, planned: RestartPlanned, event: Event, why: str) -> None:
        self.contradiction(
            f"{planned.member} restarts {listed(planned.work)}, and {why}",
            (f"{planned.member} planned to restart {listed(planned.work)} at {STEP};", planned),
            (f"its herder did something else at {STEP}, and {why}: contradiction.", event),
        )


PlannedRestartsAreDone: Final = Invariant(
    name="planned_restarts_are_done",
    family="connect_duties",
    claim="before its herder does anything else, a worker starts all that it planned to restart, or says that it "
    "failed; where a request in the config topic asked for it, it says RESTARTING of each before",
    source="KIP-745; DistributedHerder.doRestartConnectorAndTasks, restartConnector, restartTask",
    premises=("with exactly-once support a task starts when its predecessor is fenced, which is not waited for",),
    exempted_by=(ConnectorStarted, MemberCrashed, MemberLeft, MemberStarted, StatusAttempted, TaskStarted,
                 WorkStateChanged),
    violation=PlannedRestartsAreDoneViolated,
    fold=_Done,
)  # fmt: skip
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="eager", store="w0")
    RestartPlanned(member="w0", generation=1, connector="c", work=("c",))
    WorkerClaimed(member="w0", generation=1, url="u", config_offset=3, claim=("c",))
"""

CLAIMS: Final = (PlannedRestartsAreDone,)
"""In the order in which reports name them."""
