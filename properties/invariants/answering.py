"""Progress, seen from events: each JoinGroup and SyncGroup is answered, and no group stays in a phase of a rebalance.

The coordinator's own events (`RequestParked`), a client's (`RequestSent`) and those of a scenario (`RequestIssued`) say
what is waited for; `views.deadlines` says how long that takes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    CoordinatorElected,
    CoordinatorEvent,
    CoordinatorFound,
    Event,
    GroupDescribed,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    NodeChanged,
    ReplyEvent,
    ReplyReceived,
    RequestAnswered,
    RequestIssued,
    RequestParked,
    RequestSent,
    StepStarted,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.invariants.deadline_fold import DeadlineFold
from rebalance_check.properties.kinds import Handler, Invariant, Kind
from rebalance_check.properties.verdict import Violation
from rebalance_check.properties.views.timeouts import GRACE_MS

OUT_OF_SERVICE: Final = frozenset({"killed", "paused"})
"""Changes of a node after which its requests wait, or are lost."""

PHASES: Final = frozenset({GroupStatus.PREPARING_REBALANCE, GroupStatus.COMPLETING_REBALANCE})

_ENDING: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP, Api.LEAVE_GROUP})
"""The requests with which a member waits for the answers of earlier ones no more."""


class JoinGroupIsAnsweredViolated(Violation):
    """A JoinGroup was not answered when every join phase that it may wait for was over."""


class SyncGroupIsAnsweredViolated(Violation):
    """A SyncGroup was not answered when every sync phase that it may wait for was over."""


class RebalancePhaseEndsViolated(Violation):
    """A group stayed in PreparingRebalance or CompletingRebalance."""


class _Answered(DeadlineFold):
    """The requests of one kind that are open, as each kind of observer sees them.

    A request is under one key: that of the client for `RequestSent`, that of the coordinator for `RequestParked`, that
    of the runner for `RequestIssued`. ``down`` says that requests may be lost now.
    """

    def __init__(self, invariant: Invariant, api: Api, replied: type[ReplyEvent]) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            **dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft, MemberPaused, MembershipLost), self.on_member),
            CoordinatorFound: self.on_member,
            RequestParked: self.on_parked,
            replied: self.on_replied,
            MemberRemoved: self.on_removed,
            IncarnationEnded: self.on_incarnation,
            IncarnationStarted: self.on_incarnation,
            CoordinatorElected: self.on_elected,
            NodeChanged: self.on_node,
            StepStarted: self.on_step,
            RequestIssued: self.on_issued,
            ReplyReceived: self.on_received,
            GroupDescribed: self.on_described,
        }
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset(handlers) - {RequestSent, RequestParked, RequestIssued}
        self._api = api
        self._is_down = False
        self._keys: dict[tuple[type[Event], int], Hashable] = {}
        self._numbers: dict[Hashable, tuple[type[Event], int]] = {}
        self._described: set[str] = set()

    @property
    def _allowed(self) -> Callable[[], int]:
        return self.timeouts.join_phase if self._api == Api.JOIN_GROUP else self.timeouts.sync_phase

    # ------------------------------------------------------------------------------------------ a client

    def on_sent(self, event: RequestSent) -> None:
        """A member waits for its answer; its next JoinGroup or SyncGroup says that it gave this one up."""
        if event.api in _ENDING:
            self.end(("sent", event.member))
        if event.api == self._api and not self._is_down:
            what = f"{self._api} {event.request} of {event.member} is not answered"
            self.begin(("sent", event.member), what, event, self._allowed)

    def on_answered(self, event: RequestAnswered) -> None:
        """The answer came, or the member gave the request up: then its outcome stays unknown."""
        if event.api == self._api:
            self.end(("sent", event.member))

    def on_member(self, event: MemberEvent) -> None:
        """The member waits no more, or learned of another coordinator."""
        self.end(("sent", event.member))

    # ------------------------------------------------------------------------------------------ the coordinator

    def on_parked(self, event: RequestParked) -> None:
        """The coordinator keeps a request; one that a later one of its member superseded is never answered."""
        if event.api == self._api and not self._is_down:
            what = f"{self._api} of {event.member_id} is parked and not answered"
            self._begin_numbered(("parked", event.incarnation, event.member_id), what, event)

    def on_replied(self, event: ReplyEvent) -> None:
        """The coordinator replies."""
        self._end_numbered(RequestParked, event.request)

    def on_removed(self, event: MemberRemoved) -> None:
        """The SyncGroup of a member that is removed is never answered."""
        self.end(("parked", event.incarnation, event.member_id))

    # ------------------------------------------------------------------------------------------ a scenario

    def on_issued(self, event: RequestIssued) -> None:
        """A client of a scenario waits; a later request under the same member id supersedes this one."""
        who = event.member_id or f"request {event.request}"
        if event.api == self._api and not self._is_down:
            what = f"{self._api} of {event.client} (request {event.request}) is not answered"
            self._begin_numbered(("issued", who), what, event)

    def on_received(self, event: ReplyReceived) -> None:
        """The client has its reply."""
        self._end_numbered(RequestIssued, event.request)

    def _begin_numbered(self, key: Hashable, what: str, event: RequestParked | RequestIssued) -> None:
        """Wait for the reply to a request that replies name by its number."""
        self.end(key)
        number = (type(event), event.request)
        self._keys[number], self._numbers[key] = key, number
        self.begin(key, what, event, self._allowed)

    def _end_numbered(self, kind: type[Event], request: int) -> None:
        """The reply to that request came; that to one which a later request superseded changes nothing."""
        key = self._keys.get((kind, request))
        if key is not None:
            self.end(key)

    def end(self, key: Hashable) -> None:
        """Wait no more; a late reply finds nothing."""
        number = self._numbers.pop(key, None)
        if number is not None:
            self._keys.pop(number, None)
        super().end(key)

    def on_described(self, event: GroupDescribed) -> None:
        """The request of a member that the group removed in this step is not judged."""
        members = {member for member, _ in event.members}
        for member in self._described - members:
            self.end(("issued", member))
        self._described = members

    # ------------------------------------------------------------------------------------------ faults

    def on_incarnation(self, _event: IncarnationStarted | IncarnationEnded) -> None:
        """Another coordinator, or none, has the group: what was sent before may be lost."""
        self.end_all()

    def on_elected(self, _event: CoordinatorElected) -> None:
        """As soon as a coordinator is elected, it answers."""
        self._is_down = False
        self.end_all()

    def on_node(self, event: NodeChanged) -> None:
        """A node that is killed or paused answers nothing."""
        self._is_down = event.change in OUT_OF_SERVICE
        self.end_all()


class _Phase(DeadlineFold):
    """Since when each incarnation of the group has been in a phase of a rebalance."""

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            GroupStatusChanged: self.on_status,
            IncarnationStarted: self.on_started,
            IncarnationEnded: self.on_ended,
            MemberAdded: self.on_added,
            CoordinatorElected: self.on_fault,
            NodeChanged: self.on_fault,
            StepStarted: self.on_step,
            **dict.fromkeys((JoinGroupReplied, SyncGroupReplied, HeartbeatReplied), self.on_replied),
        }
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset(handlers) - {GroupStatusChanged, IncarnationStarted}
        self._with_statics: set[int] = set()

    def on_added(self, event: MemberAdded) -> None:
        """Static members stay while a join phase goes on, until their sessions end."""
        if event.instance_id:
            self._with_statics.add(event.incarnation)

    def on_status(self, event: GroupStatusChanged) -> None:
        """A phase is over, or begins."""
        self._enter(event, event.to_status)

    def on_started(self, event: IncarnationStarted) -> None:
        """A coordinator that loads a group begins no phase but the one that it says."""
        self.end_all()
        self._with_statics = {event.incarnation} if event.instances else set()
        self._enter(event, event.status)

    def on_ended(self, event: IncarnationEnded) -> None:
        """Nothing more is expected of this incarnation."""
        self.end(event.incarnation)

    def on_fault(self, _event: NodeChanged | CoordinatorElected) -> None:
        """What a node does that is paused, or was, is late."""
        self.end_all()

    def on_replied(self, event: ReplyEvent) -> None:
        """The coordinator replies that it has no such group: the record that made it was refused."""
        if event.incarnation == UNKNOWN_INCARNATION and self.open:
            self.end_all()

    def is_excused(self, key: Hashable) -> bool:
        """A join phase for which only static members are awaited begins again until their sessions end."""
        group = self.incarnations.known.get(key) if isinstance(key, int) else None
        return super().is_excused(key) or (
            group is not None
            and group.status == GroupStatus.PREPARING_REBALANCE
            and not group.joins
            and key in self._with_statics
        )

    def _enter(self, event: CoordinatorEvent, status: str) -> None:
        self.end(event.incarnation)
        if status in PHASES:
            allowed = (
                self.timeouts.join_phase if status == GroupStatus.PREPARING_REBALANCE else self.timeouts.sync_phase
            )
            self.begin(event.incarnation, f"the group is {status}", event, allowed)


def _join_group(invariant: Invariant) -> _Answered:
    return _Answered(invariant, Api.JOIN_GROUP, JoinGroupReplied)


def _sync_group(invariant: Invariant) -> _Answered:
    return _Answered(invariant, Api.SYNC_GROUP, SyncGroupReplied)


_TIMES: Final = (
    "events carry times, and the timeouts of all members (RequestParked, RequestIssued, MemberStarted, "
    f"IncarnationStarted); a deadline has {GRACE_MS // 1000} s on top, for a slow answer and a write to the log"
)
_ONE_CLOCK: Final = (
    "how long something lasts is read from the clock of one source at a time, unless the run's time is virtual"
)
_FAULTS: Final = (
    "left out is what a fault may have taken away: the coordinator ended, was killed, paused or replaced, the member "
    "crashed, left, was paused or removed, or gave the request up (error=None)"
)
_OPEN: Final = "a history that ends before a deadline is undecided"

JoinGroupIsAnswered: Final = Invariant(
    name="join_group_is_answered",
    family="liveness",
    claim="a JoinGroup is answered before the longest rebalance timeout has passed, or the initial delay if longer",
    source="GroupMetadataManager.prepareRebalance, tryCompleteInitialRebalanceElseSchedule; "
    "AbstractCoordinator.JOIN_GROUP_TIMEOUT_LAPSE",
    premises=(_TIMES, _ONE_CLOCK, _FAULTS, _OPEN, "a later JoinGroup of the same member supersedes it"),
    exempted_by=(
        IncarnationStarted,
        IncarnationEnded,
        GroupStatusChanged,
        MemberStarted,
        MemberCrashed,
        MemberLeft,
        NodeChanged,
        RequestAnswered,
        JoinGroupReplied,
        ReplyReceived,
    ),
    violation=JoinGroupIsAnsweredViolated,
    fold=_join_group,
    kind=Kind.LIVENESS,
)
"""A JoinGroup is answered before the longest rebalance timeout has passed.

