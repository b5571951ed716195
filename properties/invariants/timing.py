"""Bounds in time: who is removed, and when a phase ends, by the timeouts that members ask for.

They are judged only where the run says that its timers are punctual (`RunStarted`): on virtual time that stands still
until all that is due has happened. Real timers are late, and a harness that lets time jump gives many events one time.
All times are in ms on the coordinator's clock.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GroupStatusChanged,
    HeartbeatReplied,
    JoinGroupReplied,
    MemberRemoved,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.features import Feature
from rebalance_check.properties.invariants.observed_times import ObservedLaggards, ObservedRemovals
from rebalance_check.properties.kinds import Handler, Invariant, Memories, either
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import (
    Incarnation,
    IncarnationFold,
)
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.sessions import Key, Sessions


class NobodyIsRemovedEarlyViolated(Violation):
    """A member was removed before the timeout had passed for which it was removed."""


class SilentMembersAreRemovedInTimeViolated(Violation):
    """A member that was silent for longer than its session was still a member."""


class JoinPhaseEndsInTimeViolated(Violation):
    """A join phase lasted longer than any of its members' rebalance timeouts."""


class LaggardsAreRemovedInTimeViolated(Violation):
    """A member that owed its SyncGroup for longer than the rebalance timeout was still a member."""


class PendingIdsVanishInTimeViolated(Violation):
    """A member id that was handed out was accepted after the session timeout of the JoinGroup that asked for it."""


class TimeFold(IncarnationFold):
    """Looks at incarnations and at sessions; counts what it compares, for most histories tell too little of time."""

    sessions: Sessions

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same sessions."""
        super().share(memories)
        self.sessions = Sessions.among(memories)
        self.memories = (*self.memories, self.sessions)
        self.compared = 0

    def compare(self, since: CoordinatorEvent, until: CoordinatorEvent, allowed_ms: int) -> int:
        """How much longer than allowed it took from one event to the other, in ms."""
        self.compared = (self.compared or 0) + 1
        return until.time_ms - since.time_ms - allowed_ms


class _Early(TimeFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRemoved: self.on_removed})

    def on_removed(self, event: MemberRemoved) -> None:
        """Each reason to remove a member has a timeout of that member's own."""
        group, key = self.incarnations.current, (event.incarnation, event.member_id)
        joined = self.sessions.joins.get(key)
        if group is None or joined is None or not self.sessions.punctual:
            return
        since, allowed_ms = self._timeout(group, event.reason, joined, self.sessions.prolonged.get(key))
        if since is None or allowed_ms <= 0:
            return
        if self.compare(since, event, allowed_ms) < 0:
            self.contradiction(
                f"{event.member_id} is removed ({event.reason}) after {event.time_ms - since.time_ms} ms of "
                f"{allowed_ms} ms",
                (f"{event.member_id} asked for its timeouts at {STEP}.", joined),
                (f"its time of {allowed_ms} ms began at {STEP}.", since),
                (f"it was removed at {STEP}, earlier than that: contradiction.", event),
            )

    @staticmethod
    def _timeout(
        group: Incarnation, reason: str, joined: RequestParked, prolonged: CoordinatorEvent | None
    ) -> tuple[CoordinatorEvent | None, int]:
        """Since when time runs for this reason, and how long; a group's timeout is at least that of each member."""
        if reason == "session expired":
            return prolonged, joined.session_timeout_ms
        if reason == "sync timeout":
            return group.started, joined.rebalance_timeout_ms
        changed = group.changed
        if reason == "rebalance timeout" and changed is not None and changed.from_status != GroupStatus.EMPTY:
            return (changed if group.status == GroupStatus.PREPARING_REBALANCE else None), joined.rebalance_timeout_ms
        return None, 0


class _Silent(TimeFold):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberRemoved: self.on_event,
            RequestParked: self.on_event,
            HeartbeatReplied: self.on_event,
            SyncGroupReplied: self.on_event,
            OffsetCommitReplied: self.on_event,
        }
        super().__init__(invariant, handlers)

    def on_event(self, event: MemberRemoved | RequestParked | ReplyEvent) -> None:
        """It is a member until here, so it was not silent for longer than its session."""
        group, before = self.incarnations.current, self.sessions.before
        if not self.sessions.punctual or group is None or before is None or isinstance(before, RequestParked):
            return
        if event.member_id not in group.members and not isinstance(event, MemberRemoved):
            return
        session_ms = self.sessions.session_ms(group, event.member_id)
        if session_ms > 0 and self.compare(before, event, session_ms) > 0:
            joined = self.sessions.joins.get((event.incarnation, event.member_id), group.begun)
            self.contradiction(
                f"{event.member_id} is a member after {event.time_ms - before.time_ms} ms of silence, its session is "
                f"{session_ms} ms",
                (f"{event.member_id} has a session of {session_ms} ms, as {STEP} says.", joined),
                (f"its last activity was at {STEP}.", before),
                (f"it was a member until {STEP}: contradiction.", event),
            )


