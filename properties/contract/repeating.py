"""When a member in a long poll tries again or commits: as soon as its back-off or its interval is over, and not later.

That it does not do so sooner is claimed elsewhere (`polling`, `seeking`). Only where the application polls rarely
(`MemberStarted.poll_ms`) does nothing but the coordinator's own wish make the poll go on.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ON_JOIN_COMPLETE,
    CallbackEnded,
    CallbackStarted,
    CoordinatorLost,
    Event,
    LookUpAnswered,
    LookUpSent,
    MemberEvent,
    MembershipLost,
    MemberStarted,
    RecordsDelivered,
    RequestAnswered,
    RequestSent,
    SubscriptionChanged,
    WorkerConfigured,
)
from rebalance_check.properties.contract.heartbeats import EXEMPTED, PREMISES, OfMember, longest_pause_ms
from rebalance_check.properties.contract.pace import SLACK_MS, Pace
from rebalance_check.properties.contract.polling import AFTER_BACKOFF
from rebalance_check.properties.contract.seeking import RETRIABLE
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.contract.waking import OF_A_JOIN, OF_A_MEMBER, OF_CONNECT, OfMembers
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation

OfALookUp: TypeAlias = CoordinatorLost | LookUpAnswered | MemberStarted

PATIENT: Final = "only members whose application polls rarely are judged (MemberStarted.poll_ms)"


class FailedJoinIsRepeatedInTimeViolated(Violation):
    """A member whose attempt to join failed waited longer than its back-off."""


class CoordinatorIsLookedUpInTimeViolated(Violation):
    """A member that does not know its coordinator looked for it later than its back-off asks for."""


class PeriodicCommitsKeepTheIntervalViolated(Violation):
    """A member that commits by itself did not do so for longer than its interval."""


class _OfPatient(OfMembers):
    """Judges members whose polls are long."""

    def pace_of(self, member: str) -> Pace | None:
        """The pace of a member that is judged."""
        pace = self.paces.of.get(member)
        return pace if pace is not None and pace.started.poll_ms else None


class _Joins(_OfPatient):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            SubscriptionChanged: self.on_over,
        }
        super().__init__(invariant, handlers)
        self._joins: dict[str, int] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process begins anew."""
        self.on_over(event)

    def on_over(self, event: OfMember) -> None:
        """So does one that leaves, or wants other topics."""
        self.due.pop(event.member, None)
        self._joins.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """It tries again, or leaves."""
        self.look(event.member, event)
        if event.api in OF_A_JOIN:
            self._joins[event.member] = event.request
            self.due.pop(event.member, None)
        elif event.api == Api.LEAVE_GROUP:
            self.on_over(event)

    def on_answered(self, event: RequestAnswered) -> None:
        """An attempt failed."""
        self.look(event.member, event)
        pace = self.pace_of(event.member)
        if self._joins.get(event.member) != event.request:
            return
        del self._joins[event.member]
        if pace is not None and event.error in AFTER_BACKOFF:
            self.wait(event, pace.started.retry_backoff_ms)

    def able_since(self, pace: Pace) -> int:
        """What the application needs, and what it waits for."""
        return max(pace.joins_since(), pace.retries_since())

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """It waits on."""
        self.contradiction(
            f"{member} tries to join again {event.time_ms - since.time_ms} ms after an attempt that failed",
            (f"an attempt of {member} to join failed at {STEP}, and its retry.backoff.ms are "
             f"{due_ms - since.time_ms};", since),
            (f"it was in a poll, and knew its coordinator, and sent no JoinGroup until {STEP}: contradiction.", event),
        )  # fmt: skip


class _LookUps(_OfPatient):
    """Per member: how many look-ups failed in a row."""

    bookkeeping = OF_A_MEMBER | {CoordinatorLost, LookUpAnswered}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            CoordinatorLost: self.on_lost,
            LookUpSent: self.on_sent,
            LookUpAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self._failures: dict[str, int] = {}

    def on_started(self, event: MemberStarted) -> None:
        """It looks for its coordinator first of all."""
        self._failures.pop(event.member, None)
        self._look_up_within(event, SLACK_MS)

    def on_lost(self, event: CoordinatorLost) -> None:
        """It waits for one back-off."""
        pace = self.pace_of(event.member)
        if pace is not None:
            self._look_up_within(event, pace.started.retry_backoff_ms)

    def on_sent(self, event: LookUpSent) -> None:
        """It looks."""
        self.look(event.member, event)
        self.due.pop(event.member, None)

    def on_answered(self, event: LookUpAnswered) -> None:
        """It knows its coordinator, or looks again after a back-off that grows."""
        pace = self.pace_of(event.member)
        if event.error == "NONE" or pace is None:
            self._failures.pop(event.member, None)
        elif event.error in RETRIABLE:
            failed = self._failures[event.member] = self._failures.get(event.member, 0) + 1
            self._look_up_within(event, longest_pause_ms(pace.started, failed))

    def _look_up_within(self, event: OfALookUp, allowed_ms: int) -> None:
        if self.pace_of(event.member) is not None:
            self.wait(event, allowed_ms)

    def able_since(self, pace: Pace) -> int:
        """What the application needs, which is to find its coordinator."""
        return pace.retries_since()

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """It does not look."""
        self.contradiction(
            f"{member} looks for its coordinator no sooner than {event.time_ms - since.time_ms} ms after it had to",
            (f"{member} does not know its coordinator at {STEP}, and looks for it {due_ms - since.time_ms} ms later at "
             "most;", since),
            (f"it was in a poll, and sent no FindCoordinator until {STEP}: contradiction.", event),
        )  # fmt: skip


