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
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SimulatedFold

MOVED: Final = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "REQUEST_TIMED_OUT"})
"""The answers that say that another node coordinates the group, or none."""
ALIVE: Final = frozenset({"NONE", "REBALANCE_IN_PROGRESS"})
"""The answers that show that the coordinator is there."""
PROVES_ALIVE: Final = frozenset({Api.HEARTBEAT, Api.JOIN_GROUP})
"""The requests whose answers start the member's session anew."""
OF_A_COORDINATOR: Final[frozenset[type[Event]]] = frozenset(
    {MemberStarted, MemberCrashed, MemberLeft, RequestAnswered, ConnectionBroken}
)
"""What says whether a coordinator is there."""


class CoordinatorLossHasACauseViolated(Violation):
    """A member gave its coordinator up although it answered, and the connection stood."""


class OfCoordinators(SimulatedFold):
    """Per member: when its coordinator was last known to be there, and what says that it is not any more."""

    bookkeeping = OF_A_COORDINATOR
    needs: tuple[tuple[type[Event], ...], ...] = ((RunStarted,), (MemberStarted,))

    def __init__(self, invariant: Invariant, more: dict[type[Event], Handler]) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            MemberCrashed: self.on_ended,
            MemberLeft: self.on_ended,
            RequestAnswered: self.on_answered,
            ConnectionBroken: self.on_broken,
            **more,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._started: dict[str, MemberStarted] = {}
        self._alive: dict[str, Event] = {}
        self._doubted: set[str] = set()

    def on_started(self, event: MemberStarted) -> None:
        """With its session timeout; it knows no coordinator."""
        self.on_ended(event)
        self._started[event.member] = event

    def on_ended(self, event: MemberEvent) -> None:
        """The process takes with it what it knew."""
        for known in (self._started, self._alive):
            known.pop(event.member, None)
        self._doubted.discard(event.member)

    def on_answered(self, event: RequestAnswered) -> None:
        """An answer says that it is there, or that it is not."""
        if event.error in ALIVE:
            if event.api in PROVES_ALIVE and event.member in self._alive:
                self._alive[event.member] = event
        elif event.error in MOVED:
            self._doubted.add(event.member)

    def on_broken(self, event: ConnectionBroken) -> None:
        """It may not be there any more."""
        self._doubted.add(event.member)

    def found(self, event: MemberEvent) -> None:
        """From here on it is taken to be there."""
        self._alive[event.member] = event
        self._doubted.discard(event.member)

    def judge(self, event: MemberEvent, deed: str, did: str) -> None:
        """A member did what only a lost coordinator asks for: ``deed`` and ``did`` say what, now and in the past."""
        alive, silent_ms = self.known_since(event)
        if alive is not None:
            self.contradiction(
                f"{event.member} {deed}, and nothing asked for it",
                (f"the coordinator of {event.member} was there at {STEP};", alive),
                (f"since then no connection broke, no answer named another coordinator, and {silent_ms} ms are no "
                 f"session: yet it {did} at {STEP}: contradiction.", event),
            )  # fmt: skip

    def known_since(self, event: MemberEvent) -> tuple[Event | None, int]:
        """What shows that the coordinator was there, and for how many ms it has been silent; None where it may be gone.

        It counts as a comparison where a coordinator had been found.
        """
        started, alive = self._started.get(event.member), self._alive.get(event.member)
        if not self.run.is_simulated or started is None or alive is None:
            return None, 0
        self.compared = (self.compared or 0) + 1
        silent_ms = event.time_ms - alive.time_ms
        is_there = event.member not in self._doubted and silent_ms < started.session_timeout_ms
        return (alive if is_there else None), silent_ms


class _Losses(OfCoordinators):
    bookkeeping = OF_A_COORDINATOR | {CoordinatorFound}
    needs = (*OfCoordinators.needs, (CoordinatorFound,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {CoordinatorFound: self.found, CoordinatorLost: self.on_lost})

    def on_lost(self, event: CoordinatorLost) -> None:
        """Something said so, or it was silent for a session."""
        self.judge(event, "gives its coordinator up", "gave its coordinator up")


CoordinatorLossHasACause: Final = Invariant(
    name="coordinator_loss_has_a_cause",
    family=FAMILY,
    claim="a member looks for another coordinator only for a cause: it was answered that the node does not coordinate "
    "its group, the connection broke, or no heartbeat was answered for a session timeout",
    source="AbstractCoordinator.markCoordinatorUnknown, HeartbeatThread; NetworkClient",
    premises=("the run is simulated: time is virtual, and every connection that breaks is recorded",),
    exempted_by=(ConnectionBroken, CoordinatorFound, MemberCrashed, MemberLeft, MemberStarted, RequestAnswered),
    violation=CoordinatorLossHasACauseViolated,
    fold=_Losses,
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