class _JoinPhase(TimeFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {GroupStatusChanged: self.on_status})
        self._since: dict[int, GroupStatusChanged] = {}

    def on_status(self, event: GroupStatusChanged) -> None:
        """A phase begins, or one is over."""
        group, since = self.incarnations.current, self._since.pop(event.incarnation, None)
        if event.to_status == GroupStatus.PREPARING_REBALANCE and event.from_status != GroupStatus.EMPTY:
            self._since[event.incarnation] = event
        if since is None or group is None or not self.sessions.punctual or event.incarnation in self.sessions.statics:
            return
        allowed_ms = self.sessions.timeouts_of(group)
        if allowed_ms and self.compare(since, event, allowed_ms) > 0:
            self.contradiction(
                f"a join phase lasts {event.time_ms - since.time_ms} ms, and no rebalance timeout is above "
                f"{allowed_ms} ms",
                (f"the join phase began at {STEP}.", since),
                (f"it ended at {STEP}: contradiction.", event),
            )


class _Laggards(TimeFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRemoved: self.on_removed, GroupStatusChanged: self.on_status})

    def on_removed(self, event: MemberRemoved) -> None:
        """It was removed for it, and not in time."""
        if event.reason == "sync timeout":
            self._look(event, (event.member_id,))

    def on_status(self, event: GroupStatusChanged) -> None:
        """No member of the generation that ends, or becomes Stable, owes a SyncGroup for that long."""
        group = self.incarnations.current
        if (
            group is not None
            and group.started is not None
            and event.from_status in {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}
        ):
            owing = (m for m in group.started.members if m in group.members and m not in group.synced)
            self._look(event, tuple(owing))

    def _look(self, event: MemberRemoved | GroupStatusChanged, owing: tuple[str, ...]) -> None:
        group = self.incarnations.current
        if group is None or group.started is None or not owing or not self.sessions.punctual:
            return
        allowed_ms = self.sessions.timeouts_of(group)
        if allowed_ms and self.compare(group.started, event, allowed_ms) > 0:
            self.contradiction(
                f"{owing[0]} owes its SyncGroup for {event.time_ms - group.started.time_ms} ms, and no rebalance "
                f"timeout is above {allowed_ms} ms",
                (f"generation {group.started.generation} started at {STEP}.", group.started),
                (f"{owing[0]} had not synced, and was a member until {STEP}: contradiction.", event),
            )


class _PendingIds(TimeFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {JoinGroupReplied: self.on_replied, RequestParked: self.on_parked})
        self._given: dict[Key, JoinGroupReplied] = Recent(WAITING)

    bookkeeping = frozenset({JoinGroupReplied})

    def on_replied(self, event: JoinGroupReplied) -> None:
        """An id is handed out."""
        if event.error == "MEMBER_ID_REQUIRED":
            self._given[event.incarnation, event.assigned_member_id] = event

    def on_parked(self, event: RequestParked) -> None:
        """It is used."""
        given = self._given.pop((event.incarnation, event.member_id), None) if event.api == Api.JOIN_GROUP else None
        if given is None or not self.sessions.punctual or event.session_timeout_ms <= 0:
            return
        if self.compare(given, event, event.session_timeout_ms) > 0:
            self.contradiction(
                f"{event.member_id} is accepted {event.time_ms - given.time_ms} ms after it was handed out, its "
                f"session is {event.session_timeout_ms} ms",
                (f"{event.member_id} was handed out with MEMBER_ID_REQUIRED at {STEP}.", given),
                (f"its JoinGroup was accepted at {STEP}, when the id should be unknown: contradiction.", event),
            )


_PUNCTUAL: Final = (
    "the run says that its timers are punctual (RunStarted), and no node was paused; what is due happens within its ms"
)
_RECORDED: Final = (
    "the timeouts are those of the member's last JoinGroup that was kept (RequestParked); those of a static "
    "member that returns to a Stable group with others than its predecessor's are not certain, and not judged"
)
_ALL_RECORDED: Final = (
    "the incarnation began without members, so that all rebalance timeouts are recorded; the longest counts"
)
_UNENDED: Final = "it is judged when it is over; what is never over is for rebalance_completes"

NobodyIsRemovedEarly: Final = Invariant(
    name="nobody_is_removed_early",
    family="timing",
    claim="no member is removed before its session, or the time to join or to sync, has passed",
    source="GroupMetadataManager.rescheduleClassicGroupMemberHeartbeat, prepareRebalance, schedulePendingSync; "
    "ClassicGroup.validateOffsetCommit",
    premises=(
        _PUNCTUAL,
        _RECORDED,
        "a session certainly begins anew when a kept JoinGroup is answered, when a commit arrives that is accepted, "
        "and when a heartbeat arrives that is accepted or answered REBALANCE_IN_PROGRESS",
        "an initial join phase (from Empty) has its own delay and is left out",
    ),
    exempted_by=(NodeChanged,),
    violation=NobodyIsRemovedEarlyViolated,
    fold=either(_Early, ObservedRemovals),
)
"""No member is removed before its session, or the time to join or to sync, has passed.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=0, member_id="a", session_timeout_ms=10000)
    HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1,
                     time_ms=5000)
    MemberRemoved(incarnation=0, generation=1, member_id="a", reason="session expired", time_ms=12000)
"""

