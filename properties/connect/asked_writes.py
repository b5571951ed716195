"""Who changes the target state of a connector: an operator, who asks a worker to pause, resume, stop or delete it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import ConfigAppended, Event, HerderAsked, WorkerConfigured
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold

TARGET_STATE: Final = "target-state-"
CHANGES_IT: Final = frozenset({"pause", "resume", "stop", "delete"})
"""What an operator asks for that writes the target state of a connector."""

Connector = tuple[str, str]
"""A worker and a connector."""


class TargetStatesAreAskedForViolated(Violation):
    """A worker wrote the target state of a connector, and no operator had asked for that."""


class _AskedFor(SimulatedFold):
    """The requests that each worker was asked, and the last one about each connector that changes no target state."""

    bookkeeping = frozenset({WorkerConfigured, HerderAsked})
    needs = ((HerderAsked,), (WorkerConfigured,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            WorkerConfigured: self.on_worker,
            HerderAsked: self.on_asked,
            ConfigAppended: self.on_appended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._workers: set[str] = set()
        self._asked: Recent[Connector, HerderAsked] = Recent(WAITING)
        self._others: Recent[Connector, HerderAsked] = Recent(WAITING)

    def on_worker(self, event: WorkerConfigured) -> None:
        """Of workers it is recorded what they are asked."""
        self._workers.add(event.member)

    def on_asked(self, event: HerderAsked) -> None:
        """The worker may write from here on, also after it answered: a write that seemed to fail may come late."""
        where = self._asked if event.operation in CHANGES_IT else self._others
        where[event.member, event.work] = event

    def on_appended(self, event: ConfigAppended) -> None:
        """A record of a target state was asked for."""
        of_worker = event.writer in self._workers and self.run.is_simulated
        if not event.key.startswith(TARGET_STATE) or not of_worker:
            return
        self.compared = (self.compared or 0) + 1
        of = (event.writer, event.key.removeprefix(TARGET_STATE))
        if of in self._asked:
            return
        other = self._others.get(of)
        self.contradiction(
            f"{event.writer} writes {event.key}, and no operator asked it to",
            *([(f"{event.writer} was asked to {other.operation} {other.work} at {STEP};", other)] if other else []),
            (f"it appended {event.key} at {STEP}, and was never asked to pause, resume, stop or delete {of[1]}: "
             "contradiction.", event),
        )  # fmt: skip


TargetStatesAreAskedFor: Final = Invariant(
    name="target_states_are_asked_for",
    family="connect_duties",
    claim="a worker writes the target state of a connector only when an operator asks it to pause, resume, stop or "
    "delete it: a new configuration lets a paused connector pause on",
    source="DistributedHerder.putConnectorConfig, pauseConnector, resumeConnector, stopConnector; KIP-980",
    premises=(
        SIMULATED,
        "no connector is created with a target state of its own (KIP-980)",
    ),
    exempted_by=(HerderAsked,),
    violation=TargetStatesAreAskedForViolated,
    fold=_AskedFor,
)
"""A worker pauses, resumes and stops what an operator wants it to, and nothing else.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    HerderAsked(member="w0", request=0, operation="configure", work="c")
    ConfigAppended(writer="w0", offset=0, key="target-state-c", value=None)
"""

CLAIMS: Final = (TargetStatesAreAskedFor,)
"""In the order in which reports name them."""
