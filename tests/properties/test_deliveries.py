"""Until when a member that was answered that it is no member may give its application records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberCrashed,
    MemberStarted,
    RecordsDelivered,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
CLAIM: Final = "former_member_reads_nothing"


def sent(api: str, request: int, generation: int = 1) -> RequestSent:
    return RequestSent(member="m0", api=api, request=request, generation=-1 if api == "JoinGroup" else generation)


def answered(api: str, request: int, error: str | None = "NONE", generation: int = -1) -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=request, error=error, generation=generation)


def asks(api: str, error: str, request: int = 5) -> tuple[Event, Event]:
    return sent(api, request), answered(api, request, error)


FOUND: Final = CoordinatorFound(member="m0", node=1)
LOST: Final = CoordinatorLost(member="m0")
READS: Final = RecordsDelivered(member="m0", partitions=("t-0",))
JOIN: Final = (sent("JoinGroup", 0), answered("JoinGroup", 0, generation=1))
SYNC: Final = (sent("SyncGroup", 1), answered("SyncGroup", 1))
SETTLED: Final = (FOUND, *JOIN, *SYNC)
REFUSED: Final = asks("Heartbeat", "ILLEGAL_GENERATION")
JOINS_AGAIN: Final = (
    sent("JoinGroup", 6), answered("JoinGroup", 6, generation=2), sent("SyncGroup", 7, 2), answered("SyncGroup", 7)
)  # fmt: skip

HELD: Final[dict[str, tuple[Event, ...]]] = {
    "a member": (*SETTLED, READS, READS),
    "a poll that was under way": (*SETTLED, *REFUSED, READS),
    "it joined again": (*SETTLED, *REFUSED, *JOINS_AGAIN, READS, READS),
    "a rebalance": (*SETTLED, *asks("Heartbeat", "REBALANCE_IN_PROGRESS"), READS, READS),
    "a commit that was fenced": (*SETTLED, *asks("OffsetCommit", "FENCED_INSTANCE_ID"), READS, READS),
    "an answer to a request of an earlier generation": (
        *SETTLED, sent("Heartbeat", 5), *JOINS_AGAIN, answered("Heartbeat", 5, "ILLEGAL_GENERATION"), READS, READS
    ),
    "an answer that comes while it joins": (
        *SETTLED, sent("Heartbeat", 5), sent("JoinGroup", 6), answered("Heartbeat", 5, "UNKNOWN_MEMBER_ID"), READS,
        READS
    ),
    "another process": (
        *SETTLED, READS, *REFUSED, MemberCrashed(member="m0"), MemberStarted(member="m0"), READS, READS
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "a heartbeat of a wrong generation": (*SETTLED, *REFUSED, READS, READS),
    "a heartbeat of an unknown member": (*SETTLED, *asks("Heartbeat", "UNKNOWN_MEMBER_ID"), READS, READS),
    "a heartbeat that was fenced": (*SETTLED, *asks("Heartbeat", "FENCED_INSTANCE_ID"), READS, READS),
    "a commit of an unknown member": (*SETTLED, *asks("OffsetCommit", "UNKNOWN_MEMBER_ID"), READS, READS),
    "a SyncGroup of a wrong generation": (FOUND, *JOIN, *asks("SyncGroup", "ILLEGAL_GENERATION"), READS, READS),
    "it is about to join again": (*SETTLED, *REFUSED, sent("JoinGroup", 6), READS, READS),
    "its coordinator is found again": (*SETTLED, *REFUSED, LOST, READS, FOUND, READS, READS),
}

UNTESTED: Final[dict[str, tuple[Event, ...]]] = {
    "it knows no coordinator": (*SETTLED, *REFUSED, LOST, READS, READS),
    "it waits for a commit": (*SETTLED, sent("OffsetCommit", 4), *REFUSED, READS, READS),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_what_a_member_may_read_is_read(history: History, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([CLAIM])).verdict(CLAIM).outcome is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_a_former_member_reads_on(history: History, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([CLAIM])).verdict(CLAIM).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("events", UNTESTED.values(), ids=UNTESTED)
def test_a_member_that_cannot_join_again_may_read_on(history: History, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([CLAIM])).verdict(CLAIM).outcome is Outcome.UNTESTED
