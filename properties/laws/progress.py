"""Progress: requests are answered, phases end, and a group comes to rest. All times are in ms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    CoordinatorElected,
    Event,
    GroupStatusChanged,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    MemberCrashed,
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
    ReplyReceived,
    RequestAnswered,
    RequestIssued,
    RequestParked,
    RequestSent,
    RunEnded,
    SubscriptionChanged,
    SyncGroupReplied,
    TopicsDescribed,
)
from rebalance_check.properties.engines import ALL, CHECKED, Broken, Due, Finding, completion, eventually
from rebalance_check.properties.kinds import Evidence, Fold, Invariant, Kind, declared
from rebalance_check.properties.standstill.explain import loops_of, why_no_rest
from rebalance_check.properties.standstill.tail import Tail
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.awaited import ANSWER, BEGIN, VOID, OpenRequests
from rebalance_check.properties.views.coordinator import Incarnations
from rebalance_check.properties.views.ownerless import Ownerless
from rebalance_check.properties.views.timeouts import GRACE_MS, Timeouts

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


def _in_words(event: RequestSent | RequestParked | RequestIssued) -> str:
    match event:
        case RequestSent():
            return f"{event.api} {event.request} of {event.member} is not answered"
        case RequestParked():
            return f"{event.api} of {event.member_id} is parked and not answered"
    return f"{event.api} of {event.client} (request {event.request}) is not answered"


def _void(_event: Event, requests: OpenRequests, _timeouts: Timeouts) -> object | None:
    return ALL if requests.void is None else requests.void or None


def _replies_to(api: Api, allowed_ms: Callable[[Timeouts], int]) -> Callable[[Invariant], Fold]:
    """The requests of one kind that are open, as a client, a coordinator and the runner of a scenario see them."""

    def begins(
        event: RequestSent | RequestParked | RequestIssued, requests: OpenRequests, _timeouts: Timeouts
    ) -> Due | None:
        request = requests.begun
        return Due(request, event, 0, _in_words(event), "") if request is not None and request.api == api else None

    return eventually(
        dict.fromkeys(BEGIN, begins),
        dict.fromkeys(ANSWER, lambda _event, requests, _timeouts: requests.answered),
        cancels=dict.fromkeys(VOID, _void),
        allowed_ms=lambda _requests, timeouts: allowed_ms(timeouts),
        stands_still=lambda requests, _timeouts: requests.is_held,
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
    fold=_replies_to(Api.JOIN_GROUP, Timeouts.join_phase),
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
    fold=_replies_to(Api.SYNC_GROUP, Timeouts.sync_phase),
    kind=Kind.LIVENESS,
    opening="""
        RequestParked(api="JoinGroup", request=0, member_id="a", rebalance_timeout_ms=60000)
        RequestParked(generation=1, api="SyncGroup", member_id="a")
    """,
    breaks="""HeartbeatReplied(generation=1, member_id="b", time_ms=80000)""",
    holds="""SyncGroupReplied(generation=1, request=1, member_id="a", time_ms=60000)""",
)


def _lacking(event: Event, ownerless: Ownerless, _timeouts: Timeouts) -> list[Due]:
    return [Due(one, event, 0, f"{one} has no owner", "") for one in ownerless.lacking]


def _within_ms(ownerless: Ownerless, timeouts: Timeouts) -> int:
    rebalances_ms = timeouts.two_rebalances()
    return rebalances_ms + ownerless.metadata_ms if rebalances_ms else 0


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
        allowed_ms=_within_ms,
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
    events = list(tail.events)
    why = why_no_rest(event, events, incarnations.latest, tail.is_punctual)
    reasons = [(one.text, one.event) for one in why]
    reasons.append((f"when the run ended at {STEP}, this was pending: {'; '.join(event.pending)}.", event))
    turns = tuple(one for loop in loops_of(events) for one in loop.turn)
    shown = {id(one): one for one in (*turns, *(one for _, one in reasons)) if one is not None}
    kept = [one for one in events if shown.pop(id(one), None) is not None]
    first, *others = event.pending
    more = f" and {len(others)} more" if others else ""
    return Broken(f"{first}{more}", tuple(reasons), (*shown.values(), *kept), turns)


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
