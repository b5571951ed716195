"""A member gives its coordinator up only for a cause."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ConnectionBroken,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
    RunStarted,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.verdict import STEP, Violation

MOVED: Final = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "REQUEST_TIMED_OUT"})
"""The answers that say that another node coordinates the group, or none."""
ALIVE: Final = frozenset({"NONE", "REBALANCE_IN_PROGRESS"})
"""The answers that show that the coordinator is there."""
PROVES_ALIVE: Final = frozenset({Api.HEARTBEAT, Api.JOIN_GROUP})
"""The requests whose answers start the member's session anew."""


class CoordinatorLossHasACauseViolated(Violation):
    """A member gave its coordinator up although it answered, and the connection stood."""


class _Coordinators(Fold):
    """Per member: when its coordinator was last known to be there, and what says that it is not any more."""

    bookkeeping = frozenset({RunStarted, MemberStarted, MemberCrashed, MemberLeft, CoordinatorFound, RequestAnswered,
                             ConnectionBroken})  # fmt: skip
    needs = ((RunStarted,), (CoordinatorFound,), (MemberStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RunStarted: self.on_run,
            MemberStarted: self.on_started,
            MemberCrashed: self.on_ended,
            MemberLeft: self.on_ended,
            CoordinatorFound: self.on_found,
            RequestAnswered: self.on_answered,
            ConnectionBroken: self.on_broken,
            CoordinatorLost: self.on_lost,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._punctual = False
        self._started: dict[str, MemberStarted] = {}
        self._alive: dict[str, Event] = {}
        self._doubted: set[str] = set()

    def on_run(self, event: RunStarted) -> None:
        """Only where time is virtual a connection that breaks is recorded."""
        self._punctual = event.punctual

    def on_started(self, event: MemberStarted) -> None:
        """With its session timeout; it knows no coordinator."""
        self._started[event.member] = event

    def on_ended(self, event: MemberEvent) -> None:
        """The process takes with it what it knew."""
        for known in (self._started, self._alive):
            known.pop(event.member, None)
        self._doubted.discard(event.member)

    def on_found(self, event: CoordinatorFound) -> None:
        """From here on it is taken to be there."""
        self._alive[event.member] = event
        self._doubted.discard(event.member)

    def on_answered(self, event: RequestAnswered) -> None:
        """An answer says that it is there, or that it is not."""
        if event.error in ALIVE:
            if event.api in PROVES_ALIVE:
                self._alive[event.member] = event
        elif event.error in MOVED:
            self._doubted.add(event.member)

    def on_broken(self, event: ConnectionBroken) -> None:
        """It may not be there any more."""
        self._doubted.add(event.member)

    def on_lost(self, event: CoordinatorLost) -> None:
        """Something said so, or it was silent for a session."""
        started, alive = self._started.get(event.member), self._alive.get(event.member)
        if not self._punctual or started is None or alive is None:
            return
        self.compared = (self.compared or 0) + 1
        silent_ms = event.time_ms - alive.time_ms
        if event.member not in self._doubted and silent_ms < started.session_timeout_ms:
            self.contradiction(
                f"{event.member} gives its coordinator up, and nothing asked for it",
                (f"the coordinator of {event.member} was there at {STEP};", alive),
                (f"since then no connection broke, no answer named another coordinator, and {silent_ms} ms are no "
                 f"session: yet it gave its coordinator up at {STEP}: contradiction.", event),
            )  # fmt: skip


CoordinatorLossHasACause: Final = Invariant(
    name="coordinator_loss_has_a_cause",
    family=FAMILY,
    claim="a member looks for another coordinator only for a cause: it was answered that the node does not coordinate "
    "its group, the connection broke, or no heartbeat was answered for a session timeout",
    source="AbstractCoordinator.markCoordinatorUnknown, HeartbeatThread; NetworkClient",
    premises=("the run is simulated: time is virtual, and every connection that breaks is recorded",),
    exempted_by=(ConnectionBroken, CoordinatorFound, MemberCrashed, MemberLeft, MemberStarted, RequestAnswered),
    violation=CoordinatorLossHasACauseViolated,
    fold=_Coordinators,
)
"""A member looks for another coordinator only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", session_timeout_ms=10000)
    CoordinatorFound(member="m0", node=1)
    RequestAnswered(member="m0", api="Heartbeat", request=2, error="REBALANCE_IN_PROGRESS")
    CoordinatorLost(member="m0")
"""

CLAIMS: Final = (CoordinatorLossHasACause,)
"""In the order in which reports name them."""
