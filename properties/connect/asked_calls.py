"""What a worker has its config store write is what an operator asked for, or what a connector's tasks shall be."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallStarted,
    Event,
    HerderAsked,
    MemberEvent,
    TaskConfigsGenerated,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

Given = tuple[tuple[str, str], ...]
"""Arguments by their names."""

Call = tuple[str, str, Given]
"""The method of a config store, the connector that it is about, and what else it is given."""

TARGETS: Final = {"pause": "PAUSED", "resume": "STARTED", "stop": "STOPPED"}
"""The target state that an operator asks for."""

WRITE_TASKS: Final = "putTaskConfigs"
ASKED: Final = frozenset({
    "putConnectorConfig", "removeConnectorConfig", "putTargetState", "putRestartRequest", WRITE_TASKS,
})  # fmt: skip
"""The methods that no worker calls on its own account."""


class StoresAreCalledAsAskedViolated(Violation):
    """A worker had its config store write something else than it was asked for."""


def _calls_for(asked: HerderAsked) -> list[Call]:
    """What a request leads to where it is accepted."""
    match asked.operation:
        case "configure":
            return [("putConnectorConfig", asked.work, asked.given)]
        case "delete":
            return [("removeConnectorConfig", asked.work, ())]
        case "restart":
            return [("putRestartRequest", asked.work, asked.given)]
        case "stop":
            return [(WRITE_TASKS, asked.work, ()), _target("stop", asked.work)]
        case "pause" | "resume":
            return [_target(asked.operation, asked.work)]
    return []


def _target(operation: str, connector: str) -> Call:
    return "putTargetState", connector, (("targetState", TARGETS[operation]),)


class _AsAsked(SimulatedFold):
    """Per worker: how often each call was asked for and not made; and the task configs that workers generated."""

    bookkeeping = frozenset({HerderAsked, TaskConfigsGenerated, WorkerConfigured, *PROCESS})
    needs = ((WorkerConfigured,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            WorkerConfigured: self.on_worker,
            HerderAsked: self.on_asked,
            TaskConfigsGenerated: self.on_generated,
            ConfigCallStarted: self.on_called,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._due: dict[str, Recent[Call, int]] = {}
        self._last: Recent[tuple[str, str], HerderAsked] = Recent(WAITING)
        self._generated: Recent[tuple[str, Given], TaskConfigsGenerated] = Recent(WAITING)

    def on_process(self, event: MemberEvent) -> None:
        """Another process has been asked for nothing."""
        self._due.pop(event.member, None)

    def on_worker(self, event: WorkerConfigured) -> None:
        """Of workers it is recorded what they are asked."""
        self._due[event.member] = Recent(WAITING)

    def on_asked(self, event: HerderAsked) -> None:
        """The worker may do so once."""
        self._last[event.member, event.work] = event
        due = self._due.get(event.member)
        if due is not None:
            for call in _calls_for(event):
                due[call] = due.get(call, 0) + 1

    def on_generated(self, event: TaskConfigsGenerated) -> None:
        """Any leader may write these, when it is asked to."""
        self._generated[event.connector, tuple(("configs", config) for _, config in event.tasks)] = event

    def on_called(self, event: ConfigCallStarted) -> None:
        """It was asked for and not made yet, or these are what the connector generated."""
        due = self._due.get(event.member)
        if due is None or event.method not in ASKED or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        call = (event.method, event.connector, event.given)
        if event.method == WRITE_TASKS and (event.connector, event.given) in self._generated:
            return
        if due.get(call, 0) > 0:
            due[call] -= 1
            return
        asked = self._last.get((event.member, event.connector))
        what = f"{event.method} of {event.connector} with {dict(event.given)}"
        self.contradiction(
            f"{event.member} calls {what}, and was not asked for that",
            *([(f"what {event.member} was asked last of {event.connector} is to {asked.operation} it with "
                f"{dict(asked.given)}, at {STEP};", asked)] if asked else []),
            (f"it called {what} at {STEP}: contradiction.", event),
        )  # fmt: skip


StoresAreCalledAsAsked: Final = Invariant(
    name="stores_are_called_as_asked",
    family="connect_duties",
    claim="a worker has its config store write the configuration, the deletion, the target state or the restart that "
    "an operator asked it for, with the same values and once; and task configs that a connector generated, or none of "
    "one that it is asked to stop",
    source="DistributedHerder.putConnectorConfig, deleteConnectorConfig, pauseConnector, resumeConnector, "
    "stopConnector, restartConnectorAndTasks, putTaskConfigs",
    premises=(RECORDED,),
    exempted_by=(HerderAsked, TaskConfigsGenerated, *PROCESS),
    violation=StoresAreCalledAsAskedViolated,
    fold=_AsAsked,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    HerderAsked(member="w0", request=0, operation="pause", work="c")
    ConfigCallStarted(member="w0", call=0, method="putTargetState", connector="c", given=(("targetState", "STARTED"),))
"""

CLAIMS: Final = (StoresAreCalledAsAsked,)
"""In the order in which reports name them."""
