"""A consumer that commits by itself joins when the commit that precedes the rebalance is done or refused for good, and
not before; it repeats one that failed after a pause."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ON_JOIN_PREPARE,
    UNFINISHED,
    CallbackEnded,
    CallbackStarted,
    Event,
    ListenerCalled,
    MemberEvent,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.contract.polling import AFTER_BACKOFF
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

NOT_FOR_GOOD: Final = AFTER_BACKOFF | {"REQUEST_TIMED_OUT", "UNKNOWN_TOPIC_OR_PARTITION"}
"""The outcomes of a commit after which trying again may help (``RetriableException``)."""


class JoinsWaitForTheCommitViolated(Violation):
    """A consumer was prepared to join while its last commit was on its way, or had failed for a while only."""


class CommitsBeforeAJoinPauseViolated(Violation):
    """A consumer repeated the commit that precedes a join without a pause."""


class _Preparation:
    """Of one member: when it began to prepare, whether a call runs that is before its listener, the commit that is on
    its way, the answer to the last one, and whether its membership ended meanwhile."""

    def __init__(self, begun: CallbackStarted) -> None:
        self.begun = begun
        self.is_committing = True
        self.commit: RequestSent | None = None
        self.answer: RequestAnswered | None = None
        self.is_over = False


_OF_PREPARATIONS: Final = frozenset({*PROCESS, CallbackStarted, ListenerCalled, RequestSent, RequestAnswered})


class _Preparations(SimulatedFold):
    """Of each consumer that commits by itself: its settings, and the preparation that is under way."""

    needs = ((MemberStarted,), (CallbackStarted,))

    def __init__(self, invariant: Invariant, more: dict[type[Event], Handler] | None = None) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            CallbackStarted: self.on_call,
            ListenerCalled: self.on_listener,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            CallbackEnded: self.on_return,
        }
        super().__init__(invariant, {**handlers, **(more or {})})
        self.compared = 0
        self.settings: dict[str, MemberStarted] = {}
        self.of: dict[str, _Preparation] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Its settings are known from its start."""
        self.of.pop(event.member, None)
        self.settings.pop(event.member, None)
        if isinstance(event, MemberStarted) and event.auto_commit_interval_ms and self.run.is_recorded:
            self.settings[event.member] = event

    def on_call(self, event: CallbackStarted) -> None:
        """It prepares to join, or goes on with that."""
        if event.callback == ON_JOIN_PREPARE and event.member in self.settings:
            self.of.setdefault(event.member, _Preparation(event)).is_committing = True

    def on_listener(self, event: ListenerCalled) -> None:
        """What is committed from here on is the application's, and not waited for."""
        if (one := self.of.get(event.member)) is not None:
            one.is_committing = False

    def on_sent(self, event: RequestSent) -> None:
        """The commit that precedes the rebalance."""
        one = self.of.get(event.member)
        if one is not None and one.is_committing and event.api == Api.OFFSET_COMMIT:
            self.look_at_commit(one, event)
            one.commit, one.answer = event, None

    def on_answered(self, event: RequestAnswered) -> None:
        """It is over, or its outcome stays unknown."""
        one = self.of.get(event.member)
        if one is not None and one.commit is not None and one.commit.request == event.request:
            one.commit, one.answer = None, event

    def on_return(self, event: CallbackEnded) -> None:
        """The member is prepared, or will go on."""
        one = self.of.get(event.member)
        if one is None or event.callback != ON_JOIN_PREPARE:
            return
        one.is_committing = False
        if event.outcome != UNFINISHED:
            del self.of[event.member]
        if event.outcome == FINISHED:
            self.look_at_end(one, event)

    def look_at_commit(self, one: _Preparation, event: RequestSent) -> None:
        """A commit, the first one or one more."""

    def look_at_end(self, one: _Preparation, event: CallbackEnded) -> None:
        """The member is prepared."""


class _Waits(_Preparations):
    bookkeeping = _OF_PREPARATIONS | {MembershipLost}

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MembershipLost: self.on_lost})

    def on_lost(self, event: MembershipLost) -> None:
        """A commit that fails from here on is not repeated: there is no membership to commit in."""
        if (one := self.of.get(event.member)) is not None:
            one.is_over = True

    def look_at_end(self, one: _Preparation, event: CallbackEnded) -> None:
        """No commit is on its way, or is to be repeated, or there is no time left."""
        self.compared = (self.compared or 0) + 1
        if event.time_ms >= one.begun.time_ms + self.settings[event.member].rebalance_timeout_ms:
            return
        begun = (f"{event.member}, which commits by itself, began to prepare at {STEP};", one.begun)
        if one.commit is not None:
            self.contradiction(
                f"{event.member} is prepared to join, and its commit is not answered",
                begun,
                (f"it sent its commit at {STEP};", one.commit),
                (f"it is prepared at {STEP}, within its rebalance timeout, and no answer came: contradiction.", event),
            )
        elif one.answer is not None and one.answer.error in NOT_FOR_GOOD and not one.is_over:
            self.contradiction(
                f"{event.member} is prepared to join, and does not repeat its commit",
                begun,
                (f"its commit was answered {one.answer.error or 'nothing'} at {STEP}, which is not for good;",
                 one.answer),
                (f"it is prepared at {STEP}, within its rebalance timeout, and sent no other commit: contradiction.",
                 event),
            )  # fmt: skip


class _Pauses(_Preparations):
    bookkeeping = (_OF_PREPARATIONS | {CallbackEnded}) - {RequestSent}

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
    claim="onJoinPrepare of a consumer that commits by itself ends when the commit that it sent is done or refused for "
    "good (one that is not answered, or refused by a coordinator that moved or loads, is sent again), when its "
    "membership is over, or when its rebalance timeout has passed, and not before",
    source="ConsumerCoordinator.onJoinPrepare (autoCommitOffsetRequestFuture, isRetriable, joinPrepareTimer)",
    premises=(RECORDED,),
    exempted_by=(ListenerCalled, MembershipLost, MemberStarted, RequestAnswered, RequestSent),
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
