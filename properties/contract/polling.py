"""What an application's polls decide: that a member stays, and when it joins again after an attempt that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    CallbackEnded,
    Event,
    MemberClosing,
    RequestAnswered,
    RequestSent,
    RunEnded,
    RunStarted,
    SubscriptionChanged,
)
from rebalance_check.properties.contract.heartbeats import EXEMPTED, OF_A_WAIT, PREMISES, DueFold
from rebalance_check.properties.contract.pace import SLACK_MS, Pace
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation

AT_ONCE: Final[Mapping[str, frozenset[str]]] = {
    Api.JOIN_GROUP: frozenset({"UNKNOWN_MEMBER_ID", "MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS"}),
    Api.SYNC_GROUP: frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"}),
}
"""The answers after which the next JoinGroup follows without a pause."""
AFTER_BACKOFF: Final = frozenset({None, "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"})
"""The outcomes after which it waits for ``retry.backoff.ms``."""


class AbsentApplicationLeavesViolated(Violation):
    """A member whose application did not poll for max.poll.interval.ms stayed in its group."""


class RefusedJoinJoinsAgainViolated(Violation):
    """A member whose JoinGroup or SyncGroup was refused for now did not join again at once."""


class RetriesWaitForTheBackoffViolated(Violation):
    """A member joined again sooner than one back-off after an attempt that failed."""


class _Absent(DueFold):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            ApplicationBusy: self.on_busy,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_sent,
        }
        super().__init__(invariant, handlers)

    bookkeeping = OF_A_WAIT | {ApplicationBusy}
    needs = (*DueFold.needs, (ApplicationBusy,))

    def on_busy(self, event: ApplicationBusy) -> None:
        """It stays away for long enough to be given up."""
        self.due.pop(event.member, None)
        pace = self.paces.of.get(event.member)
        if pace is not None and pace.started.rebalance_timeout_ms:
            left_ms = event.polled_ms + pace.started.rebalance_timeout_ms - event.time_ms
            if 0 < left_ms < event.busy_ms:
                self.wait(event, left_ms)

    def on_sent(self, event: RequestSent | RequestAnswered) -> None:
        """Who is in the group now should have left it."""
        if event.member not in self.due:
            return
        pace = self.paces.of.get(event.member)
        if pace is None or pace.away is None or event.time_ms >= pace.away.time_ms + pace.away.busy_ms:
            del self.due[event.member]
        else:
            self.look(event.member, event)

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:
        """It stays."""
        self.contradiction(
            f"{member} stays in its group, and its application does not poll",
            (f"the application of {member} stays away from {STEP} on, and its max.poll.interval.ms are over "
             f"{due_ms - since.time_ms} ms later;", since),
            (f"{member} has not left its group at {STEP}: contradiction.", event),
        )  # fmt: skip


class _JoinsAgain(DueFold):
    needs = ((RunStarted,), (RequestAnswered,))
    bookkeeping = OF_A_WAIT | {CallbackEnded, MemberClosing, SubscriptionChanged}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            SubscriptionChanged: self.on_process,
        }
        super().__init__(invariant, handlers)

    def on_answered(self, event: RequestAnswered) -> None:
        """Refused for now."""
        self.look(event.member, event)
        if event.error in AT_ONCE.get(event.api, frozenset()):
            self.wait(event, SLACK_MS)

    def on_sent(self, event: RequestSent) -> None:
        """It joins again, or leaves."""
        self.look(event.member, event)
        if event.api in {Api.JOIN_GROUP, Api.LEAVE_GROUP}:
            self.due.pop(event.member, None)

    def able_since(self, pace: Pace) -> int:
        """What the application needs."""
        return pace.joins_since()

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:  # noqa: ARG002 - at once
        """It does something else."""
        assert isinstance(since, RequestAnswered)
        self.contradiction(
            f"{member} does not join again at once, and its {since.api} was answered {since.error}",
            (f"the {since.api} of {member} was answered {since.error} at {STEP};", since),
            (f"it polled, knew its coordinator and was prepared, and {event.time_ms - since.time_ms} ms later, at "
             f"{STEP}, it had not sent JoinGroup: contradiction.", event),
        )  # fmt: skip


class _Backoff(DueFold):
    """Too early instead of too late: what is due here is the earliest time."""

    needs = ((RunStarted,), (RequestAnswered,))
    bookkeeping = OF_A_WAIT | {RequestAnswered, RunEnded}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {RequestSent: self.on_sent, RequestAnswered: self.on_answered}
        super().__init__(invariant, handlers)

    def on_answered(self, event: RequestAnswered) -> None:
        """An attempt failed."""
        pace = self.paces.of.get(event.member)
        if event.api in AT_ONCE and event.error in AFTER_BACKOFF and pace is not None:
            self.wait(event, pace.started.retry_backoff_ms)

    def on_sent(self, event: RequestSent) -> None:
        """The next one."""
        if event.api != Api.JOIN_GROUP:
            return
        since, due_ms = self.due.pop(event.member, (None, 0))
        if since is not None and event.time_ms < due_ms:
            self.contradiction(
                f"{event.member} joins again {event.time_ms - since.time_ms} ms after an attempt that failed",
                (f"an attempt of {event.member} to join failed at {STEP}, and its retry.backoff.ms are "
                 f"{due_ms - since.time_ms};", since),
                (f"it sent JoinGroup at {STEP}: contradiction.", event),
            )  # fmt: skip

    def look(self, member: str, event: Event) -> None:
        """Nothing is late here."""


AbsentApplicationLeaves: Final = Invariant(
    name="absent_application_leaves",
    family=FAMILY,
    claim="a member whose application does not poll for max.poll.interval.ms leaves its group",
    source="KIP-62; AbstractCoordinator.HeartbeatThread (pollTimeoutExpired)",
    premises=PREMISES,
    exempted_by=EXEMPTED,
    violation=AbsentApplicationLeavesViolated,
    fold=_Absent,
)
"""A member whose application does not poll for max.poll.interval.ms leaves its group.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", rebalance_timeout_ms=15000)
    CoordinatorFound(member="m0", node=1)
    MemberJoined(member="m0", generation=1, member_id="a")
    ApplicationBusy(member="m0", polled_ms=0, busy_ms=30000)
    RequestSent(member="m0", api="Heartbeat", request=5, generation=1, time_ms=18000)
