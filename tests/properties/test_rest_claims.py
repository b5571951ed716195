"""Claims about a group at rest: the smallest histories in which each says something and holds, and how they break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from rebalance_check.model.vocabulary.events import (
    CoordinatorRested,
    Event,
    GenerationStarted,
    GroupRested,
    MemberRemoved,
    MemberRested,
    MemberStarted,
    OffsetCommitted,
    RestingStateRead,
    SubscriptionChanged,
    TaskStarted,
    TaskStopped,
    TopicsDescribed,
)
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Held, Untested, Violated

History = Callable[..., list[Event]]

MEMBER: Final = MemberRested(
    member="m0", generation=1, member_id="m0-1", state="STABLE", protocol="range", offers=("range", "sticky"),
    session_timeout_ms=10_000, rebalance_timeout_ms=15_000, topics=("t",), joined_topics=("t",), known=("t-0", "t-1"),
    owned=("t-0",), time_ms=1_000,
)  # fmt: skip
GROUP: Final = GroupRested(
    status="Stable", protocol_type="consumer", protocol="range", instances=(("m0-1", ""),), topics=(("m0-1", ("t",)),),
    assignments=(("m0-1", ("t-0",)),), time_ms=1_000,
)  # fmt: skip
COORDINATOR: Final = CoordinatorRested(
    incarnation=0, generation=1, leader="m0-1", offers=(("m0-1", ("range", "sticky")),),
    timeouts=(("m0-1", 10_000, 15_000),), supported=(("range", 1), ("sticky", 1)), subscribed=("t",),
    timers=(("session", "m0-1", 9_000),), time_ms=1_000,
)  # fmt: skip
STARTED: Final = MemberStarted(member="m0", topics=("t",), session_timeout_ms=10_000, rebalance_timeout_ms=15_000)
FORMED: Final = GenerationStarted(incarnation=0, generation=1, members=("m0-1",), leader="m0-1")
READING: Final = replace(MEMBER, reads=True, positions=(("t-0", 40),), commit_interval_ms=4_000)
TOPICS: Final = TopicsDescribed(partitions=("t-0", "t-1", "u-0"), metadata_max_age_ms=500)
ACTS: Final = TaskStarted(member="m0", generation=1, task="primary")
PRIMARY: Final = MemberRested(member="m0", generation=1, member_id="m0-1", url="http://m0:1", primary="http://m0:1")
FOLLOWER: Final = replace(PRIMARY, member="m1", member_id="m1-1", url="http://m1:1")
COMMITTED: Final = OffsetCommitted(member="m0", generation=1, partition="t-0", offset=50, error="NONE", time_ms=7_000)
NEW: Final = RestingStateRead(subject="m0", role="leader", state=(("a", "1"), ("b", "1")), is_new=True)


def later(event: Any, **changed: Any) -> Any:
    return replace(event, time_ms=8_000, **changed)


def twice(*look: Any) -> list[Event]:
    """Two looks that see the same, seven seconds apart."""
    return [*look, *map(later, look)]


HOLDS: Final[dict[str, list[list[Event]]]] = {
    "nothing_stays_marked": [
        [MEMBER, GROUP, later(MEMBER)],
        [replace(MEMBER, marks=("looks for its coordinator",)), GROUP, later(MEMBER)],
        [MEMBER, GROUP, later(MEMBER, marks=("looks for its coordinator",), in_flight=(("Heartbeat", 11_000),))],
        # another generation: what is marked now was not marked before
        [replace(MEMBER, marks=("has not read 1 replies",)), GROUP,
         later(MEMBER, marks=("has not read 1 replies",), generation=2), GROUP,
         replace(MEMBER, generation=2, time_ms=15_000)],
    ],
    "knows_the_partitions_it_wants": [
        [TOPICS, MEMBER],
        [TOPICS, MEMBER, TopicsDescribed(partitions=("t-0",), time_ms=900, metadata_max_age_ms=500), MEMBER],
    ],
    "coordinator_holds_what_members_want": [
        [STARTED, FORMED, *twice(MEMBER, GROUP, COORDINATOR)],
        [STARTED, SubscriptionChanged(member="m0", topics=("u", "t")),
         *twice(replace(MEMBER, topics=("t", "u"), joined_topics=("u", "t")),
                replace(GROUP, topics=(("m0-1", ("t", "u")),)))],
        # a late JoinGroup changed the id just now, and the next heartbeat shows it
        [MEMBER, replace(GROUP, instances=(("m0-2", ""),)), later(MEMBER), GROUP],
        [MEMBER, GROUP, later(MEMBER), replace(GROUP, instances=(("m0-2", ""),))],
        # it read its log, where only the selected protocol stands
        [STARTED, *twice(MEMBER, GROUP, replace(COORDINATOR, offers=(("m0-1", ("range",)),)))],
    ],
    "owned_is_what_the_coordinator_holds": [twice(MEMBER, GROUP)],
    "offsets_of_its_topics_are_held": [
        twice(MEMBER, GROUP, COORDINATOR),
        # seen at one look alone
        [MEMBER, GROUP, replace(COORDINATOR, subscribed=()), *map(later, (MEMBER, GROUP, COORDINATOR))],
    ],
    "former_members_are_forgotten": [
        [COORDINATOR],
        [replace(COORDINATOR, pending_joins=("m1-2",), timers=(("session", "m1-2", 10), ("session", "m0-1", 10)))],
        [MemberRemoved(incarnation=0, generation=1, member_id="m0-0", reason="replaced"),
         replace(COORDINATOR, timers=(("session", "m0-0", 10), ("session", "m0-1", 10)), pending_syncs=("m0-0",))],
    ],
    "each_member_is_timed": [
        [MEMBER, GROUP, COORDINATOR],
        [replace(COORDINATOR, timers=(("session", "m0-1", 9_000), ("join", "", 100)), parked=(("m0-1", "JoinGroup"),))],
        [GROUP, replace(COORDINATOR, timers=(("session", "m0-1", 9), ("sync", "", 9)), pending_syncs=("m0-0",))],
    ],
    "owned_partitions_are_read": [
        [READING, GROUP, later(READING, positions=(("t-0", 41),))],
        # too soon, still busy, or a new partition
        [READING, later(READING, positions=(("t-0", 41),)), replace(READING, time_ms=9_000)],
        [READING, replace(READING, generation=2), later(READING, generation=2, positions=(("t-0", 41),)),
         replace(READING, generation=2, is_busy=True, positions=(("t-0", 42),), time_ms=16_000),
         replace(READING, generation=2, positions=(("t-0", 42),), time_ms=24_000)],
        [READING, later(READING, positions=(("t-0", 41),), owned=("t-0", "t-1"))],
    ],
    "what_is_read_is_committed": [
        [READING, GROUP, COORDINATOR, later(READING, positions=(("t-0", 90),)), GROUP,
         later(COORDINATOR, committed=(("t-0", 50),))],
        # a late commit took the offset back
        [READING, replace(COORDINATOR, committed=(("t-0", 40),)), COMMITTED, later(READING, positions=(("t-0", 90),)),
         later(COORDINATOR, committed=(("t-0", 30),))],
    ],
    "primary_is_known_to_all": [
        [ACTS, PRIMARY, FOLLOWER, GROUP],
        # another one acts since
        [ACTS, PRIMARY, FOLLOWER, GROUP, TaskStopped(member="m0", generation=1, task="primary"),
         replace(ACTS, member="m1"), *(later(one, primary="http://m1:1") for one in (PRIMARY, FOLLOWER)), GROUP],
        # no member is eligible
        [ACTS, PRIMARY, FOLLOWER, GROUP, TaskStopped(member="m0", generation=1, task="primary"),
         *(later(one, primary="") for one in (PRIMARY, FOLLOWER)), GROUP],
    ],
    "rest_is_like_new": [
        [NEW, replace(NEW, subject="m1", is_new=False)],
        [NEW, replace(NEW, state=(("a", "2"), ("b", "1"))),
         replace(NEW, is_new=False, state=(("a", "2"), ("b", "1")))],
        [replace(NEW, subject="new reader", role="config store"), replace(NEW, role="config store", is_new=False)],
    ],
}  # fmt: skip

BREAKS: Final[dict[str, list[tuple[list[Event], str]]]] = {
    "nothing_stays_marked": [
        ([replace(MEMBER, in_flight=(("Heartbeat", 26_000),))], "m0 waits for the reply to Heartbeat since 26000 ms"),
    ],
    "knows_the_partitions_it_wants": [
        ([TOPICS, replace(MEMBER, known=("t-0", "t-1", "t-2"))], "m0 knows t-0, t-1, t-2 of its topics"),
    ],
    "coordinator_holds_what_members_want": [
        (twice(MEMBER, replace(GROUP, instances=(("m0-2", ""),))), "m0 has the member id m0-1, and its coordinator"),
        (twice(MEMBER, replace(GROUP, instances=(("m0-1", "i"),))), "m0 has the group instance id none"),
        (twice(MEMBER, replace(GROUP, topics=(("m0-1", ("t", "u")),))), "m0 has the topics t, and its"),
        ([STARTED, SubscriptionChanged(member="m0", topics=("u",)), *twice(MEMBER, GROUP)],
         "m0 has the wanted topics u"),
        (twice(replace(MEMBER, joined_topics=("u",)), GROUP), "m0 has the joined topics u, and its"),
        (twice(MEMBER, replace(GROUP, protocol="sticky")), "m0 has the selected protocol range"),
        (twice(MEMBER, replace(COORDINATOR, generation=2)), "m0 has the generation 1, and its coordinator holds 2"),
        ([STARTED, *twice(replace(MEMBER, session_timeout_ms=0), replace(COORDINATOR, timeouts=(("m0-1", 6_000, 9),)))],
         "m0 has the session timeout 10000 ms, and its coordinator holds 6000 ms"),
        ([FORMED, *twice(MEMBER, replace(COORDINATOR, offers=(("m0-1", ("range",)),)))],
         "m0 has the protocols range, sticky"),
    ],
    "offsets_of_its_topics_are_held": [
        (twice(MEMBER, GROUP, replace(COORDINATOR, subscribed=("t", "u"))),
         "the coordinator takes the group for subscribed to t, u, and it reads t"),
        (twice(replace(MEMBER, joined_topics=("t", "u")), GROUP, COORDINATOR), "and it reads t, u"),
    ],
    "owned_is_what_the_coordinator_holds": [
        (twice(replace(MEMBER, owned=()), GROUP), "m0 owns nothing, and the coordinator holds t-0 for it"),
    ],
    "former_members_are_forgotten": [
        ([replace(COORDINATOR, static_members=(("i", "m9"),))], "i belongs to m9, which is no member"),
        ([replace(COORDINATOR, pending_syncs=("m9",))], "a SyncGroup of m9 is awaited, which is no member"),
        ([replace(COORDINATOR, leader="")], "nobody leads, which is no member"),
        ([replace(COORDINATOR, supported=(("range", 2), ("sticky", 1)))], "counts supporters range: 2, sticky: 1"),
        ([replace(COORDINATOR, timers=(("session", "m9", 900),))], "a session timer is armed for m9"),
    ],
    "each_member_is_timed": [
        ([replace(COORDINATOR, timers=(("session", "m0-1", 10_001),))], "the session of m0-1 ends in 10001 ms"),
        ([replace(COORDINATOR, pending_joins=("m1-2",))], "no session timer is armed for m1-2, an id that was handed"),
        ([GROUP, replace(COORDINATOR, timers=(("session", "m0-1", 9), ("sync", "", 9)))], "a sync timer is armed"),
        ([GROUP, replace(COORDINATOR, parked=(("m0-1", "SyncGroup"),))], "SyncGroup of m0-1 is parked"),
        ([replace(COORDINATOR, timers=(("session", "m0-1", 9), ("session", "", 9)))], "a session timer is armed that"),
        ([GROUP, replace(COORDINATOR, pending_syncs=("m0-0",))], "no sync timer is armed, and a SyncGroup of m0-0"),
    ],
    "owned_partitions_are_read": [
        ([replace(READING, positions=()), later(READING, positions=())], "m0 owns t-0 and does not read it"),
    ],
    "what_is_read_is_committed": [
        ([READING, COORDINATOR, later(READING, positions=(("t-0", 90),)), later(COORDINATOR)],
         "m0 reads t-0, and its committed offset stands at -1"),
    ],
    "primary_is_known_to_all": [
        ([ACTS, PRIMARY, replace(FOLLOWER, primary=""), GROUP],
         "m1 takes the primary to be at no address, and it is at http://m0:1"),
        ([ACTS, PRIMARY, replace(FOLLOWER, primary="http://m1:1"), GROUP], "m1 takes the primary to be at http://m1:1"),
        ([ACTS, replace(PRIMARY, primary=""), FOLLOWER, GROUP], "m0 takes the primary to be at no address"),
    ],
    "rest_is_like_new": [
        ([NEW, replace(NEW, is_new=False, state=(("a", "2"), ("b", "1")))],
         "m0 (leader) is left with a = 2; in a new group it is 1"),
        ([NEW, replace(NEW, is_new=False, state=(("c", "2"),))], "c = 2; in a new group it is no such field"),
        ([replace(NEW, subject="new reader", role="status store"),
          replace(NEW, role="status store", is_new=False, state=(("a", "2"),))],
         "m0 (status store) is left with a = 2; in a new group it is 1"),
    ],
}  # fmt: skip


def test_every_claim_about_rest_is_here() -> None:
    names = {invariant.name for invariant in CATALOGUE if invariant.family == "rest"}
    assert names == HOLDS.keys() == BREAKS.keys()


@pytest.mark.parametrize(
    ("name", "events"), [pytest.param(name, events, id=name) for name, each in HOLDS.items() for events in each]
)
def test_a_group_is_at_rest__holds(history: History, name: str, events: list[Event]) -> None:
    verdict = judge(history(*events), select([name])).verdict(name)

    assert isinstance(verdict, Held), verdict
    assert verdict.checked_events


@pytest.mark.parametrize(
    ("name", "events", "headline"),
    [pytest.param(name, *each, id=name) for name, some in BREAKS.items() for each in some],
)
def test_something_is_left_over__is_violated(history: History, name: str, events: list[Event], headline: str) -> None:
    verdict = judge(history(*events), select([name])).verdict(name)

    assert isinstance(verdict, Violated), verdict
    assert headline in verdict.counterexample.headline


@pytest.mark.parametrize("name", HOLDS)
def test_nobody_looked__is_untested(history: History, name: str) -> None:
    verdict = judge(history(STARTED, TOPICS, FORMED), select([name])).verdict(name)

    assert isinstance(verdict, Untested), verdict