The smallest history that breaks it::

    MemberStarted(member="m0", rebalance_timeout_ms=60000, session_timeout_ms=10000)
    RequestSent(member="m0", api="JoinGroup", request=0)
    RequestSent(member="m0", api="Heartbeat", request=1, time_ms=80000)
"""

SyncGroupIsAnswered: Final = Invariant(
    name="sync_group_is_answered",
    family="liveness",
    claim="a SyncGroup is answered before the longest rebalance timeout has passed",
    source="GroupMetadataManager.schedulePendingSync, expirePendingSync; KAFKA-12890",
    premises=(_TIMES, _ONE_CLOCK, _FAULTS, _OPEN, "a later request of the same member supersedes it"),
    exempted_by=(
        IncarnationStarted,
        IncarnationEnded,
        GroupStatusChanged,
        MemberRemoved,
        MemberStarted,
        MemberCrashed,
        MemberLeft,
        NodeChanged,
        RequestAnswered,
        SyncGroupReplied,
        ReplyReceived,
    ),
    violation=SyncGroupIsAnsweredViolated,
    fold=_sync_group,
    kind=Kind.LIVENESS,
)
"""A SyncGroup is answered before the longest rebalance timeout has passed.

The smallest history that breaks it::

    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=60000)
    RequestParked(incarnation=0, generation=1, api="SyncGroup", request=1, member_id="a")
    HeartbeatReplied(incarnation=0, generation=1, request=2, error="NONE", member_id="b", time_ms=80000)
