"""What excuses a member for a JoinGroup, a revocation, a loss, or for giving its coordinator up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigReadEnded,
    ConnectAssignmentReceived,
    ConnectionBroken,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberLeft,
    MemberPaused,
    MemberStarted,
    MetadataReceived,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RebalanceEnforced,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
    WorkRevocationStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
JOIN, REVOKE, LOSE = "join_group_has_a_cause", "revocation_has_a_cause", "loss_has_a_cause"
COORDINATOR: Final = "coordinator_loss_has_a_cause"
POLL_MS, SESSION_MS = 30_000, 10_000


def sent(api: str, *owned: str, at_ms: int = 0, metadata: str = "x") -> RequestSent:
    metadata = metadata if api == "JoinGroup" else ""
    return RequestSent(member="m0", api=api, request=0, metadata=metadata, owned=owned, time_ms=at_ms)


def answered(api: str, error: str | None = "NONE", *assigned: str, leads: bool = False, at_ms: int = 0) -> Event:
    shown = (("a", ()),) if leads else ()
    return RequestAnswered(
        member="m0", api=api, request=0, error=error, assignment=assigned, members=shown, time_ms=at_ms
    )


def revoked(*partitions: str) -> PartitionsRevoked:
    return PartitionsRevoked(member="m0", generation=1, partitions=partitions)


def lost(*partitions: str, at_ms: int = 0) -> PartitionsLost:
    return PartitionsLost(member="m0", generation=-1, partitions=partitions, time_ms=at_ms)


def busy(polled_ms: int) -> ApplicationBusy:
    return ApplicationBusy(member="m0", polled_ms=polled_ms, busy_ms=40_000)


def failed(error: str) -> ConnectAssignmentReceived:
    return ConnectAssignmentReceived(
        member="m0", generation=1, protocol="default", leader="a", leader_url="", config_offset=1, error=error
    )


def gave_up(reason: str) -> WorkRevocationStarted:
    return WorkRevocationStarted(member="m0", generation=1, work=("c",), reason=reason)


RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(
    member="m0", protocol="eager", rebalance_timeout_ms=POLL_MS, session_timeout_ms=SESSION_MS
)
SETTLED: Final = (RUN, STARTED, sent("JoinGroup", "t-0"), answered("JoinGroup"), answered("SyncGroup", "NONE", "t-0"))
LEADING: Final = (
    RUN, STARTED, sent("JoinGroup", "t-0"), answered("JoinGroup", leads=True), answered("SyncGroup", "NONE", "t-0")
)  # fmt: skip
REBALANCING: Final = answered("Heartbeat", "REBALANCE_IN_PROGRESS")
REFUSED: Final = answered("OffsetCommit", "ILLEGAL_GENERATION")
MOVED: Final = answered("Heartbeat", "NOT_COORDINATOR")
METADATA: Final = MetadataReceived(member="m0", partitions=("t-0", "t-1"))
OTHER_TOPICS: Final = SubscriptionChanged(member="m0", topics=("u",))
FOUND: Final = (RUN, STARTED, CoordinatorFound(member="m0", node=1))
BROKEN: Final = ConnectionBroken(member="m0")
GIVEN_UP: Final = CoordinatorLost(member="m0")
AGAIN: Final = sent("JoinGroup", at_ms=POLL_MS)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "a rebalance": (JOIN, (*SETTLED, REBALANCING, AGAIN)),
    "a commit that was refused": (JOIN, (*SETTLED, REFUSED, AGAIN)),
    "other topics": (JOIN, (*SETTLED, OTHER_TOPICS, AGAIN)),
    "a leader's metadata": (JOIN, (*LEADING, METADATA, AGAIN)),
    "less than it claimed": (JOIN, (*SETTLED[:-1], answered("SyncGroup"), AGAIN)),
    "a rebalance that the user enforced": (JOIN, (*SETTLED, RebalanceEnforced(member="m0"), AGAIN)),
    "it left": (JOIN, (*SETTLED, sent("LeaveGroup"), AGAIN)),
    "configs that it could not read": (
        JOIN, (*SETTLED, ConfigReadEnded(member="m0", offset=4, outcome="timeout"), AGAIN)
    ),
    "it did not poll": (JOIN, (*SETTLED, busy(0), AGAIN)),
    "it was paused": (JOIN, (*SETTLED, MemberPaused(member="m0"), AGAIN)),
    "a herder that asks for it": (JOIN, (*SETTLED, RejoinRequested(member="m0", reason="why"), AGAIN)),
    "a round that failed": (JOIN, (*SETTLED, failed("CONFIG_MISMATCH"), AGAIN)),
    "work given up for want of a coordinator": (JOIN, (*SETTLED, gave_up("coordinator unknown"), AGAIN)),
    "revoked for a rebalance": (REVOKE, (*SETTLED, REBALANCING, revoked("t-0"), AGAIN)),
    "revoked as the assignment has it": (
        REVOKE, (*SETTLED[:-1], answered("SyncGroup"), revoked("t-0"), PartitionsAssigned(
            member="m0", generation=1, partitions=()))
    ),
    "revoked topics that it stopped to want while it joined": (
        REVOKE, (*SETTLED[:2], sent("JoinGroup", "t-0", "t-1"), OTHER_TOPICS, answered("SyncGroup", "NONE", "t-0"),
                 revoked("t-0", "t-1"), AGAIN)
    ),
    "revoked by who leaves": (REVOKE, (*SETTLED, revoked("t-0"), sent("LeaveGroup"))),
    "revoked by who closes": (REVOKE, (*SETTLED, revoked("t-0"), MemberLeft(member="m0"))),
    "lost with the generation": (LOSE, (*SETTLED, REFUSED, lost("t-0"), AGAIN)),
    "lost by who did not poll": (LOSE, (*SETTLED, busy(0), lost("t-0", at_ms=POLL_MS), AGAIN)),
    "lost by who leaves while it joins": (
        LOSE, (*SETTLED, REBALANCING, sent("JoinGroup", "t-0"), lost("t-0"), sent("LeaveGroup"))
    ),
    "another node coordinates": (COORDINATOR, (*FOUND, MOVED, GIVEN_UP)),
    "the connection broke": (COORDINATOR, (*FOUND, BROKEN, GIVEN_UP)),
    "silent for a session": (
        COORDINATOR, (*FOUND, answered("Heartbeat", at_ms=5), CoordinatorLost(member="m0", time_ms=5 + SESSION_MS))
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "nothing": (JOIN, (*SETTLED, AGAIN)),
    "a coordinator that moved": (JOIN, (*SETTLED, MOVED, AGAIN)),
    "a heartbeat without an answer": (JOIN, (*SETTLED, answered("Heartbeat", None), AGAIN)),
    "a follower's metadata": (JOIN, (*SETTLED, METADATA, AGAIN)),
    "a poll in time": (JOIN, (*SETTLED, busy(1), AGAIN)),
    "a round that did not fail": (JOIN, (*SETTLED, failed("NONE"), AGAIN)),
    "work given up in a rebalance": (JOIN, (*SETTLED, gave_up("joining"), AGAIN)),
    "a cause that the JoinGroup before answered": (
        JOIN, (*SETTLED, REBALANCING, sent("JoinGroup"), answered("SyncGroup"), AGAIN)
    ),
    "revoked and goes on": (REVOKE, (*SETTLED, revoked("t-0"), sent("Heartbeat"))),
    "revoked what it was assigned again": (
        REVOKE, (*SETTLED[:2], sent("JoinGroup", "t-0", "t-1"), answered("SyncGroup", "NONE", "t-0"),
                 revoked("t-0", "t-1"), PartitionsAssigned(member="m0", generation=1, partitions=()))
    ),
    "lost in a rebalance": (LOSE, (*SETTLED, REBALANCING, lost("t-0"), AGAIN)),
    "lost while it joins": (LOSE, (*SETTLED, REBALANCING, sent("JoinGroup", "t-0"), lost("t-0"), AGAIN)),
    "lost by a settled member that leaves": (LOSE, (*SETTLED, lost("t-0"), sent("LeaveGroup"))),
    "it answers": (COORDINATOR, (*FOUND, REBALANCING, GIVEN_UP)),
    "it was found anew since": (
        COORDINATOR, (*FOUND, BROKEN, GIVEN_UP, CoordinatorFound(member="m0", node=1), GIVEN_UP)
    ),
    "silent for less than a session": (
        COORDINATOR, (*FOUND, answered("Heartbeat", at_ms=5), CoordinatorLost(member="m0", time_ms=4 + SESSION_MS))
    ),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_has_a_cause_is_excused(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_has_no_cause_is_not(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_in_real_time_nothing_is_claimed(history: History, claim: str, events: tuple[Event, ...]) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