class _Commits(_OfPatient):
    """Per member that has joined and has read records: since when its next commit is due."""

    bookkeeping = OF_A_MEMBER | {RecordsDelivered}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((MembershipLost, SubscriptionChanged, CallbackStarted), self.on_process),
            CallbackEnded: self.on_return,
            RecordsDelivered: self.on_delivered,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self._settled: set[str] = set()

    def on_process(self, event: MemberEvent) -> None:
        """It joins, or is another process."""
        super().on_process(event)
        self._settled.discard(event.member)

    def on_return(self, event: CallbackEnded) -> None:
        """It has joined."""
        if event.callback == ON_JOIN_COMPLETE and event.outcome == FINISHED:
            self._settled.add(event.member)

    def on_delivered(self, event: RecordsDelivered) -> None:
        """It has something to commit; a member that joins keeps its partitions, and commits when it has joined."""
        if event.member in self._settled and event.member not in self.due:
            self._commit_within(event)

    def on_sent(self, event: RequestSent) -> None:
        """It commits, and goes on doing so."""
        self.look(event.member, event)
        if event.api == Api.OFFSET_COMMIT and event.member in self.due:
            self._commit_within(event)
        elif event.api in {Api.JOIN_GROUP, Api.LEAVE_GROUP}:
            self.due.pop(event.member, None)
            self._settled.discard(event.member)

    def on_answered(self, event: RequestAnswered) -> None:
        """A member that is refused anything may join again, and commit before that or not at all."""
        self.look(event.member, event)
        if event.error != "NONE":
            self.due.pop(event.member, None)

    def _commit_within(self, event: RecordsDelivered | RequestSent) -> None:
        pace = self.pace_of(event.member)
        if pace is not None:
            self.wait(event, pace.started.auto_commit_interval_ms)

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """It does not commit."""
        self.contradiction(
            f"{member} commits nothing for {event.time_ms - since.time_ms} ms",
            (f"{member} has offsets to commit from {STEP} on, and its auto.commit.interval.ms are "
             f"{due_ms - since.time_ms};", since),
            (f"it was in a poll, and knew its coordinator, and sent no OffsetCommit until {STEP}: contradiction.",
             event),
        )  # fmt: skip


FailedJoinIsRepeatedInTime: Final = Invariant(
    name="failed_join_is_repeated_in_time",
    family=FAMILY,
    claim="a member in a poll whose attempt to join failed without an answer, or because its coordinator moved or "
    "loads, sends JoinGroup again when retry.backoff.ms are over and it knows its coordinator, and not later",
    source="AbstractCoordinator.joinGroupIfNeeded (retryBackoff)",
    premises=(*PREMISES, OF_CONNECT, PATIENT),
    exempted_by=(*EXEMPTED, CallbackEnded, SubscriptionChanged, WorkerConfigured),
    violation=FailedJoinIsRepeatedInTimeViolated,
    fold=_Joins,
)
"""A member whose attempt to join failed tries again when its back-off is over.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", retry_backoff_ms=100, poll_ms=10000)
    CoordinatorFound(member="m0", node=1)
    RequestSent(member="m0", api="JoinGroup", request=1)
    RequestAnswered(member="m0", api="JoinGroup", request=1, error="COORDINATOR_LOAD_IN_PROGRESS")
    RequestSent(member="m0", api="JoinGroup", request=2, time_ms=2000)
"""

CoordinatorIsLookedUpInTime: Final = Invariant(
    name="coordinator_is_looked_up_in_time",
    family=FAMILY,
    claim="a member in a poll that has started looks for its coordinator at once, one that has lost it when "
    "retry.backoff.ms are over, and after a look-up that failed when its back-off is, and not later",
    source="AbstractCoordinator.ensureCoordinatorReady; KIP-580 (ExponentialBackoff)",
    premises=(*PREMISES, OF_CONNECT, PATIENT),
    exempted_by=(
        *(kind for kind in EXEMPTED if kind is not RequestAnswered),
        LookUpAnswered,
        LookUpSent,
        WorkerConfigured,
    ),
    violation=CoordinatorIsLookedUpInTimeViolated,
    fold=_LookUps,
)
"""A member that does not know its coordinator looks for it when its back-off is over.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", retry_backoff_ms=100, retry_backoff_max_ms=1000, poll_ms=10000)
    CoordinatorLost(member="m0")
    LookUpSent(member="m0", request=1, time_ms=2000)
"""

PeriodicCommitsKeepTheInterval: Final = Invariant(
    name="periodic_commits_keep_the_interval",
    family=FAMILY,
    claim="a member in a poll that has joined and has read records, and that nothing asks to join, commits each "
    "auto.commit.interval.ms, and not later",
    source="ConsumerCoordinator.maybeAutoCommitOffsetsAsync, timeToNextPoll",
    premises=(*PREMISES, PATIENT),
    exempted_by=(*EXEMPTED, CallbackEnded, CallbackStarted, SubscriptionChanged),
    violation=PeriodicCommitsKeepTheIntervalViolated,
    fold=_Commits,
)
"""A member that commits by itself does so each auto.commit.interval.ms, in a long poll, too.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", auto_commit_interval_ms=5000, poll_ms=10000)
    CoordinatorFound(member="m0", node=1)
    CallbackEnded(member="m0", callback="onJoinComplete", outcome="finished")
    RecordsDelivered(member="m0", partitions=("t-0",))
    RequestSent(member="m0", api="Heartbeat", request=1, generation=1, time_ms=6000)
"""

CLAIMS: Final = (FailedJoinIsRepeatedInTime, CoordinatorIsLookedUpInTime, PeriodicCommitsKeepTheInterval)
"""In the order in which reports name them."""
