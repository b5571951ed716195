"""Requests that are kept while a record of their group is being written: they are refused when it is not written."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    NodeChanged,
    OffsetCommitReplied,
    RequestParked,
    StepStarted,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold
from rebalance_check.properties.views.timeouts import WRITE_MS

KEPT: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP})
"""The requests that wait for other members, and for the log only while it is behind."""

LATER: Final[tuple[type[Event], ...]] = (
    GenerationStarted, HeartbeatReplied, LeaveGroupReplied, MemberAdded, MemberRemoved, OffsetCommitReplied,
)  # fmt: skip
"""With any of these a coordinator shows that it runs, and what time it is."""


class UnwrittenRequestsAreRefusedViolated(Violation):
    """A record of a group was not written, and a JoinGroup or SyncGroup behind it went on waiting."""


class _Refused(SimulatedFold):
    """Per incarnation: the record that is being written, and the requests that are kept since then, by their number.

    A log that refuses what is written does so at once: no request waits for it. After a fault of its node the history
    does not say how much of a request's time has run.
    """

    needs = ((GroupMetadataWritten,), (RequestParked,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(LATER, self.on_later),
            **dict.fromkeys((JoinGroupReplied, SyncGroupReplied), self.on_replied),
            GroupMetadataWritten: self.on_written,
            GroupMetadataAppended: self.on_appended,
            RequestParked: self.on_parked,
            GroupStatusChanged: self.on_status,
            IncarnationEnded: self.on_ended,
            NodeChanged: self.on_node,
            StepStarted: self.on_step,
        }
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset(handlers) - {GroupMetadataWritten, RequestParked}
        self.compared = 0
        self._written: Recent[int, GroupMetadataWritten] = Recent(GENERATIONS)
        self._kept: Recent[tuple[int, int], RequestParked] = Recent(WAITING)
        self._timed: Recent[int, RequestParked] = Recent(WAITING)
        self._refuses = False

    def on_written(self, event: GroupMetadataWritten) -> None:
        """From here on requests wait for the log, unless that refuses all that is written."""
        self.on_later(event)
        if self.run.is_simulated and not self._refuses and event.incarnation not in self._written:
            self._written[event.incarnation] = event

    def on_appended(self, event: GroupMetadataAppended) -> None:
        """The log is not behind any more."""
        self._forget(event.incarnation)

    def on_parked(self, event: RequestParked) -> None:
        """A request is kept."""
        self.on_later(event)
        if event.api in KEPT and event.incarnation in self._written:
            self._kept[event.incarnation, event.request] = self._timed[event.request] = event

    def on_replied(self, event: JoinGroupReplied | SyncGroupReplied) -> None:
        """It waits no more."""
        self.on_later(event)
        if self._kept.pop((event.incarnation, event.request), None) is not None:
            self.compared = (self.compared or 0) + 1

    def on_later(self, event: CoordinatorEvent) -> None:
        """Whatever waited for too long was answered before this."""
        for kept in self._kept_by(event.incarnation):
            late_ms = event.time_ms - kept.time_ms - WRITE_MS
            if late_ms > 0 and kept.request in self._timed:
                self._report(kept, event, f"its {WRITE_MS} ms had passed {late_ms} ms before")

    def on_status(self, event: GroupStatusChanged) -> None:
        """A coordinator that resigns fails what is not written before it lets its group die."""
        self.on_later(event)
        if event.to_status == GroupStatus.DEAD:
            for kept in self._kept_by(event.incarnation):
                self._report(kept, event, "the coordinator resigned, and let its group die first")

    def on_ended(self, event: IncarnationEnded) -> None:
        """A coordinator that is deposed and does not know it waits for the log; any other does nothing more."""
        if not event.deposed:
            self._forget(event.incarnation)

    def on_node(self, _event: NodeChanged) -> None:
        """A node that is paused is late with all that it does."""
        self._timed.clear()

    def on_step(self, event: StepStarted) -> None:
        """The log of a scenario refuses what is written, or does so no more."""
        verb, _, error = event.step.partition(" ")
        if verb == "fail":
            self._refuses = error not in {"", "NONE"}

    def _kept_by(self, incarnation: int) -> list[RequestParked]:
        return [kept for (of, _), kept in self._kept.items() if of == incarnation]

    def _forget(self, incarnation: int) -> None:
        self._written.pop(incarnation, None)
        for kept in self._kept_by(incarnation):
            del self._kept[incarnation, kept.request]

    def _report(self, kept: RequestParked, event: CoordinatorEvent, why: str) -> None:
        del self._kept[kept.incarnation, kept.request]
        self.compared = (self.compared or 0) + 1
        self.contradiction(
            f"the {kept.api} of {kept.member_id} waits behind a record that is not written, and is not refused",
            (f"a record of the group was handed to the log at {STEP}, and not appended since;",
             self._written.get(kept.incarnation)),
            (f"the {kept.api} of {kept.member_id} (request {kept.request}) is kept since {STEP};", kept),
            (f"it had no answer at {STEP}, and {why}: contradiction.", event),
        )  # fmt: skip


UnwrittenRequestsAreRefused: Final = Invariant(
    name="unwritten_requests_are_refused",
    family="persistence",
    claim="a JoinGroup or SyncGroup that comes while a record of its group is being written, and is kept, is answered "
    "when that takes longer than offsets.commit.timeout.ms, and before its group is Dead where the coordinator resigns",
    source="GroupCoordinatorService.joinGroup, syncGroup (scheduleWriteOperation); CoordinatorRuntime (writeTimeout, "
    "unload)",
    premises=(
        SIMULATED,
        "the history holds the coordinator's events, with the requests it keeps and the records it writes",
        f"the time limit of a write is {WRITE_MS // 1_000} s; a request during which a node was paused, killed or "
        "resumed is judged without it",
        "the coordinator is that of CoordinatorRuntime: a JoinGroup at the one in Scala waits for no record",
    ),
    exempted_by=(GroupMetadataAppended, IncarnationEnded, JoinGroupReplied, NodeChanged, StepStarted, SyncGroupReplied),
    violation=UnwrittenRequestsAreRefusedViolated,
    fold=_Refused,
)
"""Else a coordinator that can write nothing, as one that was deposed and does not know it, holds members back that
another would take.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    GroupMetadataWritten(incarnation=0, generation=1, members=())
    RequestParked(incarnation=0, generation=1, api="JoinGroup", request=1, member_id="a")
    HeartbeatReplied(incarnation=0, generation=1, request=2, error="NONE", member_id="b", time_ms=5001)
"""

CLAIMS: Final = (UnwrittenRequestsAreRefused,)
"""In the order in which reports name them."""
