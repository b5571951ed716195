"""After an assignment that could not be written the group begins another rebalance."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    OffsetCommitReplied,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED, REFUSED_MEMBERS, IncarnationFold
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.simulated import SIMULATED, Run

OTHERWISE: Final = frozenset({ACCEPTED, "REBALANCE_IN_PROGRESS", *REFUSED_MEMBERS})
"""What a SyncGroup is answered that waits, where its write has not failed."""

NEXT: Final[tuple[type[Event], ...]] = (
    GenerationStarted, GroupMetadataWritten, HeartbeatReplied, JoinGroupReplied, LeaveGroupReplied, MemberAdded,
    MemberRemoved, OffsetCommitReplied,
)  # fmt: skip
"""With any of these a coordinator does the next thing."""


class UnwrittenAssignmentBeginsARebalanceViolated(Violation):
    """The assignment of a generation could not be written, and its group stayed in that generation."""


class _Unwritten(IncarnationFold):
    """Per incarnation: the SyncGroup with which its leader assigned, and the answer that says that its write failed."""

    run: Run
    needs = ((RequestParked,), (SyncGroupReplied,), (GroupStatusChanged,))
    bookkeeping = frozenset({IncarnationEnded})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(NEXT, self.on_next),
            RequestParked: self.on_parked,
            SyncGroupReplied: self.on_replied,
            GroupStatusChanged: self.on_status,
            IncarnationEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._assigns: Recent[int, RequestParked] = Recent(GENERATIONS)
        self._failed: Recent[int, SyncGroupReplied] = Recent(GENERATIONS)

    def share(self, memories: Memories) -> None:
        """It judges simulated runs alone."""
        super().share(memories)
        self.run = Run.among(memories)
        self.memories = (*self.memories, self.run)

    def on_parked(self, event: RequestParked) -> None:
        """The leader's SyncGroup waits for its write."""
        self.on_next(event)
        group = self.incarnations.current
        if event.api != Api.SYNC_GROUP or group is None or group.status != GroupStatus.COMPLETING_REBALANCE:
            return
        if group.started is not None and group.started.leader == event.member_id:
            self._assigns[event.incarnation] = event

    def on_replied(self, event: SyncGroupReplied) -> None:
        """Its write has failed, or took too long; all other SyncGroups that wait are answered with it."""
        assigns, group = self._assigns.get(event.incarnation), self.incarnations.current
        failed = self._failed.get(event.incarnation)
        if failed is not None and event.time_ms > failed.time_ms:
            self.on_next(event)
        if assigns is None or assigns.request != event.request or group is None:
            return
        del self._assigns[event.incarnation]
        is_open = group.status == GroupStatus.COMPLETING_REBALANCE and group.generation == assigns.generation
        if is_open and event.error not in OTHERWISE and self.run.is_simulated:
            self._failed[event.incarnation] = event

    def on_status(self, event: GroupStatusChanged) -> None:
        """Another rebalance begins, also where the coordinator resigns: what it has not written fails before."""
        failed = self._failed.pop(event.incarnation, None)
        if failed is None:
            return
        self.compared = (self.compared or 0) + 1
        if event.to_status != GroupStatus.PREPARING_REBALANCE:
            self._report(failed, event)

    def on_next(self, event: CoordinatorEvent) -> None:
        """No rebalance has begun before this."""
        failed = self._failed.pop(event.incarnation, None)
        if failed is not None:
            self.compared = (self.compared or 0) + 1
            self._report(failed, event)

    def on_ended(self, event: IncarnationEnded) -> None:
        """Its coordinator does nothing more."""
        self._assigns.pop(event.incarnation, None)
        self._failed.pop(event.incarnation, None)

    def _report(self, failed: SyncGroupReplied, event: CoordinatorEvent) -> None:
        group = self.incarnations.current
        self.contradiction(
            f"the assignment of generation {failed.generation} could not be written, and no rebalance begins",
            (f"{failed.member_id} leads generation {failed.generation}, which began at {STEP};",
             None if group is None else group.started),
            (f"its SyncGroup was answered {failed.error} at {STEP}: the assignment was not written;", failed),
            (f"yet the coordinator went on at {STEP} without another rebalance: contradiction.", event),
        )  # fmt: skip


UnwrittenAssignmentBeginsARebalance: Final = Invariant(
    name="unwritten_assignment_begins_a_rebalance",
    family="persistence",
    claim="a group whose leader's SyncGroup is answered that its assignment was not written begins another rebalance "
    "at once, also where its coordinator resigns and its writes fail with that",
    source="GroupMetadataManager.classicGroupSyncToClassicGroup (resetAndPropagateAssignmentWithError, "
    "maybePrepareRebalanceOrCompleteJoin); Scala: GroupCoordinator.doSyncGroup",
    premises=(SIMULATED, "the history holds the coordinator's events, with the requests it keeps"),
    exempted_by=(GroupStatusChanged, IncarnationEnded, RequestParked),
    violation=UnwrittenAssignmentBeginsARebalanceViolated,
    fold=_Unwritten,
)
"""No member has an assignment of that generation, and nothing asks the members that stay to join again.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    GroupStatusChanged(incarnation=0, generation=1, from_status="PreparingRebalance", to_status="CompletingRebalance")
    RequestParked(incarnation=0, generation=1, api="SyncGroup", request=2, member_id="a")
    SyncGroupReplied(incarnation=0, generation=1, request=2, error="COORDINATOR_NOT_AVAILABLE", member_id="a")
    HeartbeatReplied(incarnation=0, generation=1, request=3, error="NONE", member_id="a")
"""

CLAIMS: Final = (UnwrittenAssignmentBeginsARebalance,)
"""In the order in which reports name them."""
