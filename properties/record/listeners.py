"""The application is called about each change of what its consumer owns: before partitions go, and after they came."""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    ON_PARTITIONS_ASSIGNED,
    ON_PARTITIONS_LOST,
    ON_PARTITIONS_REVOKED,
    CallbackEnded,
    Event,
    ListenerCalled,
    MemberEvent,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

Change: TypeAlias = PartitionsAssigned | PartitionsRevoked | PartitionsLost

CALLBACKS: Final[dict[type[Event], str]] = {
    PartitionsAssigned: ON_PARTITIONS_ASSIGNED,
    PartitionsRevoked: ON_PARTITIONS_REVOKED,
    PartitionsLost: ON_PARTITIONS_LOST,
}
"""The callback of each change."""


class ListenerIsCalledForEachChangeViolated(Violation):
    """A consumer gained or gave up partitions, and its listener was not called with exactly these, at its time."""


class _Listeners(SimulatedFold):
    """Per member: the call that a change must follow, and the change that a call must follow."""

    bookkeeping = frozenset({*PROCESS, CallbackEnded})
    needs = ((MemberStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            ListenerCalled: self.on_call,
            PartitionsAssigned: self.on_assigned,
            PartitionsRevoked: self.on_given_up,
            PartitionsLost: self.on_given_up,
            CallbackEnded: self.on_return,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._calls: dict[str, ListenerCalled] = {}
        self._changes: dict[str, PartitionsAssigned] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process owns nothing."""
        self._calls.pop(event.member, None)
        self._changes.pop(event.member, None)

    def on_call(self, event: ListenerCalled) -> None:
        """The listener is called about what came just now, or about what goes next."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        change = self._changes.pop(event.member, None)
        if event.callback != ON_PARTITIONS_ASSIGNED:
            self._settle(event.member, event)
            self._calls[event.member] = event
        if (change is None) == (event.callback == ON_PARTITIONS_ASSIGNED) or (
            change is not None and change.partitions != event.partitions
        ):
            self._report(event, change)

    def on_assigned(self, event: PartitionsAssigned) -> None:
        """The listener is called next."""
        self._settle(event.member, event)
        if self.run.is_recorded:
            self._changes[event.member] = event

    def on_given_up(self, event: PartitionsRevoked | PartitionsLost) -> None:
        """The listener was called before, about these."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        call = self._calls.pop(event.member, None)
        if call is None or (call.callback, call.partitions) != (CALLBACKS[type(event)], event.partitions):
            self._report(event, call)

    def on_return(self, event: CallbackEnded) -> None:
        """The coordinator has done all that it does about an assignment."""
        self._settle(event.member, event)

    def _settle(self, member: str, event: MemberEvent) -> None:
        """Nothing is open between a call and its change."""
        for known in (self._calls, self._changes):
            before = known.pop(member, None)
            if before is not None:
                self._report(event, before)

    def _report(self, event: MemberEvent, before: MemberEvent | None) -> None:
        self.contradiction(
            f"the listener of {event.member} is not called with what came or goes",
            *([] if before is None else [(f"{_spelt(before)} at {STEP};", before)]),
            (f"{_spelt(event)} at {STEP}, which does not fit: contradiction.", event),
        )


def _spelt(event: MemberEvent) -> str:
    match event:
        case ListenerCalled():
            return f"{event.member} is called {event.callback} ({', '.join(event.partitions) or 'nothing'})"
        case PartitionsAssigned() | PartitionsRevoked() | PartitionsLost():
            verb = "gains" if isinstance(event, PartitionsAssigned) else "gives up"
            return f"{event.member} {verb} {', '.join(event.partitions) or 'nothing'}"
        case _:
            return f"{event.member} goes on"


ListenerIsCalledForEachChange: Final = Invariant(
    name="listener_is_called_for_each_change",
    family=FAMILY,
    claim="the listener of a consumer is called onPartitionsRevoked or onPartitionsLost with exactly what goes, before "
    "it goes, and onPartitionsAssigned with exactly what came, after it came",
    source="ConsumerRebalanceListener; ConsumerCoordinator.onJoinPrepare, onJoinComplete, onLeavePrepare",
    premises=(RECORDED,),
    exempted_by=(ListenerCalled, MemberStarted, PartitionsAssigned, PartitionsLost, PartitionsRevoked),
    violation=ListenerIsCalledForEachChangeViolated,
    fold=_Listeners,
)
"""An application that is not called goes on with partitions of another member, or never begins with its own.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
"""

CLAIMS: Final = (ListenerIsCalledForEachChange,)
"""In the order in which reports name them."""
