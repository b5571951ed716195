"""Progress: requests are answered, phases end, and a group comes to rest. All times are in ms."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentCompleted,
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
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    NodeChanged,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    ReplyEvent,
    ReplyReceived,
    RequestAnswered,
    RequestIssued,
    RequestParked,
    RequestSent,
    RunEnded,
    StepStarted,
    SubscriptionChanged,
    SyncGroupReplied,
    TopicsDescribed,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import ALL, CHECKED, Awaited, Broken, Finding, completion, eventually
from rebalance_check.properties.kinds import Evidence, Fold, Invariant, Kind, declared
from rebalance_check.properties.standstill.explain import Standstill
from rebalance_check.properties.standstill.tail import Tail
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.awaited import OpenRequests, Ownerless, Request, issued, parked
from rebalance_check.properties.views.coordinator import Incarnation, Incarnations
from rebalance_check.properties.views.sessions import Sessions
from rebalance_check.properties.views.steps import FAULTS, TAKEOVERS
from rebalance_check.properties.views.timeouts import GRACE_MS, Timeouts

PHASES: Final = frozenset({GroupStatus.PREPARING_REBALANCE, GroupStatus.COMPLETING_REBALANCE})

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
_SUPERSEDED: Final = "a later JoinGroup or SyncGroup of the same member supersedes it"

_ENDING: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP, Api.LEAVE_GROUP})
"""The requests with which a member waits for the answers of earlier ones no more."""


def _taken_over(event: StepStarted, *_views: object) -> object | None:
    return ALL if event.step.partition(" ")[0] in TAKEOVERS else None


def _disturbed(event: StepStarted, *_views: object) -> object | None:
    """The log acknowledges nothing, refuses what is written, or takes records again: it is late from here on."""
    verb = event.step.partition(" ")[0]
    return ALL if verb in FAULTS and verb not in TAKEOVERS else None


def _all(*_event_and_views: object) -> object:
    return ALL


def _log_is_held(_key: Hashable, requests: OpenRequests, *_views: object) -> str:
    return "the log acknowledges nothing" if requests.is_held else ""


def _replies_to(api: Api, replied: type[ReplyEvent]) -> Callable[[Invariant], Fold]:
    """The requests of one kind that are open, as a client, a coordinator and the runner of a scenario see them."""

    def allowed(timeouts: Timeouts) -> Callable[[], int]:
        return timeouts.join_phase if api == Api.JOIN_GROUP else timeouts.sync_phase

    def sent(event: RequestSent, requests: OpenRequests, timeouts: Timeouts) -> Awaited | None:
        if event.api != api or requests.is_down:
            return None
        says = f"{api} {event.request} of {event.member} is not answered"
        return Awaited(("sent", event.member), event, says, allowed(timeouts))

    def kept(event: RequestParked, requests: OpenRequests, timeouts: Timeouts) -> Awaited | None:
        if event.api != api or requests.is_down:
            return None
        says = f"{api} of {event.member_id} is parked and not answered"
        return Awaited(parked(event), event, says, allowed(timeouts))

    def waits(event: RequestIssued, requests: OpenRequests, timeouts: Timeouts) -> Awaited | None:
        if event.api != api or requests.is_down:
            return None
        says = f"{api} of {event.client} (request {event.request}) is not answered"
        return Awaited(issued(event), event, says, allowed(timeouts))

    def answered(event: RequestAnswered, *_views: object) -> Hashable:
        return ("sent", event.member) if event.api == api and event.error is not None else None

    def given_up(event: RequestAnswered, *_views: object) -> Hashable:
        return ("sent", event.member) if event.api == api and event.error is None else None

    def goes_on(event: RequestSent, *_views: object) -> Hashable:
        return ("sent", event.member) if event.api in _ENDING else None

    def replaced(event: MemberEvent, *_views: object) -> Hashable:
        return ("sent", event.member)

    def of_reply(_event: Event, requests: OpenRequests, _timeouts: Timeouts) -> Hashable:
        return requests.answered

    def removed(event: MemberRemoved, *_views: object) -> list[Request]:
        kept = Request(RequestParked, api, event.member_id, event.incarnation)
        return [kept, Request(RequestIssued, api, event.member_id)]

    def gone(_event: GroupDescribed, requests: OpenRequests, _timeouts: Timeouts) -> list[Request]:
        return [Request(RequestIssued, api, member) for member in requests.gone]

    members = (MemberStarted, MemberCrashed, MemberLeft, MemberPaused, MembershipLost, CoordinatorFound)
    return eventually(
        {RequestSent: sent, RequestParked: kept, RequestIssued: waits},
        {RequestAnswered: answered, replied: of_reply, ReplyReceived: of_reply},
        cancels={
            RequestSent: goes_on,
            RequestAnswered: given_up,
            RequestParked: lambda event, *_: parked(event),
            RequestIssued: lambda event, *_: issued(event),
            **dict.fromkeys(members, replaced),
            MemberRemoved: removed,
            GroupDescribed: gone,
            **dict.fromkeys((IncarnationStarted, IncarnationEnded, CoordinatorElected, NodeChanged), _all),
            StepStarted: _taken_over,
        },
        restarts={StepStarted: _disturbed},
        renews=_log_is_held,
        views=(OpenRequests, Timeouts),
    )


_OF_A_FAULT: Final = (
    GroupStatusChanged, IncarnationEnded, IncarnationStarted, MemberCrashed, MemberLeft, MemberRemoved, MemberStarted,
    NodeChanged, ReplyReceived, RequestAnswered,
)  # fmt: skip

JoinGroupIsAnswered: Final = Invariant(
    name="join_group_is_answered",
    family="deadlines",
    claim="a JoinGroup is answered before the longest rebalance timeout has passed, or the initial delay if longer",
    source="GroupMetadataManager.prepareRebalance, tryCompleteInitialRebalanceElseSchedule; "
    "AbstractCoordinator.JOIN_GROUP_TIMEOUT_LAPSE",
    premises=(_TIMES, _ONE_CLOCK, _FAULTS, _OPEN, _SUPERSEDED),
    exempted_by=(*_OF_A_FAULT, JoinGroupReplied),
    evidence=Evidence.CONCERNED,
    fold=_replies_to(Api.JOIN_GROUP, JoinGroupReplied),
    kind=Kind.LIVENESS,
    opening="""
        MemberStarted(member="m0", rebalance_timeout_ms=60000, session_timeout_ms=10000)
        RequestSent(member="m0", api="JoinGroup", request=0)
    """,
    breaks="""RequestSent(member="m0", api="Heartbeat", time_ms=80000)""",
    holds="""RequestAnswered(member="m0", api="JoinGroup", time_ms=60000)""",
)

SyncGroupIsAnswered: Final = Invariant(
    name="sync_group_is_answered",
    family="deadlines",
    claim="a SyncGroup is answered before the longest rebalance timeout has passed",
    source="GroupMetadataManager.schedulePendingSync, expirePendingSync; KAFKA-12890",
    premises=(_TIMES, _ONE_CLOCK, _FAULTS, _OPEN, _SUPERSEDED),
    exempted_by=(*_OF_A_FAULT, SyncGroupReplied),
    evidence=Evidence.CONCERNED,
    fold=_replies_to(Api.SYNC_GROUP, SyncGroupReplied),
    kind=Kind.LIVENESS,
    opening="""
        RequestParked(api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=60000)
        RequestParked(generation=1, api="SyncGroup", member_id="a")
    """,
    breaks="""HeartbeatReplied(generation=1, member_id="b", time_ms=80000)""",
    holds="""SyncGroupReplied(generation=1, request=1, member_id="a", time_ms=60000)""",
)


def _enters(
    event: GroupStatusChanged | IncarnationStarted,
    _requests: OpenRequests,
    timeouts: Timeouts,
    _incarnations: Incarnations,
    _sessions: Sessions,
) -> Awaited | None:
    status = event.to_status if isinstance(event, GroupStatusChanged) else event.status
    if status not in PHASES:
        return None
    allowed = timeouts.join_phase if status == GroupStatus.PREPARING_REBALANCE else timeouts.sync_phase
    return Awaited(event.incarnation, event, f"the group is {status}", allowed)


def _ends_its_phase(event: CoordinatorEvent, *_views: object) -> int:
    return event.incarnation


def _has_no_group(event: ReplyEvent, *_views: object) -> object | None:
    """The coordinator replies that it has no such group: the record that made it was refused."""
    return ALL if event.incarnation == UNKNOWN_INCARNATION else None


def _phase_goes_on(
    key: Hashable, requests: OpenRequests, _timeouts: Timeouts, incarnations: Incarnations, sessions: Sessions
) -> str:
    """A join phase for which only static members are awaited begins again until their sessions end."""
    group = incarnations.known.get(key) if isinstance(key, int) else None
    if group is not None and not group.joins and _joins_with_statics(group, sessions):
        return "awaits silent static members only"
    return _log_is_held(key, requests)


def _joins_with_statics(group: Incarnation, sessions: Sessions) -> bool:
    loaded = group.begun is not None and bool(group.begun.instances)
    return group.status == GroupStatus.PREPARING_REBALANCE and (group.incarnation in sessions.statics or loaded)


def _first_joins(
    event: RequestParked, _requests: OpenRequests, _timeouts: Timeouts, incarnations: Incarnations, sessions: Sessions
) -> int | None:
    """Until the first member joins, a join phase of static members begins again and again."""
    group = incarnations.current
    if group is None or event.api != Api.JOIN_GROUP or len(group.joins) != 1:
        return None
    return event.incarnation if _joins_with_statics(group, sessions) else None


RebalancePhaseEnds: Final = Invariant(
    name="rebalance_phase_ends",
    family="deadlines",
    claim="a group stays in PreparingRebalance or CompletingRebalance no longer than the longest rebalance timeout",
    source="GroupMetadataManager.prepareRebalance, tryCompleteInitialRebalanceElseSchedule, schedulePendingSync",
    premises=(
        _TIMES,
        _ONE_CLOCK,
        _FAULTS,
        _OPEN,
        "a join phase without a parked JoinGroup in a group with static members begins again until their sessions end",
    ),
    exempted_by=(IncarnationStarted, IncarnationEnded, GroupStatusChanged, RequestParked, NodeChanged),
    evidence=Evidence.CONCERNED,
    fold=eventually(
        {GroupStatusChanged: _enters, IncarnationStarted: _enters},
        {GroupStatusChanged: _ends_its_phase},
        cancels={
            IncarnationEnded: _ends_its_phase,
            **dict.fromkeys((IncarnationStarted, NodeChanged, CoordinatorElected), _all),
            **dict.fromkeys((JoinGroupReplied, SyncGroupReplied, HeartbeatReplied), _has_no_group),
            StepStarted: _taken_over,
        },
        restarts={StepStarted: _disturbed, RequestParked: _first_joins},
        renews=_phase_goes_on,
        views=(OpenRequests, Timeouts, Incarnations, Sessions),
    ),
    kind=Kind.LIVENESS,
    opening="""
        RequestParked(api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=60000)
        GroupStatusChanged(from_status="Empty", to_status="PreparingRebalance")
    """,
    breaks="""HeartbeatReplied(generation=1, request=2, member_id="b", time_ms=80000)""",
    holds="""GroupStatusChanged(generation=1, from_status="PreparingRebalance", to_status="Empty", time_ms=60000)""",
)


def _lacking(event: Event, ownerless: Ownerless, timeouts: Timeouts) -> list[Awaited]:
    def allowed() -> int:
        rebalances_ms = timeouts.two_rebalances()
        return rebalances_ms + ownerless.metadata_ms if rebalances_ms else 0

    return [Awaited(one, event, f"{one} has no owner", allowed) for one in ownerless.lacking]


def _owned(_event: Event, ownerless: Ownerless, _timeouts: Timeouts) -> list[str]:
    lacking = set(ownerless.lacking)
    return [partition for partition in ownerless.exist if partition not in lacking]


def _shaken(_event: Event, ownerless: Ownerless, _timeouts: Timeouts) -> object | None:
    return ALL if ownerless.is_shaken else None


_MOVES: Final[tuple[type[Event], ...]] = (
    TopicsDescribed, MemberStarted, SubscriptionChanged, MemberJoined, AssignmentCompleted, MemberCrashed, MemberLeft,
    MembershipLost, MemberPaused, MemberResumed, PartitionsAssigned, PartitionsRevoked, PartitionsLost, NodeChanged,
    CoordinatorElected, IncarnationStarted, IncarnationEnded,
)  # fmt: skip

EveryPartitionGetsAnOwner: Final = Invariant(
    name="every_partition_gets_an_owner",
    family="deadlines",
    claim="a partition that exists, and that a member of the group wants, gets an owner within two rebalances",
    source="ConsumerPartitionAssignor.assign; KIP-429 (a withheld partition is assigned in the follow-up rebalance)",
    premises=(
        "the history says which partitions exist (TopicsDescribed) and what members want (MemberStarted, "
        "SubscriptionChanged)",
        "events carry times and the timeouts of all members; the deadline is the longest session, two join phases and "
        "two sync phases, and the age that metadata may have",
        "it begins again when a member starts, joins, leaves, crashes, loses its membership, is paused or changes its "
        "subscription, when topics change, and when the coordinator does",
        _ONE_CLOCK,
        _OPEN,
    ),
    exempted_by=(MemberCrashed, MemberLeft, SubscriptionChanged, PartitionsAssigned, AssignmentCompleted),
    fold=eventually(
        dict.fromkeys(_MOVES, _lacking),
        dict.fromkeys(_MOVES, _owned),
        cancels=dict.fromkeys(_MOVES, _shaken),
        views=(Ownerless, Timeouts),
        needs=((TopicsDescribed,), (MemberStarted, SubscriptionChanged), (MemberJoined, AssignmentCompleted)),
    ),
    kind=Kind.LIVENESS,
    opening="""
        TopicsDescribed(partitions=("t-0",), metadata_max_age_ms=5000)
        MemberStarted(member="m0", topics=("t",), rebalance_timeout_ms=60000, session_timeout_ms=10000)
        AssignmentCompleted(member="m0", generation=1, owned=())
    """,
    breaks="""OffsetCommitted(member="m0", generation=1, partition="u-0", offset=0, time_ms=400000)""",
    holds="""AssignmentCompleted(member="m0", generation=2, owned=("t-0",), time_ms=60000)""",
)


def _completes(event: RunEnded, tail: Tail, incarnations: Incarnations) -> Finding:
    """The run names what has not converged; its last events say why."""
    if not event.pending:
        return CHECKED
    first, *others = event.pending
    more = f" and {len(others)} more" if others else ""
    standstill = Standstill(event, list(tail.events), incarnations.latest, tail.is_punctual)
    loops = standstill.loops
    pending = "; ".join(event.pending)
    reasons = [(one.text, one.event) for one in standstill.reasons(loops)]
    reasons.append((f"when the run ended at {STEP}, this was pending: {pending}.", event))
    turns = [one for loop in loops for one in loop.turn]
    concerned = {id(shown) for _, shown in reasons} | {id(one) for one in turns}
    known = {id(one) for one in standstill.events}
    before = [shown for _, shown in reasons if shown is not None and id(shown) not in known]
    events = (*before, *(one for one in standstill.events if id(one) in concerned))
    return Broken(f"{first}{more}", tuple(reasons), events, tuple(turns))


RebalanceCompletes: Final = Invariant(
    name="rebalance_completes",
    family="deadlines",
    claim="once the disturbances end, every rebalance completes and every partition finds its owner",
    source="classic group protocol: join phase, sync phase and session expiry are all bounded in time",
    premises=(
        "the run ended in an orderly way, after a healed phase that was long enough",
        "the subject names in RunEnded what had not converged",
    ),
    fold=completion(_completes, also_pending=True, views=(Tail, Incarnations)),
    kind=Kind.LIVENESS,
    needs_end=True,
    evidence=Evidence.PRESENCE,
    breaks="""RunEnded(pending=("m0 waits for a SyncGroup reply",))""",
    holds="""
        MemberJoined(member="m0", generation=1)
        RunEnded(pending=())
    """,
)


LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
