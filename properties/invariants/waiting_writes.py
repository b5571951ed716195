"""Requests that wait for the log alone: they are answered when the write has ended, or has taken too long."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorElected,
    Event,
    IncarnationEnded,
    IncarnationStarted,
    LeaveGroupReplied,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    StepStarted,
)
from rebalance_check.properties.invariants.deadline_fold import DeadlineFold
from rebalance_check.properties.kinds import Handler, Invariant, Kind
from rebalance_check.properties.verdict import Violation
from rebalance_check.properties.views.timeouts import GRACE_MS, WRITE_MS

WAITS_FOR_A_WRITE: Final = frozenset({Api.LEAVE_GROUP, Api.OFFSET_COMMIT})


class WritesAreAnsweredViolated(Violation):
    """A LeaveGroup or OffsetCommit was kept, and not answered when its write must have ended."""


class _Answered(DeadlineFold):
    """The leaves and commits that are kept, by the number of the request."""

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestParked: self.on_parked,
            LeaveGroupReplied: self.on_replied,
            OffsetCommitReplied: self.on_replied,
            **dict.fromkeys((IncarnationStarted, IncarnationEnded, CoordinatorElected, NodeChanged), self.on_fault),
            StepStarted: self.on_step,
        }
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset(handlers) - {RequestParked}

    def on_parked(self, event: RequestParked) -> None:
        """It waits for the log."""
        if event.api in WAITS_FOR_A_WRITE:
            what = f"{event.api} {event.request} of {event.member_id or 'a member'} waits for the log"
            self.begin(event.request, what, event, lambda: GRACE_MS)

    def on_replied(self, event: ReplyEvent) -> None:
        """Its write has ended, or took too long."""
        self.end(event.request)

    def on_fault(self, _event: Event) -> None:
        """What a coordinator kept that ended, or was paused, is answered late or never."""
        self.end_all()


_PREMISE: Final = "the history holds the coordinator's events, with the requests it keeps and its answers"

WritesAreAnswered: Final = Invariant(
    name="writes_are_answered",
    family="liveness",
    claim="a LeaveGroup or OffsetCommit that waits for the log is answered when offsets.commit.timeout.ms has passed",
    source="CoordinatorRuntime (writeTimeout); GroupMetadataManager.classicGroupLeave; OffsetMetadataManager",
    premises=(
        _PREMISE,
        f"the time limit of a write is {WRITE_MS // 1_000} s, and as long again is left for a slow answer",
        "left out is what a coordinator kept that ended, was killed, paused or replaced",
        "a history that ends before a deadline is undecided",
    ),
    exempted_by=(CoordinatorElected, IncarnationEnded, IncarnationStarted, LeaveGroupReplied, NodeChanged,
                 OffsetCommitReplied),
    violation=WritesAreAnsweredViolated,
    fold=_Answered,
    kind=Kind.LIVENESS,
)  # fmt: skip
"""A leave and a commit are answered, whatever becomes of their write.

The smallest history that breaks it::

    MemberStarted(member="m0", rebalance_timeout_ms=60000, session_timeout_ms=10000)
    RequestParked(incarnation=0, generation=1, api="LeaveGroup", request=1, member_id="a")
    HeartbeatReplied(incarnation=0, generation=1, request=2, error="NONE", member_id="b", time_ms=20000)
"""


CLAIMS: Final = (WritesAreAnswered,)
"""In the order in which reports name them."""
