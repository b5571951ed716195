"""A consumer that commits by itself joins when the commit that precedes the rebalance is answered, and not before."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ON_JOIN_PREPARE,
    CallbackEnded,
    CallbackStarted,
    Event,
    ListenerCalled,
    MemberEvent,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class JoinsWaitForTheCommitViolated(Violation):
    """A consumer was prepared to join while its last commit was on its way."""


class _Preparation:
    """Of one member: when it began to prepare, whether a call runs that is before its listener, and its commit."""

    def __init__(self, begun: CallbackStarted) -> None:
        self.begun = begun
        self.is_committing = True
        self.commit: RequestSent | None = None


class _Waits(SimulatedFold):
    bookkeeping = frozenset({*PROCESS, CallbackStarted, ListenerCalled, RequestSent, RequestAnswered})
    needs = ((MemberStarted,), (CallbackStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            CallbackStarted: self.on_call,
            ListenerCalled: self.on_listener,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            CallbackEnded: self.on_return,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._limit_ms: dict[str, int] = {}
        self._of: dict[str, _Preparation] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Its settings are known from its start."""
        self._of.pop(event.member, None)
        self._limit_ms.pop(event.member, None)
        if isinstance(event, MemberStarted) and event.auto_commit_interval_ms and self.run.is_recorded:
            self._limit_ms[event.member] = event.rebalance_timeout_ms

    def on_call(self, event: CallbackStarted) -> None:
        """It prepares to join, or goes on with that."""
        if event.callback == ON_JOIN_PREPARE and event.member in self._limit_ms:
            self._of.setdefault(event.member, _Preparation(event)).is_committing = True

    def on_listener(self, event: ListenerCalled) -> None:
        """What is committed from here on is the application's, and not waited for."""
        if (one := self._of.get(event.member)) is not None:
            one.is_committing = False

    def on_sent(self, event: RequestSent) -> None:
        """The commit that precedes the rebalance."""
        one = self._of.get(event.member)
        if one is not None and one.is_committing and event.api == Api.OFFSET_COMMIT:
            one.commit = event

    def on_answered(self, event: RequestAnswered) -> None:
        """It is over, or its outcome stays unknown."""
        one = self._of.get(event.member)
        if one is not None and one.commit is not None and one.commit.request == event.request:
            one.commit = None

    def on_return(self, event: CallbackEnded) -> None:
        """The member is prepared, or will go on."""
        one = self._of.get(event.member)
        if one is None or event.callback != ON_JOIN_PREPARE:
            return
        one.is_committing = False
        if event.outcome == FINISHED:
            del self._of[event.member]
            self._look(one, event)

    def _look(self, one: _Preparation, event: CallbackEnded) -> None:
        self.compared = (self.compared or 0) + 1
        if one.commit is not None and event.time_ms < one.begun.time_ms + self._limit_ms[event.member]:
            self.contradiction(
                f"{event.member} is prepared to join, and its commit is not answered",
                (f"{event.member}, which commits by itself, began to prepare at {STEP};", one.begun),
                (f"it sent its commit at {STEP};", one.commit),
                (f"it is prepared at {STEP}, within its rebalance timeout, and no answer came: contradiction.", event),
            )


JoinsWaitForTheCommit: Final = Invariant(
    name="joins_wait_for_the_commit",
    family=FAMILY,
    claim="onJoinPrepare of a consumer that commits by itself ends when the commit that it sent is answered or given "
    "up, or when its rebalance timeout has passed, and not before",
    source="ConsumerCoordinator.onJoinPrepare (autoCommitOffsetRequestFuture, joinPrepareTimer)",
    premises=(RECORDED,),
    exempted_by=(ListenerCalled, MemberStarted, RequestAnswered, RequestSent),
    violation=JoinsWaitForTheCommitViolated,
    fold=_Waits,
)
"""What the next owner begins with is what was committed before.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", auto_commit_interval_ms=5000, rebalance_timeout_ms=15000)
    CallbackStarted(member="m0", callback="onJoinPrepare", generation=1)
    RequestSent(member="m0", api="OffsetCommit", request=4, generation=1)
    CallbackEnded(member="m0", callback="onJoinPrepare")
"""

CLAIMS: Final = (JoinsWaitForTheCommit,)
"""In the order in which reports name them."""