"""

RefusedJoinJoinsAgain: Final = Invariant(
    name="refused_join_joins_again",
    family=FAMILY,
    claim="a member whose JoinGroup or SyncGroup is answered REBALANCE_IN_PROGRESS, or whose membership is refused by "
    "that answer, sends JoinGroup at once when its application polls",
    source="AbstractCoordinator.joinGroupIfNeeded",
    premises=PREMISES,
    exempted_by=(*EXEMPTED, CallbackEnded, SubscriptionChanged),
    violation=RefusedJoinJoinsAgainViolated,
    fold=_JoinsAgain,
)
"""A member whose attempt to join is refused for now joins again at once.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    CoordinatorFound(member="m0", node=1)
    RequestAnswered(member="m0", api="SyncGroup", request=1, error="REBALANCE_IN_PROGRESS")
    RequestSent(member="m0", api="Heartbeat", request=2, generation=1, time_ms=3000)
"""

RetriesWaitForTheBackoff: Final = Invariant(
    name="retries_wait_for_the_backoff",
    family=FAMILY,
    claim="a member whose attempt to join failed without an answer, or because its coordinator moved or loads, waits "
    "for retry.backoff.ms before it sends JoinGroup again",
    source="AbstractCoordinator.joinGroupIfNeeded (retryBackoff)",
    premises=PREMISES,
    exempted_by=EXEMPTED,
    violation=RetriesWaitForTheBackoffViolated,
    fold=_Backoff,
)
"""A member whose attempt to join failed waits for retry.backoff.ms before the next.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", retry_backoff_ms=100)
    RequestAnswered(member="m0", api="JoinGroup", request=1, error=None)
    RequestSent(member="m0", api="JoinGroup", request=2, time_ms=10)
"""

CLAIMS: Final = (AbsentApplicationLeaves, RefusedJoinJoinsAgain, RetriesWaitForTheBackoff)
"""In the order in which reports name them."""
