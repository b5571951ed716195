"""A client by its own record: the same invariants as on the wire, and how its record excuses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.vocabulary import events as e
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.by_kip import WireClaims
from rebalance_check.properties.laws.client_causes import MembershipEndsForAReason
from rebalance_check.properties.laws.committing import OneCommitPrecedesAJoin
from rebalance_check.properties.views.recent import DEPARTED

History = Callable[..., list[Event]]
JUDGED = (*WireClaims, MembershipEndsForAReason, OneCommitPrecedesAJoin)

STARTED = e.MemberStarted(
    member="m0", protocol="eager", topics=("t",), session_timeout_ms=10_000, rebalance_timeout_ms=15_000
)


def sent(request: int, api: str, time_ms: int = 0, **fields: Any) -> Event:
    protocols: dict[str, Any] = {"protocols": ("range",)} if api == "JoinGroup" else {}
    return e.RequestSent(member="m0", api=api, request=request, version=9, time_ms=time_ms, **protocols, **fields)


def got(request: int, api: str, error: str | None = "NONE", time_ms: int = 0, **fields: Any) -> Event:
    return e.RequestAnswered(member="m0", api=api, request=request, error=error, time_ms=time_ms, **fields)


def accepted(request: int, generation: int = 1) -> Event:
    return got(request, "JoinGroup", generation=generation, assigned_member_id="a", leader="b")


def of_a(request: int, api: str, time_ms: int = 0) -> Event:
    return sent(request, api, time_ms, member_id="a", generation=1)


ACCEPTED = (STARTED, sent(1, "JoinGroup"), accepted(1))
SETTLED = (
    *ACCEPTED, of_a(2, "SyncGroup"), got(2, "SyncGroup", assignment=("t-0",)),
    e.AssignmentCompleted(member="m0", generation=1, member_id="a", owned=("t-0",)),
)  # fmt: skip
AGAIN = sent(9, "JoinGroup", member_id="a")
ANEW = sent(9, "JoinGroup")
METADATA = e.MetadataReceived(member="m0", partitions=("t-0",))
KNOWS_METADATA = (STARTED, METADATA, *SETTLED[1:])
CLAIMS = e.RequestSent(
    member="m0", api="JoinGroup", request=8, version=9, member_id="a", protocols=("cooperative-sticky",),
    owned=("t-0",), claimed_generation=1,
)  # fmt: skip

HELD: dict[str, tuple[Event, ...]] = {
    "it learns late that the member id which it gave up was fenced": (
        replace(STARTED, group_instance_id="i0"), *SETTLED[1:], of_a(3, "Heartbeat"),
        e.MembershipLost(member="m0", generation=1, reason="poll timeout expired"), ANEW,
        got(3, "Heartbeat", "FENCED_INSTANCE_ID"), e.ConnectionBroken(member="m0"), got(9, "JoinGroup", None),
        sent(10, "JoinGroup"),
    ),
    "it closes after a session without a heartbeat, through which it committed": (
        *SETTLED, of_a(3, "OffsetCommit", 9_000), got(3, "OffsetCommit", time_ms=9_000),
        e.MemberLeft(member="m0", time_ms=10_001),
    ),
    "an accepted join is given up for the next rebalance": (
        *ACCEPTED, got(0, "Heartbeat"), of_a(2, "Heartbeat"), got(2, "Heartbeat", "REBALANCE_IN_PROGRESS"), AGAIN,
    ),
    "its application unsubscribed while it joined": (
        *ACCEPTED[:2], e.SubscriptionChanged(member="m0", topics=()), accepted(1), ANEW,
    ),
    "its application unsubscribed while it joined, and its next join is refused": (
        *ACCEPTED[:2], e.SubscriptionChanged(member="m0", topics=()), accepted(1), ANEW,
        got(9, "JoinGroup", "REBALANCE_IN_PROGRESS"), sent(10, "JoinGroup"),
    ),
    "its application raises until its join is refused": (
        *SETTLED[:-1], of_a(3, "Heartbeat", 9_000), got(3, "Heartbeat", time_ms=9_000),
        of_a(4, "Heartbeat", 18_000), got(4, "Heartbeat", "ILLEGAL_GENERATION", 18_000), ANEW,
    ),
    "its application commits in a callback, and its own commit is not answered": (
        replace(STARTED, auto_commit_interval_ms=5_000), *SETTLED[1:], of_a(3, "Heartbeat"),
        got(3, "Heartbeat", "REBALANCE_IN_PROGRESS"), of_a(4, "OffsetCommit"),
        e.ListenerCalled(member="m0", callback="onPartitionsRevoked", partitions=("t-0",)), of_a(5, "OffsetCommit"),
    ),
    "it is fenced after it gave its membership up": (
        replace(STARTED, group_instance_id="i"), *SETTLED[1:], of_a(3, "Heartbeat"),
        e.MembershipLost(member="m0", generation=1, member_id="a", reason="poll timeout expired"),
        got(3, "Heartbeat", "FENCED_INSTANCE_ID"), ANEW,
    ),
    "its record begins when it is a member": (
        CLAIMS, got(8, "JoinGroup", "REBALANCE_IN_PROGRESS"), replace(CLAIMS, request=9),
    ),
    "it is one of hundreds": (
        *SETTLED, *(replace(STARTED, member=f"m{number}") for number in range(1, DEPARTED + 2)),
        CLAIMS, got(8, "JoinGroup", "REBALANCE_IN_PROGRESS"), replace(CLAIMS, request=9),
    ),
    "its application is busy": (
        *ACCEPTED, e.ApplicationBusy(member="m0", polled_ms=0, busy_ms=20_000, time_ms=1),
        of_a(2, "SyncGroup", 20_001),
    ),
    "a heartbeat was answered after it had left": (
        *SETTLED, of_a(3, "Heartbeat", 1), of_a(4, "LeaveGroup", 2),
        got(3, "Heartbeat", "REBALANCE_IN_PROGRESS", 3), sent(9, "JoinGroup", 20_000),
    ),
    "it gave its membership up because its application does not poll": (
        *SETTLED, of_a(3, "Heartbeat", 1), got(3, "Heartbeat", "REBALANCE_IN_PROGRESS", 2),
        of_a(5, "Heartbeat", 8_000),
        of_a(4, "LeaveGroup", 15_000),
        e.MembershipLost(member="m0", generation=1, member_id="a", reason="poll timeout expired", time_ms=15_000),
        sent(9, "JoinGroup", 30_000),
    ),
    "only its coordinator recorded the reply": (
        STARTED, sent(1, "JoinGroup"),
        e.RequestAnswered(source="coordinator", member="m0", api="JoinGroup", request=1, error="NONE", generation=1),
        ANEW,
    ),
    "it lost what it owned with its membership": (
        *SETTLED, of_a(3, "Heartbeat"), got(3, "Heartbeat", "UNKNOWN_MEMBER_ID"),
        e.PartitionsLost(member="m0", generation=-1, partitions=("t-0",)), ANEW,
    ),
    "it is a worker that is in no generation, and cannot read its config topic": (
        *SETTLED, of_a(3, "Heartbeat"), got(3, "Heartbeat", "ILLEGAL_GENERATION"),
        e.RequestSent(member="m0", api="JoinGroup", request=9, version=9, protocols=("sessioned", "compatible")),
    ),
    "its application asks for a rebalance": (*KNOWS_METADATA, e.RebalanceEnforced(member="m0"), AGAIN),
    "it closes silently": (
        e.MemberStarted(member="m0", leaves_silently=True), *SETTLED[1:], e.MemberLeft(member="m0"),
    ),
    "the metadata that it has is not recorded": (*SETTLED, AGAIN),
}  # fmt: skip

BROKEN: dict[str, tuple[str, tuple[Event, ...]]] = {
    "it joins again in the place of its SyncGroup": ("wire_sync_follows_join", (*ACCEPTED, AGAIN)),
    "it drops its id": ("wire_member_id_is_kept", (*SETTLED, of_a(3, "Heartbeat"), got(3, "Heartbeat"), ANEW)),
    "it drops its id for an old generation": (
        "wire_member_id_is_kept",
        (*SETTLED, of_a(3, "Heartbeat"), got(3, "Heartbeat", "ILLEGAL_GENERATION"), ANEW),
    ),
    "it joined under another id, and its requests are not recorded": (
        "wire_member_id_is_kept",
        (
            e.MemberJoined(member="m0", generation=1, member_id="a"),
            e.MemberJoined(member="m0", generation=2, member_id="b"),
        ),
    ),
    "it commits behind its LeaveGroup": (
        "wire_lost_membership_is_not_used",
        (*SETTLED, of_a(3, "LeaveGroup"), of_a(4, "OffsetCommit")),
    ),
    "it sends a heartbeat for no generation": ("wire_heartbeats_as_a_member", (*SETTLED, sent(3, "Heartbeat"))),
    "it does not join the rebalance": (
        "wire_rejoins_when_rebalancing",
        (
            *SETTLED, of_a(3, "Heartbeat", 1), got(3, "Heartbeat", "REBALANCE_IN_PROGRESS", 2),
            of_a(4, "Heartbeat", 9_000), got(4, "Heartbeat", "REBALANCE_IN_PROGRESS", 9_001),
            of_a(5, "Heartbeat", 16_000),
        ),
    ),
    "it closes without LeaveGroup": ("wire_leaves_on_close", (*SETTLED, e.MemberLeft(member="m0"))),
    "it unsubscribes without LeaveGroup": (
        "wire_leaves_on_close",
        (*SETTLED, e.MembershipLost(member="m0", generation=1, member_id="a", reason="unsubscribed")),
    ),
    "it joins for no cause": ("wire_no_needless_join", (*KNOWS_METADATA, AGAIN)),
    "it joins because a connection broke": (
        "wire_no_needless_join",
        (*KNOWS_METADATA, e.ConnectionBroken(member="m0"), AGAIN),
    ),
    "it commits a partition that it was not assigned": (
        "wire_commits_what_it_owns",
        (
            *SETTLED,
            e.OffsetCommitted(member="m0", generation=1, member_id="a", partition="t-1", offset=5, error="NONE"),
        ),
    ),
    "it loses what it owns, and is a member": (
        "membership_ends_for_a_reason",
        (*SETTLED, e.PartitionsLost(member="m0", generation=-1, partitions=("t-0",))),
    ),
}  # fmt: skip


def broken(history: History, events: tuple[Event, ...]) -> list[str]:
    return [found.invariant for found in judge(history(*events), JUDGED).counterexamples]


@pytest.mark.parametrize("case", HELD)
def test_a_member_that_does_right_is_not_accused(history: History, case: str) -> None:
    assert broken(history, HELD[case]) == []


@pytest.mark.parametrize("case", BROKEN)
def test_a_member_breaks_the_invariant_that_the_wire_breaks(history: History, case: str) -> None:
    invariant, events = BROKEN[case]
    assert broken(history, events) == [invariant]


def test_the_counterexample_shows_the_events_of_the_record(history: History) -> None:
    (found,) = judge(history(*BROKEN["it drops its id"][1]), JUDGED).counterexamples
    assert {type(event) for event in found.events} == {e.RequestAnswered, e.RequestSent}
