"""A consumer that commits by itself joins when the commit that precedes the rebalance is answered, and not before; it
repeats one that failed after a pause."""

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


class CommitsBeforeAJoinPauseViolated(Violation):
    """A consumer repeated the commit that precedes a join without a pause."""


class _Preparation:
    """Of one member: when it began to prepare, whether a call runs that is before its listener, the commit that is on
    its way, and the answer to the last one."""

    def __init__(self, begun: CallbackStarted) -> None:
        self.begun = begun
        self.is_committing = True
        self.commit: RequestSent | None = None
        self.answer: RequestAnswered | None = None


class _Preparations(SimulatedFold):
    """Of each consumer that commits by itself: its settings, and the preparation that is under way."""

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
        self.settings: dict[str, MemberStarted] = {}
        self._of: dict[str, _Preparation] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Its settings are known from its start."""
        self._of.pop(event.member, None)
        self.settings.pop(event.member, None)
        if isinstance(event, MemberStarted) and event.auto_commit_interval_ms and self.run.is_recorded:
            self.settings[event.member] = event

    def on_call(self, event: CallbackStarted) -> None:
        """It prepares to join, or goes on with that."""
        if event.callback == ON_JOIN_PREPARE and event.member in self.settings:
            self._of.setdefault(event.member, _Preparation(event)).is_committing = True

    def on_listener(self, event: ListenerCalled) -> None:
        """What is committed from here on is the application's, and not waited for."""
        if (one := self._of.get(event.member)) is not None:
            one.is_committing, one.answer = False, None

    def on_sent(self, event: RequestSent) -> None:
        """The commit that precedes the rebalance."""
        one = self._of.get(event.member)
        if one is not None and one.is_committing and event.api == Api.OFFSET_COMMIT:
            self.look_at_commit(one, event)
            one.commit, one.answer = event, None

    def on_answered(self, event: RequestAnswered) -> None:
        """It is over, or its outcome stays unknown."""
        one = self._of.get(event.member)
        if one is not None and one.commit is not None and one.commit.request == event.request:
            one.commit, one.answer = None, event

    def on_return(self, event: CallbackEnded) -> None:
        """The member is prepared, or will go on."""
        one = self._of.get(event.member)
        if one is None or event.callback != ON_JOIN_PREPARE:
            return
        one.is_committing = False
        if event.outcome == FINISHED:
            del self._of[event.member]
            self.look_at_end(one, event)

    def look_at_commit(self, one: _Preparation, event: RequestSent) -> None:
        """A commit, the first one or one more."""

    def look_at_end(self, one: _Preparation, event: CallbackEnded) -> None:
        """The member is prepared."""


class _Waits(_Preparations):
    def look_at_end(self, one: _Preparation, event: CallbackEnded) -> None:
        """No commit is on its way, or there is no time left."""
        self.compared = (self.compared or 0) + 1
        due_ms = one.begun.time_ms + self.settings[event.member].rebalance_timeout_ms
        if one.commit is not None and event.time_ms < due_ms:
            self.contradiction(
                f"{event.member} is prepared to join, and its commit is not answered",
                (f"{event.member}, which commits by itself, began to prepare at {STEP};", one.begun),
                (f"it sent its commit at {STEP};", one.commit),
                (f"it is prepared at {STEP}, within its rebalance timeout, and no answer came: contradiction.", event),
            )


class _Pauses(_Preparations):
    bookkeeping = (_Preparations.bookkeeping | {CallbackEnded}) - {RequestSent}

    def look_at_commit(self, one: _Preparation, event: RequestSent) -> None:
        """The one before failed some time ago."""
        if one.answer is None:
            return
        self.compared = (self.compared or 0) + 1
        backoff_ms, passed_ms = self.settings[event.member].retry_backoff_ms, event.time_ms - one.answer.time_ms
        if passed_ms < backoff_ms:
            self.contradiction(
                f"{event.member} repeats the commit that precedes its join after {passed_ms} ms",
                (f"{event.member}, which commits by itself, began to prepare at {STEP};", one.begun),
                (f"its commit was answered {one.answer.error or 'nothing'} at {STEP}, and its retry.backoff.ms are "
                 f"{backoff_ms};", one.answer),
                (f"it commits again at {STEP}: contradiction.", event),
            )  # fmt: skip


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

CommitsBeforeAJoinPause: Final = Invariant(
    name="commits_before_a_join_pause",
    family=FAMILY,
    claim="a consumer that commits by itself, and whose commit before a join failed, waits for retry.backoff.ms before "
    "onJoinPrepare sends it again",
    source="ConsumerCoordinator.onJoinPrepare (pollTimer.sleep(retryBackoffMs), KAFKA-13310)",
    premises=(RECORDED, "each poll lasts for as long as the back-off: a shorter one would end it"),
    exempted_by=(CallbackEnded, ListenerCalled, MemberStarted, RequestAnswered),
    violation=CommitsBeforeAJoinPauseViolated,
    fold=_Pauses,
)
"""A coordinator that loads answers each commit at once, and would be asked without a pause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", auto_commit_interval_ms=5000, retry_backoff_ms=100)
    CallbackStarted(member="m0", callback="onJoinPrepare", generation=1)
    RequestSent(member="m0", api="OffsetCommit", request=4, generation=1)
    RequestAnswered(member="m0", api="OffsetCommit", request=4, error="COORDINATOR_LOAD_IN_PROGRESS")
    RequestSent(member="m0", api="OffsetCommit", request=5, generation=1)
"""

CLAIMS: Final = (JoinsWaitForTheCommit, CommitsBeforeAJoinPause)
"""In the order in which reports name them."""
