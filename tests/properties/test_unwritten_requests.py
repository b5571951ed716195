"""Requests that are kept while a record of their group is being written: which histories break the claim about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    JoinGroupReplied,
    NodeChanged,
    RequestParked,
    RunStarted,
    StepStarted,
    SyncGroupReplied,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
REFUSED: Final = "COORDINATOR_NOT_AVAILABLE"
CLAIM: Final = "unwritten_requests_are_refused"
PUNCTUAL: Final = RunStarted(subject="simulator", punctual=True)
WRITTEN: Final = GroupMetadataWritten(incarnation=0, generation=1, members=())
APPENDED: Final = GroupMetadataAppended(incarnation=0, generation=1, members=(), offset=0)
JOIN: Final = RequestParked(incarnation=0, generation=1, api="JoinGroup", request=1, member_id="a", time_ms=100)
SYNC: Final = replace(JOIN, api="SyncGroup")
DEAD: Final = GroupStatusChanged(
    incarnation=0, generation=1, from_status="PreparingRebalance", to_status="Dead", time_ms=200
)
ENDED: Final = IncarnationEnded(incarnation=0, generation=1, time_ms=200)
BEHIND: Final = (PUNCTUAL, WRITTEN, JOIN)


def joined(at: int, error: str = REFUSED) -> JoinGroupReplied:
    return JoinGroupReplied(incarnation=0, generation=1, request=1, error=error, time_ms=at)


def beat(at: int, incarnation: int = 0) -> HeartbeatReplied:
    return HeartbeatReplied(incarnation=incarnation, generation=1, request=9, error="NONE", member_id="b", time_ms=at)


VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "nothing answers it in time": (*BEHIND, beat(5_101)),
    "it is answered too late": (*BEHIND, joined(5_101)),
    "a SyncGroup": (PUNCTUAL, WRITTEN, SYNC, beat(5_101)),
    "the group dies first": (*BEHIND, DEAD, replace(joined(200), error="NOT_COORDINATOR")),
    "the coordinator is deposed": (*BEHIND, replace(ENDED, deposed=True), beat(5_101)),
    "a node was paused, and its group dies first": (*BEHIND, NodeChanged(node=1, change="paused"), DEAD),
    "the log writes again": (
        PUNCTUAL, StepStarted(step="fail NOT_ENOUGH_REPLICAS"), StepStarted(step="fail"), WRITTEN, JOIN, beat(5_101),
    ),
}  # fmt: skip

SILENT: Final[dict[str, tuple[Event, ...]]] = {
    "it is refused in time": (*BEHIND, joined(5_100), beat(9_000), DEAD),
    "a SyncGroup is refused": (
        PUNCTUAL, WRITTEN, SYNC,
        SyncGroupReplied(incarnation=0, generation=1, request=1, error=REFUSED, time_ms=5_100), DEAD,
    ),
    "the record is written": (*BEHIND, APPENDED, beat(9_000), DEAD),
    "the record was written before": (PUNCTUAL, WRITTEN, APPENDED, JOIN, beat(9_000), DEAD),
    "the coordinator is gone": (*BEHIND, ENDED, beat(9_000)),
    "another request waits": (PUNCTUAL, WRITTEN, replace(JOIN, api="LeaveGroup"), beat(9_000)),
    "another coordinator": (*BEHIND, beat(9_000, incarnation=1)),
    "a node was paused": (*BEHIND, NodeChanged(node=1, change="paused"), beat(9_000)),
    "the log refuses at once": (PUNCTUAL, StepStarted(step="fail NOT_ENOUGH_REPLICAS"), WRITTEN, JOIN, beat(9_000)),
    "time is real": (WRITTEN, JOIN, beat(9_000), DEAD),
}  # fmt: skip


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_a_request_that_waits_on__is_seen(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_a_request_that_may_wait__breaks_nothing(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is not Outcome.VIOLATED
