"""A process that closes has left its group when it ends."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RunStarted,
)
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold


class ClosingEndsWithLeavingViolated(Violation):
    """A process that was asked to close ended, and had not left."""


class _Closings(SimulatedFold):
    """The members that close."""

    bookkeeping = frozenset({RunStarted, MemberClosing, MemberCrashed, MemberLeft})
    needs = ((MemberClosing,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberClosing: self.on_closing,
            **dict.fromkeys((MemberCrashed, MemberLeft), self.on_ended),
            MemberStarted: self.on_started,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._closing: dict[str, MemberClosing] = {}

    def on_closing(self, event: MemberClosing) -> None:
        """From here on it leaves, or dies."""
        if self.run.is_simulated:
            self.compared = (self.compared or 0) + 1
            self._closing[event.member] = event

    def on_ended(self, event: MemberEvent) -> None:
        """It did."""
        self._closing.pop(event.member, None)

    def on_started(self, event: MemberStarted) -> None:
        """The process before it is gone."""
        closing = self._closing.pop(event.member, None)
        if closing is not None:
            self.contradiction(
                f"{event.member} closed, and had not left when it was started again",
                (f"{event.member} began to close at {STEP};", closing),
                (f"it did not die, and was started again at {STEP} before it had left: contradiction.", event),
            )


ClosingEndsWithLeaving: Final = Invariant(
    name="closing_ends_with_leaving",
    family=FAMILY,
    claim="a process that closes ends when it has left its group, and not before, unless it dies",
    source="AbstractCoordinator.close; Consumer.close(timeout)",
    premises=(SIMULATED,),
    exempted_by=(MemberCrashed, MemberLeft),
    violation=ClosingEndsWithLeavingViolated,
    fold=_Closings,
)
"""A process that closes ends when it has left.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberClosing(member="m0")
    MemberStarted(member="m0")
"""

CLAIMS: Final = (ClosingEndsWithLeaving,)
"""In the order in which reports name them."""
