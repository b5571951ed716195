"""A worker of Connect starts a connector or task only for a cause."""

from __future__ import annotations

from collections import deque
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RestartPlanned,
    RunEnded,
    RunSettled,
    RunStarted,
    TaskStarted,
    TaskStopped,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY, Reason
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SimulatedFold

Started: TypeAlias = ConnectorStarted | TaskStarted
Stopped: TypeAlias = ConnectorStopped | TaskStopped

OF_A_CONNECTOR: Final = frozenset({"onConnectorConfigUpdate", "onConnectorConfigRemove"})
"""The callbacks of a config store that concern the connector itself."""


NOTED: Final = 8
"""So many configurations of a connector that came one after the other are remembered as causes."""


class WorkStartHasACauseViolated(Violation):
    """A worker started a connector or task that nothing asked it to start."""


class _Work(SimulatedFold):
    """Per worker: what asks it to stop or start each piece of work since it last did so, and what it did last.

    Another configuration of a connector is noted, and asks for one stop and one start that nothing else asks for.
    """

    needs: tuple[tuple[type[Event], ...], ...] = ((RunStarted,), (WorkerConfigured,))

    def __init__(self, invariant: Invariant, causes: dict[type[Event], Handler]) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(gone, self.on_gone),
            WorkerConfigured: self.on_configured,
            **causes,
            RestartPlanned: self.on_planned,
            ConfigCallbackCalled: self.on_callback,
            ConnectorStarted: self.on_started,
            TaskStarted: self.on_started,
            ConnectorStopped: self.on_stopped,
            TaskStopped: self.on_stopped,
        }
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset(handlers) - {ConnectorStarted, TaskStarted, WorkerClaimed, RunSettled, RunEnded}
        self.compared = 0
        self._configured: set[str] = set()
        self._asked: dict[str, dict[str, Event]] = {}
        self._noted: dict[str, dict[str, deque[Event]]] = {}
        self._last: dict[str, dict[str, Started | Stopped]] = {}

    def on_configured(self, event: WorkerConfigured) -> None:
        """A worker that records its settings records what it is asked for."""
        self._configured.add(event.member)

    def on_gone(self, event: MemberEvent) -> None:
        """A process takes its work with it."""
        self._configured.discard(event.member)
        self._asked.pop(event.member, None)
        self._noted.pop(event.member, None)
        self._last.pop(event.member, None)

    def ask(self, event: MemberEvent, works: tuple[str, ...]) -> None:
        """Something asks for this work to be started or stopped."""
        asked = self._asked.setdefault(event.member, {})
        asked.update(dict.fromkeys(works, event))

    def on_planned(self, event: RestartPlanned) -> None:
        """A restart stops and starts."""
        self.ask(event, event.work)

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """Another configuration restarts the connector."""
        if event.callback in OF_A_CONNECTOR:
            noted = self._noted.setdefault(event.member, {})
            noted.setdefault(event.connector, deque(maxlen=NOTED)).append(event)

    def on_started(self, event: Started) -> None:
        """Overridden by the claim about starts."""
        self.note(event)

    def on_stopped(self, event: Stopped) -> None:
        """Overridden by the claim about stops."""
        self.note(event)

    def note(self, event: Started | Stopped) -> Event | None:
        """The last thing that happened to this work; what had before."""
        last = self._last.setdefault(event.member, {})
        before, last[name_of(event)] = last.get(name_of(event)), event
        return before

    def records(self, event: MemberEvent) -> bool:
        """Whether all that asks this worker for something is recorded."""
        return self.run.is_simulated and event.member in self._configured

    def cause_of(self, event: Started | Stopped) -> Event | None:
        """What asked for it; that is used up."""
        work = name_of(event)
        if self.records(event):
            self.compared = (self.compared or 0) + 1
        cause, noted = self._asked.get(event.member, {}).pop(work, None), self._noted.get(event.member, {}).get(work)
        return noted.popleft() if cause is None and noted else cause

    def report(self, event: Started | Stopped, last: Event | None, *more: Reason) -> None:
        """Nothing asked for it."""
        work, verb = name_of(event), "starts" if isinstance(event, ConnectorStarted | TaskStarted) else "stops"
        did = "started" if isinstance(last, ConnectorStarted | TaskStarted) else "stopped"
        before = [(f"{event.member} {did} {work} at {STEP};", last)] if last is not None else []
        self.contradiction(
            f"{event.member} {verb} {work}, and nothing asked for it",
            *before,
            (f"it {verb} {work} at {STEP}, and no assignment, configuration or restart had asked for that since"
             f"{'.' if more else ': contradiction.'}", event),
            *more,
        )  # fmt: skip


class _Starts(_Work):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {AssignmentAccepted: self.on_accepted})

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """It starts what its assignment adds."""
        self.ask(event, event.work)

    def on_started(self, event: Started) -> None:
        """Something asks for each start."""
        last = self.note(event)
        if self.cause_of(event) is None and self.records(event):
            self.report(event, last)


def name_of(event: Started | Stopped) -> str:
    """The connector or task that was started or stopped."""
    return event.connector if isinstance(event, ConnectorStarted | ConnectorStopped) else event.task


_PREMISES: Final = (
    "the run is simulated, and the worker records its settings: then all that asks it for something is recorded",
)


WorkStartHasACause: Final = Invariant(
    name="work_start_has_a_cause",
    family=FAMILY,
    claim="a worker starts a connector or task only for a cause since it started it last: an assignment that it "
    "accepted adds it, the configuration of the connector changed, or a restart is planned",
    source="DistributedHerder.startWork, processConnectorConfigUpdates, doRestartConnectorAndTasks",
    premises=_PREMISES,
    exempted_by=(AssignmentAccepted, ConfigCallbackCalled, RestartPlanned),
    violation=WorkStartHasACauseViolated,
    fold=_Starts,
)
"""A worker starts a connector or task only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="compatible")
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c-0",))
    TaskStarted(member="w0", generation=1, task="c-0")
    TaskStarted(member="w0", generation=1, task="c-0")
"""

CLAIMS: Final = (WorkStartHasACause,)
"""In the order in which reports name them."""
