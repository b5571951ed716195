"""Liveness seen from events: each deadline, what restarts or excuses it, and what leaves it undecided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    CoordinatorConfigured,
    CoordinatorElected,
    Event,
    GroupDescribed,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    NodeChanged,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsRevoked,
    ReplyReceived,
    RequestAnswered,
    RequestIssued,
    RequestParked,
    RequestSent,
    RunStarted,
    StepStarted,
    SubscriptionChanged,
    SyncGroupReplied,
    TopicsDescribed,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.completeness import Completeness
from rebalance_check.properties.engines.deadline import SHORTEN_AT, EventuallyFold
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Place
from rebalance_check.properties.panel import Panel
from rebalance_check.properties.verdict import Held, Undecided, Untested, Verdict, Violated

History = Callable[..., list[Event]]
JOIN: Final = "join_group_is_answered"
SYNC: Final = "sync_group_is_answered"
OWNER: Final = "every_partition_gets_an_owner"
REBALANCE_MS: Final = 60_000
DEADLINE_MS: Final = 70_000
OWNER_MS: Final = 10_000 + 4 * DEADLINE_MS + 5_000
VIRTUAL: Final = RunStarted(subject="simulator", punctual=True)
PREPARING, COMPLETING, STABLE = "PreparingRebalance", "CompletingRebalance", "Stable"


def started(member: str = "m0", *topics: str) -> MemberStarted:
    return MemberStarted(member=member, topics=topics, rebalance_timeout_ms=REBALANCE_MS, session_timeout_ms=10_000)


def sent(time_ms: int, api: str = "JoinGroup", request: int = 0, member: str = "m0") -> RequestSent:
    return RequestSent(member=member, api=api, request=request, time_ms=time_ms)


def answered(time_ms: int, api: str = "JoinGroup", error: str | None = "NONE") -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=0, error=error, time_ms=time_ms)


def parked(time_ms: int, api: str = "JoinGroup", request: int = 1, member: str = "a") -> RequestParked:
    rebalance_ms = REBALANCE_MS if api == "JoinGroup" else 0
    return RequestParked(
        incarnation=0, generation=0, api=api, request=request, member_id=member, time_ms=time_ms,
        rebalance_timeout_ms=rebalance_ms, session_timeout_ms=10_000,
    )  # fmt: skip


def joined(time_ms: int, request: int = 1) -> JoinGroupReplied:
    return JoinGroupReplied(incarnation=0, generation=1, request=request, error="NONE", time_ms=time_ms)


def moved(time_ms: int, to: str, before: str = STABLE) -> GroupStatusChanged:
    return GroupStatusChanged(incarnation=0, generation=1, from_status=before, to_status=to, time_ms=time_ms)


def tick(time_ms: int) -> HeartbeatReplied:
    """Time passes at the coordinator."""
    return HeartbeatReplied(
        incarnation=0, generation=1, request=99, error="UNKNOWN_MEMBER_ID", member_id="z", time_ms=time_ms
    )


def committed(time_ms: int, member: str = "m0") -> OffsetCommitted:
    """Time passes at a member."""
    return OffsetCommitted(member=member, generation=1, partition="u-0", offset=0, error="NONE", time_ms=time_ms)


def issued(time_ms: int, api: str = "JoinGroup", request: int = 1, member: str = "") -> RequestIssued:
    rebalance_ms = REBALANCE_MS if api == "JoinGroup" else 0
    return RequestIssued(
        source="runner", client="c", api=api, request=request, version=5, member_id=member, time_ms=time_ms,
        rebalance_timeout_ms=rebalance_ms, session_timeout_ms=10_000,
    )  # fmt: skip


def received(time_ms: int, request: int = 1) -> ReplyReceived:
    return ReplyReceived(source="runner", request=request, error="NONE", time_ms=time_ms)


def step(time_ms: int, verb: str = "advance 1") -> StepStarted:
    return StepStarted(source="runner", step=verb, time_ms=time_ms)


def described(time_ms: int, *members: str) -> GroupDescribed:
    return GroupDescribed(source="runner", status=STABLE, members=tuple((m, "") for m in members), time_ms=time_ms)


def topics(time_ms: int, *partitions: str) -> TopicsDescribed:
    return TopicsDescribed(partitions=partitions, metadata_max_age_ms=5_000, time_ms=time_ms)


def completed(time_ms: int, *owned: str, member: str = "m0") -> AssignmentCompleted:
    return AssignmentCompleted(member=member, generation=1, owned=owned, time_ms=time_ms)


IN_GROUP: Final = (topics(0, "t-0"), started("m0", "t"))

HOLD: Final[dict[str, list[list[Event]]]] = {
    JOIN: [
        [started(), sent(1_000), answered(1_000 + DEADLINE_MS), sent(200_000, "Heartbeat")],
        [parked(1_000), joined(1_000 + DEADLINE_MS), tick(200_000)],
        [issued(1_000), received(1_000 + DEADLINE_MS), step(200_000)],
        # a wait that faults or the member itself ended
        [started(), sent(0), answered(50_000, error=None), sent(200_000, "Heartbeat")],
        [started(), sent(0), sent(50_000, "LeaveGroup"), sent(200_000, "Heartbeat")],
        [started(), sent(0), MemberCrashed(member="m0", source="harness"), committed(200_000)],
        [started(), sent(0), MemberLeft(member="m0"), committed(200_000)],
        [started(), sent(0), MemberPaused(member="m0"), committed(200_000)],
        [started(), sent(0), MembershipLost(member="m0", generation=1, reason="poll timeout"), committed(200_000)],
        [started(), sent(0), NodeChanged(node=0, change="killed"), committed(200_000)],
        [started(), sent(0), CoordinatorElected(node=1, incarnation=1), committed(200_000)],
        [started(), sent(0), IncarnationEnded(incarnation=0, generation=1), committed(200_000)],
        [parked(0), IncarnationEnded(incarnation=0, generation=0), tick(200_000)],
        [parked(0), IncarnationStarted(incarnation=1, generation=0), tick(200_000)],
        [parked(0), MemberRemoved(incarnation=0, generation=0, member_id="a", reason="left"), tick(200_000)],
        [parked(0), NodeChanged(node=0, change="paused"), tick(200_000)],
        [started(), sent(0), answered(0), NodeChanged(node=0, change="paused"), sent(1), committed(200_000)],
        [parked(0), parked(50_000, request=2), joined(110_000, request=2), tick(200_000)],
        [issued(0), step(1, "failover"), step(200_000)],
        # the log acknowledges nothing: what waits is late
        [issued(0), step(1, "hold"), step(100_000, "release"), received(160_000), step(300_000)],
        # the initial delay is longer than the rebalance timeout
        [CoordinatorConfigured(max_size=9, offsets_retention_ms=1, initial_rebalance_delay_ms=100_000, source="runner"),
         issued(0), received(105_000), step(200_000)],
        # a member with a longer timeout is in the group
        [started("m0"), MemberStarted(member="m1", rebalance_timeout_ms=300_000, session_timeout_ms=10_000),
         sent(0), answered(250_000), committed(400_000)],
    ],
    SYNC: [
        [started(), sent(0, "SyncGroup"), answered(DEADLINE_MS, "SyncGroup"), committed(200_000)],
        [parked(0), parked(1, "SyncGroup", 2),
         SyncGroupReplied(incarnation=0, generation=1, request=2, error="NONE", member_id="a", time_ms=60_000),
         tick(200_000)],
        # the coordinator never answers the SyncGroup of a member that it removed
        [issued(0), received(0), described(0, "a"), issued(1, "SyncGroup", 2, "a"), described(1, "a"),
         described(2), step(200_000)],
        # a log that acknowledges nothing hides the removal from who describes the group
        [issued(0), received(0), described(0), issued(1, "SyncGroup", 2, "a"),
         MemberRemoved(incarnation=0, generation=1, member_id="a", reason="left"), step(200_000)],
    ],
    OWNER: [
        [*IN_GROUP, completed(0), completed(OWNER_MS, "t-0"), committed(OWNER_MS * 3)],
        [*IN_GROUP, completed(0), PartitionsAssigned(member="m0", generation=1, partitions=("t-0",), time_ms=OWNER_MS),
         committed(OWNER_MS * 3)],
        [*IN_GROUP, completed(0), SubscriptionChanged(member="m0", topics=(), time_ms=1), committed(OWNER_MS * 3)],
        [*IN_GROUP, completed(0), MembershipLost(member="m0", generation=1, reason="x"), committed(OWNER_MS * 3)],
        # it does not exist any more
        [*IN_GROUP, completed(0), topics(9), committed(OWNER_MS * 3)],
        # another member joins: the group rebalances once more
        [*IN_GROUP, completed(0), started("m1", "t"), MemberJoined(member="m1", generation=2),
         completed(OWNER_MS, "t-0"), committed(OWNER_MS * 3)],
    ],
}  # fmt: skip
"""Histories in which each claim is put to the test and holds."""

BREAK: Final[dict[str, list[list[Event]]]] = {
    JOIN: [
        [started(), sent(1_000), committed(1_001 + DEADLINE_MS)],
        [started(), sent(1_000), answered(1_001 + DEADLINE_MS)],
        [parked(1_000), tick(1_001 + DEADLINE_MS)],
        [parked(1_000), joined(1_001 + DEADLINE_MS)],
        [issued(1_000), step(1_001 + DEADLINE_MS)],
        # the time of any source counts: the member waits in silence
        [started(), sent(1_000), committed(9_000, "m1"), committed(9_001 + DEADLINE_MS, "m1")],
        # virtual time is one clock
        [VIRTUAL, started(), sent(1_000), tick(1_001 + DEADLINE_MS)],
        # the timeouts become known later
        [sent(1_000), started("m1"), committed(1_001 + DEADLINE_MS)],
        [issued(0), step(1, "hold"), step(100_000, "release"), step(100_001 + DEADLINE_MS)],
        [IncarnationStarted(incarnation=0, generation=1, members=("a",), rebalance_timeout_ms=REBALANCE_MS), sent(0),
         committed(DEADLINE_MS + 1)],
    ],
    SYNC: [
        [started(), sent(1_000, "SyncGroup"), committed(1_001 + DEADLINE_MS)],
        [parked(0), joined(0), parked(1_000, "SyncGroup", 2), tick(1_001 + DEADLINE_MS)],
        [issued(0), received(0), described(0), issued(1, "SyncGroup", 2, "z"), described(1), step(2 + DEADLINE_MS)],
    ],
    OWNER: [
        [*IN_GROUP, completed(0), committed(OWNER_MS + 1)],
        [*IN_GROUP, completed(0), completed(OWNER_MS // 2), completed(OWNER_MS + 1)],
        [*IN_GROUP, completed(0, "t-0"),
         PartitionsRevoked(member="m0", generation=1, partitions=("t-0",), time_ms=1_000), committed(OWNER_MS + 1_001)],
        [*IN_GROUP, completed(0, "t-0"), topics(0, "t-0", "t-1"), completed(1, "t-0"), committed(OWNER_MS + 2)],
    ],
}  # fmt: skip
"""Histories that break each claim, by the last event."""

OPEN: Final[list[tuple[str, list[Event], str]]] = [
    (JOIN, [started(), sent(1_000), committed(DEADLINE_MS)], "before the deadline"),
    (JOIN, [started(), sent(0), committed(0)], "carry no times"),
    (JOIN, [sent(1_000), committed(900_000)], "no event says the timeouts"),
    # clocks of two sources are not compared
    (JOIN, [started(), sent(1_000), committed(900_000, "m1")], "before the deadline"),
    (SYNC, [parked(0), joined(0), parked(1_000, "SyncGroup", 2), tick(1_000 + DEADLINE_MS)], "before the deadline"),
    (OWNER, [*IN_GROUP, completed(0), committed(OWNER_MS - 7)], "before the deadline"),
]  # fmt: skip
"""Histories that end too early, or say too little."""


def verdict_of(history: History, name: str, events: list[Event]) -> Verdict:
    return judge(history(*events), select([name])).verdict(name)


@pytest.mark.parametrize(("name", "events"), [(name, events) for name, each in HOLD.items() for events in each])
def test_in_time__or_given_up__is_neither_violated_nor_undecided(
    history: History, name: str, events: list[Event]
) -> None:
    verdict = verdict_of(history, name, events)
    assert isinstance(verdict, Held | Untested), verdict


@pytest.mark.parametrize("name", HOLD)
def test_each_claim_is_put_to_the_test(history: History, name: str) -> None:
    verdict = verdict_of(history, name, HOLD[name][0])
    assert isinstance(verdict, Held)
    assert verdict.checked_events


@pytest.mark.parametrize(("name", "events"), [(name, events) for name, each in BREAK.items() for events in each])
def test_too_late__is_violated_by_the_last_event_and_not_before(
    history: History, name: str, events: list[Event]
) -> None:
    verdict = verdict_of(history, name, events)
    assert isinstance(verdict, Violated), verdict
    assert verdict.counterexample.events[-1].time_ms == events[-1].time_ms
    assert isinstance(judge(history(*events[:-1], ended=False), select([name])).verdict(name), Undecided)


@pytest.mark.parametrize(("name", "events", "why"), OPEN)
def test_nothing_can_be_said_yet__is_undecided(history: History, name: str, events: list[Event], why: str) -> None:
    verdict = verdict_of(history, name, events)
    assert isinstance(verdict, Undecided), verdict
    assert why in verdict.reason


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([sent(1), answered(2)], "no event says the timeouts"),
        ([started(), sent(0), answered(0)], "carry no times"),
        ([started(), committed(1)], "holds no RequestParked"),
    ],
)
def test_nothing_could_be_late__is_untested(history: History, events: list[Event], why: str) -> None:
    verdict = verdict_of(history, JOIN, events)
    assert isinstance(verdict, Untested)
    assert why in verdict.reason


def test_nobody_in_the_group_wants_a_partition__is_untested(history: History) -> None:
    events = [topics(0, "t-0"), started("m0", "u"), completed(0), committed(OWNER_MS * 3)]
    assert isinstance(verdict_of(history, OWNER, events), Untested)


def test_many_members_wait_for_long__the_memory_of_clocks_stays_small(history: History) -> None:
    """A clock forgets waits that are over, also where no timeout is known."""
    events = [event for i in range(2_000) for event in (sent(i, request=i), RequestAnswered(
        member="m0", api="JoinGroup", request=i, error="NONE", time_ms=i))]  # fmt: skip
    panel = Panel(select([JOIN]), "", Completeness(Place()), Place())
    for event in history(sent(1, member="m1"), *events):
        panel.observe(event)
    fold = panel.folds[JOIN]
    assert isinstance(fold, EventuallyFold)
    assert all(len(clock.firsts) <= 2 * SHORTEN_AT for clock in fold._clocks.values())
