"""Work is paused because its worker applies another target state of the connector."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberEvent,
    MemberStarted,
    TargetStateChanged,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

RUNNING: Final = "RUNNING"
PAUSED: Final = "PAUSED"
ENDS: Final = (ConnectorStopped, TaskStopped, WorkCancelled)


class ChangedWorkHasATargetViolated(Violation):
    """Work that ran was paused, and its worker recorded no other target state."""


class _Targets(SimulatedFold):
    """The work that was started, and ran, since the last target state of its connector."""

    bookkeeping = frozenset({MemberStarted, TargetStateChanged, WorkerConfigured, ConnectorStarted, TaskStarted, *ENDS})
    needs = ((WorkStateChanged,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_process,
            WorkerConfigured: self.on_configured,
            TargetStateChanged: self.on_target,
            **dict.fromkeys((ConnectorStarted, ConnectorStopped, TaskStarted, TaskStopped), self.on_work),
            WorkCancelled: self.on_cancelled,
            WorkStateChanged: self.on_changed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._since: dict[str, dict[str, MemberEvent]] = {}
        self._prepares: set[str] = set()

    def on_process(self, event: MemberStarted) -> None:
        """Another process runs nothing."""
        self._since.pop(event.member, None)

    def on_configured(self, event: WorkerConfigured) -> None:
        """With exactly-once support a task knows its target state for some time before it starts."""
        (self._prepares.add if event.exactly_once else self._prepares.discard)(event.member)

    def on_target(self, event: TargetStateChanged) -> None:
        """All work of the connector may change, also what starts just now."""
        since = self._since.get(event.member, {})
        for work in [work for work in since if event.connector in {work, _connector_of(work)}]:
            del since[work]

    def on_work(self, event: ConnectorStarted | ConnectorStopped | TaskStarted | TaskStopped) -> None:
        """What starts may be paused at once."""
        work = event.connector if isinstance(event, ConnectorStarted | ConnectorStopped) else event.task
        since = self._since.setdefault(event.member, {})
        since.pop(work, None)
        if isinstance(event, ConnectorStarted) or (
            isinstance(event, TaskStarted) and event.member not in self._prepares
        ):
            since[work] = event

    def on_cancelled(self, event: WorkCancelled) -> None:
        """Work that does not stop is none of the worker's."""
        self._since.get(event.member, {}).pop(event.work, None)

    def on_changed(self, event: WorkStateChanged) -> None:
        """It runs, or does not any more."""
        since = self._since.get(event.member, {})
        if event.state == RUNNING and event.work in since:
            since[event.work] = event
        elif event.state == PAUSED and self.run.is_recorded:
            self.compared = (self.compared or 0) + 1
            ran = since.pop(event.work, None)
            if isinstance(ran, WorkStateChanged):
                self.contradiction(
                    f"{event.member} pauses {event.work}, and recorded no other target state of it",
                    (f"{event.work} runs from {STEP} on, since it was started;", ran),
                    (f"it is paused at {STEP}, and its worker recorded no target state since: contradiction.", event),
                )


def _connector_of(work: str) -> str:
    """The connector of a task."""
    return work.rpartition("-")[0]


ChangedWorkHasATarget: Final = Invariant(
    name="changed_work_has_a_target",
    family=FAMILY,
    claim="before work that was started and runs is paused, its worker records another target state of the connector, "
    "which it applies",
    source="DistributedHerder.processTargetStateChanges; Worker.setTargetState",
    premises=(RECORDED,),
    exempted_by=(ConnectorStopped, MemberStarted, TargetStateChanged, TaskStopped, WorkCancelled),
    violation=ChangedWorkHasATargetViolated,
    fold=_Targets,
)
"""Work that stands still without a wish of its operator is lost work.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    TaskStarted(member="w0", generation=1, member_id="a", task="c-0")
    WorkStateChanged(member="w0", generation=1, member_id="a", work="c-0", state="RUNNING")
    WorkStateChanged(member="w0", generation=1, member_id="a", work="c-0", state="PAUSED")
"""

CLAIMS: Final = (ChangedWorkHasATarget,)
"""In the order in which reports name them."""
