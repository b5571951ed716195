"""A worker reads the config topic on for an assignment only where that was made with configs that it may not know."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigReadEnded,
    ConfigReadStarted,
    ConnectAssignmentReceived,
    Event,
    HerderAsked,
    InternalRequestChecked,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    SessionKeyWritten,
    TaskConfigsGenerated,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker import NO_ERROR
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation

OTHERWISE: Final[tuple[type[Event], ...]] = (
    AssignmentAccepted, HerderAsked, InternalRequestChecked, MemberCrashed, MemberLeft, MemberStarted,
    SessionKeyWritten, TaskConfigsGenerated, WorkerClaimed,
)  # fmt: skip
"""After these a worker may read for another reason."""


class KnownConfigsAreNotReadAgainViolated(Violation):
    """A worker read the config topic to its end for an assignment whose configs it had accepted before."""


class _ReadsOn(WorkerFold):
    """Per worker: an assignment that it deals with, made with configs that its herder has known for long."""

    needs = ((WorkerConfigured,), (ConnectAssignmentReceived,))
    bookkeeping = frozenset({*OTHERWISE, ConnectAssignmentReceived, ConfigReadEnded})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(OTHERWISE, self.on_other),
            ConfigReadEnded: self.on_other,
            ConnectAssignmentReceived: self.on_received,
            ConfigReadStarted: self.on_read,
            AssignmentAccepted: self.on_accepted,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._accepted: dict[str, AssignmentAccepted] = {}
        self._deals: dict[str, ConnectAssignmentReceived] = {}

    def on_other(self, event: MemberEvent) -> None:
        """It may read for that."""
        self._deals.pop(event.member, None)
        if isinstance(event, MemberStarted | MemberCrashed | MemberLeft):
            self._accepted.pop(event.member, None)

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """It accepts it next, or reads on."""
        self._deals.pop(event.member, None)
        known = self._accepted.get(event.member)
        worker = self.memory.of(event.member)
        if known is None or worker.configured is None or worker.configured.exactly_once or event.error != NO_ERROR:
            return
        if event.config_offset <= known.config_offset:
            self._deals[event.member] = event

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its herder knows these configs from here on."""
        self.on_other(event)
        self._accepted[event.member] = event
        self.compared = (self.compared or 0) + 1

    def on_read(self, event: ConfigReadStarted) -> None:
        """It had a reason."""
        received, known = self._deals.pop(event.member, None), self._accepted.get(event.member)
        if received is not None and known is not None:
            self.contradiction(
                f"{event.member} reads the config topic for an assignment whose configs it knows",
                (f"{event.member} accepted configs up to offset {known.config_offset} at {STEP};", known),
                (f"it received an assignment made with those up to {received.config_offset} at {STEP};", received),
                (f"it began to read the topic to its end at {STEP}, and had nothing else to do: contradiction.", event),
            )


KnownConfigsAreNotReadAgain: Final = Invariant(
    name="known_configs_are_not_read_again",
    family="connect_duties",
    claim="a worker reads the config topic to its end for an assignment only where that was made with newer configs "
    "than it had accepted, or failed",
    source="DistributedHerder.handleRebalanceCompleted",
    premises=("the worker serves no request meanwhile, and has no transactions",),
    exempted_by=(*OTHERWISE, ConfigReadEnded),
    violation=KnownConfigsAreNotReadAgainViolated,
    fold=_ReadsOn,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="eager")
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=())
    ConnectAssignmentReceived(member="w0", generation=2, protocol="eager", leader="a", leader_url="u", config_offset=3)
    ConfigReadStarted(member="w0")
"""

CLAIMS: Final = (KnownConfigsAreNotReadAgain,)
"""In the order in which reports name them."""
