"""Why each member may join again, revoke or lose: what it was answered and sent since its last JoinGroup.

There is one `Membership` per process. What a client says of its own membership counts for nothing here: a refusal is an
answer, a change of topics an act of the application, and the metadata that a leader watches is what the client was
sent. The herder of a Connect worker is its application.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigReadEnded,
    ConnectAssignmentReceived,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    MetadataReceived,
    RebalanceEnforced,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    SubscriptionChanged,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.need.causes import Cause

NOT_A_MEMBER: Final = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"})
"""The answers that end a membership."""
ASK_TO_JOIN: Final = NOT_A_MEMBER | {"REBALANCE_IN_PROGRESS"}
"""The answers to a Heartbeat or an OffsetCommit after which a member joins again."""


WITHOUT_ASSIGNMENT: Final = frozenset({"coordinator unknown", "back-off"})
"""Why a worker of Connect gives up all that it runs, and what it was assigned with it."""


class Membership:
    """What is known of a member that runs.

    ``join`` is its last JoinGroup, ``synced`` the accepted SyncGroup after it (None while it joins); ``cause`` and
    ``loss`` are the last thing since then that asks it to join again, and that ended its membership; ``missing`` are
    the partitions that it claimed and was not assigned again. ``joined_from`` is ``synced`` and the event
    that gives the cause, as they were before the JoinGroup that was sent last. ``busy`` is the last absence of its
    application that was too long for ``max.poll.interval.ms``. ``leaves`` is what asks it to leave; ``left_for`` what
    did, or what kept it from its poll, when it sent its last LeaveGroup (None for nothing). ``worked_from`` is the
    last answer of a round to a worker: its herder waits inside of a round, and may be busy with what it was assigned.
    """

    __slots__ = (
        "busy", "cause", "join", "joined_from", "leads", "leaves", "left_for", "loss", "missing", "paused", "started",
        "synced", "worked_from", "works",
    )  # fmt: skip

    def __init__(self, started: MemberStarted | None = None) -> None:
        self.started = started
        self.join: RequestSent | None = None
        self.synced: RequestAnswered | None = None
        self.cause: Cause | None = None
        self.loss: Cause | None = None
        self.missing: frozenset[str] = frozenset()
        self.leads = False
        self.busy: ApplicationBusy | None = None
        self.paused: MemberEvent | None = None
        self.joined_from: tuple[RequestAnswered | None, Event | None] = (None, None)
        self.works = False
        self.worked_from: Event | None = None
        self.leaves: Event | None = None
        self.left_for: Event | None = None

    def missed_its_poll(self, now_ms: int) -> Event | None:
        """What kept the application from its poll for ``max.poll.interval.ms``, if anything may have."""
        if self.paused is not None:
            return self.paused
        busy = self.busy
        return busy if busy is not None and now_ms - busy.polled_ms >= self.poll_interval_ms else None

    def asked_to_leave(self, now_ms: int) -> Event | None:
        """What asks it to leave, if anything does; a herder may have polled too late, too."""
        since = self.worked_from
        is_late = since is not None and now_ms - since.time_ms >= self.poll_interval_ms
        return self.leaves or self.missed_its_poll(now_ms) or (since if is_late else None)

    @property
    def poll_interval_ms(self) -> int:
        """``max.poll.interval.ms``; 0 where it is unknown."""
        return self.started.rebalance_timeout_ms if self.started is not None else 0


class Members(Memory):
    """The membership of each process."""

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self._on_started,
            MemberCrashed: self._on_ended,
            MemberLeft: self._on_ended,
            MemberPaused: self._on_paused,
            MemberResumed: self._on_paused,
            ApplicationBusy: self._on_busy,
            MemberClosing: self._on_closing,
            WorkerConfigured: self._on_worker,
            ConfigReadEnded: self._on_configs_read,
            SubscriptionChanged: self._on_subscription,
            MetadataReceived: self._on_metadata,
            RebalanceEnforced: self._on_enforced,
            RejoinRequested: self._on_requested,
            ConnectAssignmentReceived: self._on_assigned,
            WorkRevocationStarted: self._on_revocation,
            RequestSent: self._on_sent,
            RequestAnswered: self._on_answered,
        }
        super().__init__(handlers)
        self.of: dict[str, Membership] = {}

    def at(self, member: str) -> Membership:
        """The membership of this process."""
        found = self.of.get(member)
        if found is None:
            found = self.of[member] = Membership()
        return found

    def _on_started(self, event: MemberStarted) -> None:
        self.of[event.member] = Membership(event)

    def _on_ended(self, event: MemberEvent) -> None:
        self.of.pop(event.member, None)

    def _on_paused(self, event: MemberEvent) -> None:
        self.at(event.member).paused = event

    def _on_busy(self, event: ApplicationBusy) -> None:
        member = self.at(event.member)
        if event.time_ms + event.busy_ms - event.polled_ms >= member.poll_interval_ms:
            member.busy = event

    def _on_subscription(self, event: SubscriptionChanged) -> None:
        member = self.at(event.member)
        member.cause = Cause("its application changed the subscription", event)
        member.leaves = event if not event.topics else member.leaves

    def _on_closing(self, event: MemberClosing) -> None:
        self.at(event.member).leaves = event

    def _on_worker(self, event: WorkerConfigured) -> None:
        self.at(event.member).works = True

    def _on_configs_read(self, event: ConfigReadEnded) -> None:
        if event.outcome != "ok":
            member = self.at(event.member)
            member.leaves = event
            member.cause = Cause("it could not read the configs to their end", event)

    def _on_metadata(self, event: MetadataReceived) -> None:
        member = self.at(event.member)
        if member.leads:
            member.cause = Cause("it leads and received other metadata", event)

    def _on_enforced(self, event: RebalanceEnforced) -> None:
        self.at(event.member).cause = Cause("its application enforced a rebalance", event)

    def _on_requested(self, event: RejoinRequested) -> None:
        self.at(event.member).cause = Cause(f"its worker asked for it: {event.reason}", event)

    def _on_assigned(self, event: ConnectAssignmentReceived) -> None:
        member = self.at(event.member)
        member.worked_from = event
        if event.error != "NONE":
            member.cause = Cause(f"its assignment failed with {event.error}", event)

    def _on_revocation(self, event: WorkRevocationStarted) -> None:
        if event.reason in WITHOUT_ASSIGNMENT:
            self.at(event.member).cause = Cause(f"it gave its work up: {event.reason}", event)

    def _on_sent(self, event: RequestSent) -> None:
        if event.api == Api.JOIN_GROUP:
            member = self.at(event.member)
            cause = member.cause.event if member.cause is not None else member.missed_its_poll(event.time_ms)
            member.joined_from = member.synced, cause
            member.join = event
            member.synced = member.cause = member.paused = member.busy = member.leaves = None
            member.leads, member.missing = False, frozenset()
        elif event.api == Api.LEAVE_GROUP:
            member = self.at(event.member)
            member.left_for = member.asked_to_leave(event.time_ms)
            member.leaves = None
            member.cause = member.loss = Cause("it left the group", event)

    def _on_answered(self, event: RequestAnswered) -> None:
        error = event.error
        if error == "NONE":
            if event.api == Api.SYNC_GROUP:
                self._synced(self.at(event.member), event)
            elif event.api == Api.JOIN_GROUP:
                member = self.at(event.member)
                member.leads = bool(event.members)
                member.worked_from = event if member.works else None
        elif error in ASK_TO_JOIN:
            member = self.at(event.member)
            member.cause = Cause(f"its {event.api} was answered {error}", event)
            if error in NOT_A_MEMBER:
                member.loss = member.cause

    def _synced(self, member: Membership, event: RequestAnswered) -> None:
        member.synced, member.loss = event, None
        if member.join is not None:
            member.missing = frozenset(member.join.owned).difference(event.assignment)
            if member.missing and member.cause is None:
                member.cause = Cause("it was not assigned again all that it claimed", event)