"""

RebalancePhaseEnds: Final = Invariant(
    name="rebalance_phase_ends",
    family="liveness",
    claim="a group stays in PreparingRebalance or CompletingRebalance no longer than the longest rebalance timeout",
    source="GroupMetadataManager.prepareRebalance, tryCompleteInitialRebalanceElseSchedule, schedulePendingSync",
    premises=(
        _TIMES,
        _ONE_CLOCK,
        _FAULTS,
        _OPEN,
        "a join phase without a parked JoinGroup in a group with static members begins again until their sessions end",
    ),
    exempted_by=(
        IncarnationStarted,
        IncarnationEnded,
        GroupStatusChanged,
        RequestParked,
        NodeChanged,
    ),
    violation=RebalancePhaseEndsViolated,
    fold=_Phase,
    kind=Kind.LIVENESS,
)
"""A group stays in PreparingRebalance or CompletingRebalance no longer than the longest rebalance timeout.

The smallest history that breaks it::

    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=60000)
    GroupStatusChanged(incarnation=0, generation=0, from_status="Empty", to_status="PreparingRebalance")
    HeartbeatReplied(incarnation=0, generation=1, request=2, error="NONE", member_id="b", time_ms=80000)
"""

CLAIMS: Final = (JoinGroupIsAnswered, SyncGroupIsAnswered, RebalancePhaseEnds)
"""In the order in which reports name them."""
