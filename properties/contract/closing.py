"""What a process that closes does: it waits for its last commit, gives up what it owns, and leaves its group."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_LEAVE_PREPARE,
    AssignmentCompleted,
    CallbackStarted,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
    RunStarted,
)
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold


class LastCommitIsWaitedForViolated(Violation):
    """A consumer that closed prepared to leave, and its last commit was not answered."""


class WhoClosesOwnsNothingViolated(Violation):
    """A consumer closed and had not given up what it owned."""


class ClosingEndsWithLeavingViolated(Violation):
    """A process that was asked to close ended, and had not left."""


class _LastCommits(SimulatedFold):
    """Per member that closes: its commits that are not answered, by the numbers of their requests."""

    bookkeeping = frozenset(
        {RunStarted, MemberClosing, MemberCrashed, MemberLeft, MemberStarted, RequestAnswered, RequestSent}
    )
    needs = ((MemberClosing,), (RequestSent,))

    def __init__(self, invariant: Invariant) -> None:
        ends: dict[type[Event], Handler] = dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft), self.on_process)
        handlers: dict[type[Event], Handler] = {
            MemberClosing: self.on_closing,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            CallbackStarted: self.on_called,
        }
        super().__init__(invariant, {**ends, **handlers})
        self.compared = 0
        self._open: dict[str, dict[int, RequestSent]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process does not close yet."""
        self._open.pop(event.member, None)

    def on_closing(self, event: MemberClosing) -> None:
        """What it commits from here on is its last."""
        if self.run.is_simulated:
            self._open[event.member] = {}

    def on_sent(self, event: RequestSent) -> None:
        """A last commit."""
        commits = self._open.get(event.member)
        if event.api == Api.OFFSET_COMMIT and commits is not None:
            self.compared = (self.compared or 0) + 1
            commits[event.request] = event

    def on_answered(self, event: RequestAnswered) -> None:
        """It was answered, or given up."""
        self._open.get(event.member, {}).pop(event.request, None)

    def on_called(self, event: CallbackStarted) -> None:
        """It leaves; what the application commits from here on, it does not wait for."""
        if event.callback != ON_LEAVE_PREPARE:
            return
        for sent in self._open.pop(event.member, {}).values():
            self.contradiction(
                f"{event.member} leaves before its last commit is answered",
                (f"{event.member} closes, and sent OffsetCommit at {STEP};", sent),
                (f"it was not answered, and at {STEP} the member prepares to leave: contradiction.", event),
            )


class _OwnsNothing(SimulatedFold):
    """What each consumer owns."""

    bookkeeping = frozenset({AssignmentCompleted, MemberCrashed, MemberStarted, PartitionsLost, PartitionsRevoked})
    needs = ((AssignmentCompleted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_process,
            MemberCrashed: self.on_process,
            MemberLeft: self.on_left,
            AssignmentCompleted: self.on_completed,
            PartitionsRevoked: self.on_given_up,
            PartitionsLost: self.on_given_up,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._owns: dict[str, tuple[AssignmentCompleted, set[str]]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process owns nothing."""
        self._owns.pop(event.member, None)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """It owns this from here on."""
        self._owns[event.member] = event, set(event.owned)

    def on_given_up(self, event: PartitionsRevoked | PartitionsLost) -> None:
        """It owns less."""
        if (owns := self._owns.get(event.member)) is not None:
            owns[1].difference_update(event.partitions)

    def on_left(self, event: MemberLeft) -> None:
        """It gave everything up before."""
        owns = self._owns.pop(event.member, None)
        if owns is None or not self.run.is_simulated:
            return
        self.compared = (self.compared or 0) + 1
        completed, kept = owns
        if kept:
            self.contradiction(
                f"{event.member} closes and has not given up {', '.join(sorted(kept))}",
                (f"{event.member} owns {', '.join(sorted(completed.owned))} since {STEP};", completed),
                (f"it left at {STEP}, and neither gave up nor lost {', '.join(sorted(kept))}: contradiction.", event),
            )


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


LastCommitIsWaitedFor: Final = Invariant(
    name="last_commit_is_waited_for",
    family=FAMILY,
    claim="a consumer that closes prepares to leave when the commit that it sent for that was answered or given up",
    source="ConsumerCoordinator.close, maybeAutoCommitOffsetsSync; Consumer.close(timeout)",
    premises=(SIMULATED,),
    exempted_by=(MemberCrashed, MemberLeft, MemberStarted, RequestAnswered),
    violation=LastCommitIsWaitedForViolated,
    fold=_LastCommits,
)
"""A consumer that closes waits for the answer to its last commit.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberClosing(member="m0")
    RequestSent(member="m0", api="OffsetCommit", request=0, generation=1)
    CallbackStarted(member="m0", generation=1, callback="onLeavePrepare")
"""

WhoClosesOwnsNothing: Final = Invariant(
    name="who_closes_owns_nothing",
    family=FAMILY,
    claim="a consumer that closes has given up, or lost, all that it owned when it leaves",
    source="ConsumerCoordinator.onLeavePrepare",
    premises=(SIMULATED,),
    exempted_by=(MemberCrashed, MemberStarted, PartitionsLost, PartitionsRevoked),
    violation=WhoClosesOwnsNothingViolated,
    fold=_OwnsNothing,
)
"""The application commits and cleans up in the callback by which it gives a partition up.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
    MemberLeft(member="m0")
"""

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

CLAIMS: Final = (LastCommitIsWaitedFor, WhoClosesOwnsNothing, ClosingEndsWithLeaving)
"""In the order in which reports name them."""