SilentMembersAreRemovedInTime: Final = Invariant(
    name="silent_members_are_removed_in_time",
    family="timing",
    claim="a member that waits for nothing and is silent for longer than its session is no member any more",
    source="GroupMetadataManager.expireClassicGroupMemberHeartbeat",
    premises=(
        _PUNCTUAL,
        _RECORDED,
        "any answer to it counts as activity, so does what it waits with, and each generation begins all sessions anew",
        _UNENDED,
    ),
    exempted_by=(
        HeartbeatReplied,
        MemberRemoved,
        NodeChanged,
        OffsetCommitReplied,
    ),
    violation=SilentMembersAreRemovedInTimeViolated,
    fold=_Silent,
)
"""A member that waits for nothing and is silent for longer than its session is no member any more.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberAdded(incarnation=0, generation=0, member_id="a")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=0, member_id="a", session_timeout_ms=10000)
    JoinGroupReplied(incarnation=0, generation=1, request=0, error="NONE", assigned_member_id="a", reply_generation=1,
                     leader="a")
    MemberRemoved(incarnation=0, generation=1, member_id="a", reason="session expired", time_ms=20000)
"""

JoinPhaseEndsInTime: Final = Invariant(
    name="join_phase_ends_in_time",
    family="timing",
    claim="a join phase that is not initial lasts no longer than the longest rebalance timeout",
    source="GroupMetadataManager.prepareRebalance, completeClassicGroupJoin",
    premises=(
        _PUNCTUAL,
        _ALL_RECORDED,
        "an initial join phase (from Empty) has its own delay and is left out",
        "no member is static: with silent static members only, the phase is repeated until their sessions end",
        _UNENDED,
    ),
    exempted_by=(NodeChanged,),
    violation=JoinPhaseEndsInTimeViolated,
    fold=_JoinPhase,
)
"""A join phase that is not initial lasts no longer than the longest rebalance timeout of its members.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    IncarnationStarted(incarnation=0, generation=0, status="Empty")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=30000)
    GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")
    GroupStatusChanged(incarnation=0, generation=1, from_status="PreparingRebalance", to_status="Empty", time_ms=40000)
"""

LaggardsAreRemovedInTime: Final = Invariant(
    name="laggards_are_removed_in_time",
    family="timing",
    claim="a member that does not sync is no member any more when the longest rebalance timeout has passed",
    source="GroupMetadataManager.schedulePendingSync, expirePendingSync; KAFKA-12890",
    premises=(
        _PUNCTUAL,
        _ALL_RECORDED,
        "only members of the generation as it started owe a SyncGroup, not the successor of a static one",
        "CompletingRebalance may last a write timeout longer when all have synced",
        _UNENDED,
    ),
    relies_on=frozenset({Feature.SYNC_GROUP}),
    exempted_by=(
        NodeChanged,
        SyncGroupReplied,
    ),
    violation=LaggardsAreRemovedInTimeViolated,
    fold=either(_Laggards, ObservedLaggards),
)
"""A member that does not sync, in CompletingRebalance or Stable, is removed within the longest rebalance timeout.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    IncarnationStarted(incarnation=0, generation=0, status="Empty")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=30000)
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    MemberRemoved(incarnation=0, generation=1, member_id="a", reason="sync timeout", time_ms=40000)
"""

PendingIdsVanishInTime: Final = Invariant(
    name="pending_ids_vanish_in_time",
    family="timing",
    claim="a member id that was handed out is unknown once the session timeout of its JoinGroup has passed",
    source="KIP-394; GroupMetadataManager.classicGroupJoinNewDynamicMember",
    premises=(_PUNCTUAL, "both JoinGroups of a member name the same session timeout"),
    violation=PendingIdsVanishInTimeViolated,
    fold=_PendingIds,
)
"""A member id that was handed out and is not used within the session timeout of its JoinGroup is unknown afterwards.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    JoinGroupReplied(incarnation=0, generation=0, request=0, error="MEMBER_ID_REQUIRED", assigned_member_id="a")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a", session_timeout_ms=10000,
                  time_ms=20000)
"""

CLAIMS: Final = (
    NobodyIsRemovedEarly,
    SilentMembersAreRemovedInTime,
    JoinPhaseEndsInTime,
    LaggardsAreRemovedInTime,
    PendingIdsVanishInTime,
)
"""In the order in which reports name them."""
