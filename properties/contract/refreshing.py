"""A consumer that subscribes by a pattern fetches metadata before it joins: it joins for the topics that are there."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ON_JOIN_PREPARE,
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberEvent,
    MemberStarted,
    MetadataReceived,
)
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class PatternsAreMatchedBeforeJoiningViolated(Violation):
    """A consumer that subscribes by a pattern prepared to join, and did not look which topics there are."""


class _Refreshes(SimulatedFold):
    """The members that subscribe by a pattern, and the onJoinPrepare that has not fetched metadata yet."""

    bookkeeping = frozenset({*PROCESS, CallbackStarted, MetadataReceived})
    needs = ((MemberStarted,), (CallbackStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            MemberStarted: self.on_started,
            CallbackStarted: self.on_call,
            MetadataReceived: self.on_metadata,
            CallbackEnded: self.on_return,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._by_pattern: set[str] = set()
        self._stale: dict[str, CallbackStarted] = {}

    def on_process(self, event: MemberEvent) -> None:
        """It prepares nothing any more."""
        self._by_pattern.discard(event.member)
        self._stale.pop(event.member, None)

    def on_started(self, event: MemberStarted) -> None:
        """It keeps to patterns, or to names."""
        self.on_process(event)
        if event.by_pattern and self.run.is_recorded:
            self._by_pattern.add(event.member)

    def on_call(self, event: CallbackStarted) -> None:
        """It prepares to join."""
        if event.callback == ON_JOIN_PREPARE and event.member in self._by_pattern:
            self._stale[event.member] = event

    def on_metadata(self, event: MetadataReceived) -> None:
        """It knows which topics there are."""
        self._stale.pop(event.member, None)

    def on_return(self, event: CallbackEnded) -> None:
        """It is prepared, or goes on with that later."""
        if event.callback != ON_JOIN_PREPARE or event.member not in self._by_pattern:
            return
        self.compared = (self.compared or 0) + 1
        if (call := self._stale.pop(event.member, None)) is not None:
            self.contradiction(
                f"{event.member} joins for the topics that it knew before",
                (f"{event.member}, which subscribes by a pattern, prepares to join at {STEP};", call),
                (f"it is done with that at {STEP}, and did not fetch metadata: contradiction.", event),
            )


PatternsAreMatchedBeforeJoining: Final = Invariant(
    name="patterns_are_matched_before_joining",
    family=FAMILY,
    claim="a consumer that subscribes by a pattern fetches metadata before each join, so that it joins for the topics "
    "that match then",
    source="ConsumerCoordinator.poll: a subscriber to a pattern awaits new metadata before ensureActiveGroup",
    premises=(RECORDED,),
    exempted_by=(MetadataReceived, MemberStarted),
    violation=PatternsAreMatchedBeforeJoiningViolated,
    fold=_Refreshes,
)
"""Topics of yesterday cost the group another rebalance.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", by_pattern=True)
    CallbackStarted(member="m0", callback="onJoinPrepare", generation=-1)
    CallbackEnded(member="m0", callback="onJoinPrepare")
"""

CLAIMS: Final = (PatternsAreMatchedBeforeJoining,)
"""In the order in which reports name them."""
