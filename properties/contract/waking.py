"""What a member does in a poll as soon as it can: an answer wakes the poll, and so does the end of a back-off.

A poll may wait for long, and the coordinator says when it must go on (`Coordinator.next_poll`). A member that says so
too late, or not at all, does its next step when the poll happens to end.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ON_JOIN_COMPLETE,
    ON_JOIN_PREPARE,
    ON_LEAVE_PREPARE,
    PERFORM_ASSIGNMENT,
    RAISED,
    CallbackEnded,
    CallbackStarted,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberEvent,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
    WorkerConfigured,
)
from rebalance_check.properties.contract.heartbeats import EXEMPTED, OF_A_WAIT, PREMISES, DueFold, OfMember
from rebalance_check.properties.contract.pace import SLACK_MS, Pace
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation

ASKS: Final = frozenset({Api.HEARTBEAT, Api.OFFSET_COMMIT})
"""The requests of a member that is settled, by whose answers it learns that the group rebalances."""

OF_CONNECT: Final = "a worker of Connect is not judged: its herder may wait for something else"

OF_A_JOIN: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP})

Asked: TypeAlias = RequestAnswered | MembershipLost


class AskedMemberJoinsAtOnceViolated(Violation):
    """A member that knew that it must join, and could, did not do so at once."""


class AcceptedMemberGoesOnAtOnceViolated(Violation):
    """A member whose JoinGroup or SyncGroup was accepted did not take its next step at once."""


OF_A_MEMBER: Final = OF_A_WAIT | {
    CallbackEnded, CallbackStarted, MemberClosing, MembershipLost, SubscriptionChanged, WorkerConfigured,
}  # fmt: skip
"""What `OfMembers` takes note of."""


class OfMembers(DueFold):
    """Judges members whose application does nothing else in a poll; a herder may wait for other things, or stop."""

    needs = ((RunStarted,), (MemberStarted,))
    bookkeeping = OF_A_MEMBER

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler]) -> None:
        super().__init__(invariant, {WorkerConfigured: self.on_worker, **handlers})
        self._workers: set[str] = set()

    def on_worker(self, event: WorkerConfigured) -> None:
        """It is one of Connect."""
        self._workers.add(event.member)
        self.due.pop(event.member, None)

    def wait(self, event: OfMember, allowed_ms: int) -> None:
        """As the base class, for those that are judged."""
        if event.member not in self._workers:
            super().wait(event, allowed_ms)

    def able_since(self, pace: Pace) -> int:
        """What the application needs."""
        return pace.joins_since()


class _Asked(OfMembers):
    """Per member: the request of a join that is in flight, the commit that a join waits for and when it was answered,
    and until when an application may pause whose poll raised."""

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            MembershipLost: self.on_lost,
            SubscriptionChanged: self.on_subscribed,
            CallbackStarted: self.on_call,
            CallbackEnded: self.on_return,
        }
        super().__init__(invariant, handlers)
        self._settled: set[str] = set()
        self._joins: dict[str, int] = {}
        self._preparing: set[str] = set()
        self._commits: dict[str, int] = {}
        self._committed: dict[str, int] = {}
        self._paused: dict[str, int] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process has asked for nothing."""
        super().on_process(event)
        member = event.member
        for memory in (self._joins, self._commits, self._committed, self._paused):
            memory.pop(member, None)
        self._settled.discard(member)
        self._preparing.discard(member)

    def on_subscribed(self, event: SubscriptionChanged) -> None:
        """An application that wants nothing does not join, and one that wants other topics is about to poll."""
        self.due.pop(event.member, None)

    def on_call(self, event: CallbackStarted) -> None:
        """It prepares to join: what it commits now is waited for."""
        if event.callback == ON_JOIN_PREPARE:
            self._preparing.add(event.member)

    def on_return(self, event: CallbackEnded) -> None:
        """It has prepared, or waits; or its join is over."""
        self._preparing.discard(event.member)
        pace = self.paces.of.get(event.member)
        if event.callback == ON_JOIN_COMPLETE and event.outcome == FINISHED:
            self._settled.add(event.member)
        elif event.outcome == RAISED and pace is not None:
            self._paused[event.member] = event.time_ms + pace.started.retry_backoff_ms

    def on_sent(self, event: RequestSent) -> None:
        """It joins, or leaves, or commits before it joins."""
        member = event.member
        self.look(member, event)
        if event.api in OF_A_JOIN:
            self._joins[member] = event.request
        elif event.api == Api.OFFSET_COMMIT and member in self._preparing:
            self._commits[member] = event.request
            self._committed.pop(member, None)
        if event.api in {Api.JOIN_GROUP, Api.LEAVE_GROUP}:
            self.due.pop(member, None)
            self._settled.discard(member)
            self._commits.pop(member, None)
            self._committed.pop(member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """The group rebalances, or the commit is over that a join waits for."""
        member = event.member
        self.look(member, event)
        if self._joins.get(member) == event.request:
            del self._joins[member]
        elif self._commits.get(member) == event.request and event.error == "NONE":
            self._committed[member] = event.time_ms
        if event.api in ASKS and event.error == "REBALANCE_IN_PROGRESS" and member in self._settled:
            self._ask(event)

    def on_lost(self, event: MembershipLost) -> None:
        """It joins anew, unless a request of a join is in flight whose answer comes first."""
        self._settled.discard(event.member)
        if event.member not in self._joins:
            self._ask(event)

    def _ask(self, event: Asked) -> None:
        if event.member not in self.due:
            self.wait(event, SLACK_MS)

    def able_since(self, pace: Pace) -> int:
        """What the application needs; a commit that is answered ends the wait of onJoinPrepare."""
        member = pace.started.member
        able_ms = pace.joins_since(prepared_at=self._committed.get(member))
        return max(able_ms, pace.retries_since(), self._paused.get(member, 0))

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:  # noqa: ARG002 - at once
        """It does something else, or nothing."""
        if isinstance(since, RequestAnswered):
            learned = f"the {since.api} of {member} was answered {since.error} at {STEP};"
        else:
            learned = f"{member} lost its membership at {STEP};"
        self.contradiction(
            f"{member} knows that it must join, and does not for {event.time_ms - since.time_ms} ms",
            (learned, since),
            (f"it was in a poll, knew its coordinator and had prepared, and joined no sooner than at {STEP}: "
             "contradiction.", event),
        )  # fmt: skip


class _GoesOn(OfMembers):
    """Per member: its request of a join that is in flight, while nothing has ended the membership that it is about."""

    bookkeeping = (OF_A_MEMBER | {CoordinatorLost}) - {CallbackStarted}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            **dict.fromkeys((MembershipLost, SubscriptionChanged), self.on_over),
            CoordinatorLost: self.on_coordinator_lost,
            CallbackStarted: self.on_call,
            CallbackEnded: self.on_return,
        }
        super().__init__(invariant, handlers)
        self._joins: dict[str, RequestSent] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process joins anew."""
        self.on_over(event)

    def on_over(self, event: OfMember) -> None:
        """What it is answered from here on is about a membership that is over."""
        self.due.pop(event.member, None)
        self._joins.pop(event.member, None)

    def on_coordinator_lost(self, event: CoordinatorLost) -> None:
        """It cannot send SyncGroup any more, and joins anew."""
        since, _ = self.due.get(event.member, (None, 0))
        if isinstance(since, RequestAnswered) and since.api == Api.JOIN_GROUP:
            self.on_over(event)

    def on_sent(self, event: RequestSent) -> None:
        """It takes the next step, or another one."""
        self.look(event.member, event)
        if event.api in OF_A_JOIN:
            self.due.pop(event.member, None)
            self._joins[event.member] = event
        elif event.api == Api.LEAVE_GROUP:
            self.on_over(event)

    def on_answered(self, event: RequestAnswered) -> None:
        """It may take the next step."""
        self.look(event.member, event)
        sent = self._joins.get(event.member)
        if sent is not None and sent.request == event.request:
            del self._joins[event.member]
            if event.error == "NONE":
                self.wait(event, SLACK_MS)

    def on_call(self, event: CallbackStarted) -> None:
        """It applies its assignment, or leaves."""
        if event.callback == ON_JOIN_COMPLETE:
            self.look(event.member, event)
            self.due.pop(event.member, None)
        elif event.callback == ON_LEAVE_PREPARE:
            self.on_over(event)

    def on_return(self, event: CallbackEnded) -> None:
        """A leader that could not compute assignments sends none."""
        if event.callback == PERFORM_ASSIGNMENT and event.outcome == RAISED:
            self.on_over(event)

    def report_late(self, member: str, since: Event, event: Event, due_ms: int) -> None:  # noqa: ARG002 - at once
        """It waits, although nothing is to be waited for."""
        assert isinstance(since, RequestAnswered)
        step = "sent no SyncGroup" if since.api == Api.JOIN_GROUP else "did not apply its assignment"
        self.contradiction(
            f"{member} {step} for {event.time_ms - since.time_ms} ms after its {since.api} was accepted",
            (f"the {since.api} of {member} was accepted at {STEP};", since),
            (f"it was in a poll, and {step} until {STEP}: contradiction.", event),
        )


AskedMemberJoinsAtOnce: Final = Invariant(
    name="asked_member_joins_at_once",
    family=FAMILY,
    claim="a member in a poll that learns from the answer to a Heartbeat or an OffsetCommit that its group rebalances, "
    "or whose membership is over, sends JoinGroup at once, or as soon as the commit is answered that comes first",
    source="AbstractCoordinator.ensureActiveGroup, HeartbeatResponseHandler; ConsumerCoordinator.onJoinPrepare",
    premises=(*PREMISES, OF_CONNECT),
    exempted_by=(*EXEMPTED, CallbackEnded, CallbackStarted, SubscriptionChanged, WorkerConfigured),
    violation=AskedMemberJoinsAtOnceViolated,
    fold=_Asked,
)
"""A member in a poll that learns that it must join does so at once.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    CoordinatorFound(member="m0", node=1)
    MembershipLost(member="m0", generation=1, member_id="a", reason="UNKNOWN_MEMBER_ID")
    RequestSent(member="m0", api="JoinGroup", request=2, time_ms=3000)
"""

AcceptedMemberGoesOnAtOnce: Final = Invariant(
    name="accepted_member_goes_on_at_once",
    family=FAMILY,
    claim="a member in a poll whose JoinGroup is accepted sends SyncGroup at once, the leader with the assignments of "
    "all, and one whose SyncGroup is accepted applies its assignment at once",
    source="AbstractCoordinator.joinGroupIfNeeded, JoinGroupResponseHandler",
    premises=(*PREMISES, OF_CONNECT),
    exempted_by=(*EXEMPTED, CallbackEnded, CallbackStarted, SubscriptionChanged, WorkerConfigured),
    violation=AcceptedMemberGoesOnAtOnceViolated,
    fold=_GoesOn,
)
"""A member in a poll that is accepted takes the next step at once.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    CoordinatorFound(member="m0", node=1)
    RequestSent(member="m0", api="JoinGroup", request=1)
    RequestAnswered(member="m0", api="JoinGroup", request=1, error="NONE", generation=1)
    RequestSent(member="m0", api="SyncGroup", request=2, generation=1, time_ms=2000)
"""

CLAIMS: Final = (AskedMemberJoinsAtOnce, AcceptedMemberGoesOnAtOnce)
"""In the order in which reports name them."""
